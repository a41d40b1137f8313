// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <contracts/state/task.hpp>

/// Forced errors: verdicts that must be published wrong, which only their verifiers know until disclosure. And the
/// watchers who check verdicts.
namespace assay::contracts {

/// VER-9: number of parts into which a segment is divided for its marks.
inline constexpr std::uint32_t kMarkedParts = 8;
/// One mark in each part, and one before the last step.
inline constexpr std::size_t kMaxMarks = kMarkedParts + 1;

/// VER-9: the step counts within the segment at which the assignment's verdict commits to state roots, ascending. Empty
/// for a segment with a single step.
std::vector<std::uint32_t> marks_of(const Task& task, const Assignment& assignment);

/// VER-11: whether the verdict that `opening` commits to is a forced error: it has marks, and "assay/forced" over
/// lottery, salt, task, segment (u32) and verifier, reduced to 0 .. 9,999, is below `forced_error_bps`.
bool is_forced(
    const Task& task, const Assignment& assignment, const VerdictOpening& opening, std::uint32_t forced_error_bps
) noexcept;

/// VER-11: the verdict that must be published for `opening`, after the lottery drew the assignment's probe.
Verdict published_verdict(const Task& task, const Assignment& assignment, const VerdictOpening& opening, bool forced);

/// VER-12: whether `account` is one of the verdict's watchers.
bool is_watcher(const Assignment& assignment, const AccountId& account) noexcept;

}  // namespace assay::contracts
