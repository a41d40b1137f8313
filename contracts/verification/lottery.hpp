// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <contracts/tasks/task.hpp>

/// Which verdicts are forced to be wrong: known to their verifiers alone until they disclose. And who watches them.
namespace assay::contracts {

/// VER-11: whether the verdict that `opening` commits to is forced: it has a probe root, and "assay/forced" over
/// lottery, salt, task, segment (u32) and verifier, reduced to 0 .. 9,999, is below `forced_error_bps`.
bool is_forced(
    const Task& task, const Assignment& assignment, const VerdictOpening& opening, std::uint32_t forced_error_bps
) noexcept;

/// VER-11: what of `opening` is to be published.
Verdict published_verdict(const VerdictOpening& opening, bool forced) noexcept;

/// VER-12: whether `account` was drawn to watch the verdict.
bool is_watcher(const Assignment& assignment, const AccountId& account) noexcept;

}  // namespace assay::contracts
