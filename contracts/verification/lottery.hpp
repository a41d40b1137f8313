// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <contracts/state/task.hpp>

/// Which verdicts are forced to be wrong: known to their verifiers alone until they disclose. And who watches them.
namespace assay::contracts {

/// VER-9: into how many parts a segment is divided for its marks.
inline constexpr std::uint32_t kMarkedParts = 8;
/// One in each part, and the one before the last step.
inline constexpr std::size_t kMaxMarks = kMarkedParts + 1;

/// VER-9: the numbers of the segment's steps at which the assignment's verdict commits to states, ascending; none of a
/// segment of one step.
std::vector<std::uint32_t> marks_of(const Task& task, const Assignment& assignment);

/// VER-11: whether the verdict that `opening` commits to is forced: it has marks, and "assay/forced" over
/// lottery, salt, task, segment (u32) and verifier, reduced to 0 .. 9,999, is below `forced_error_bps`.
bool is_forced(
    const Task& task, const Assignment& assignment, const VerdictOpening& opening, std::uint32_t forced_error_bps
) noexcept;

/// VER-11: what of `opening` is to be published, once the lottery has drawn the assignment's probe.
Verdict published_verdict(
    const Task& task, const Assignment& assignment, const VerdictOpening& opening, bool forced
);

/// VER-12: whether `account` was drawn to watch the verdict.
bool is_watcher(const Assignment& assignment, const AccountId& account) noexcept;

}  // namespace assay::contracts
