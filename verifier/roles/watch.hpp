// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/integers.hpp>
#include <contracts/state/params.hpp>
#include <contracts/state/task.hpp>
#include <verifier/roles/finding.hpp>
#include <verifier/roles/intent.hpp>

namespace assay::roles {

/// What an account other than its verifier knows about a verdict.
struct VerdictView {
    AccountId self;
    contracts::Task task;
    contracts::Assignment assignment;
    Replays replays;       ///< our replays of the segment up to the assignment's probe
    bool is_duty = false;  ///< is_watchers_duty(): worth a replay for its own sake
    Height height;         ///< current block height
    std::uint64_t challenge_span = 0;
    bool has_challenged = false;  ///< we have challenged this verdict already
    Amount free_stake;            ///< in the challenging role; the task's solver needs none (DSP-46)
    Amount challenger_bond;
    bool is_breaker_open = false;
};

/// The whistleblower registry, as far as the decision to join needs it.
struct Registry {
    std::uint32_t others = 0;         ///< whistleblowers in the registry, not counting us
    std::uint32_t others_max = 0;     ///< join only while there are at most this many others
    std::uint64_t checks = 0;         ///< verdicts that we have checked
    std::uint64_t payout_checks = 0;  ///< leave after this many checks
    bool is_member = false;           ///< we are in the registry
};
enum class Membership : std::uint8_t { kJoin = 1, kStay = 2, kLeave = 3, kStayOut = 4 };

/// Whether we replay a verdict's segment for its own sake: as the task's solver, as a drawn watcher, or as a
/// whistleblower if no watcher is drawn (a segment of one step has no probe and draws none, VER-12).
bool is_watchers_duty(
    const contracts::Task& task, const contracts::Assignment& assignment, const AccountId& self, contracts::Role role
) noexcept;

/// The task's assignments, those of segments first by which its solver would be convicted if nobody challenged them
/// (VER-19, VER-21): the window of challenges is for their replays.
std::vector<contracts::Assignment> in_order_of_harm(const contracts::Params& params, const contracts::Task& task);

/// Decides about a published probe root: replays again if the first result differs, and challenges if two replays agree
/// that it is wrong. Forced errors look the same, and their true results are judged by the same replays. Accounts that
/// are not drawn watchers wait for the second half of the window, since a challenge that a watcher also makes pays them
/// nothing.
Intent decide_verdict_watch(const VerdictView& view);

/// Decides about the whistleblower's own bond: join while few others watch, leave after payout_checks checks, and do
/// not rejoin.
Membership decide_membership(const Registry& registry) noexcept;

}  // namespace assay::roles
