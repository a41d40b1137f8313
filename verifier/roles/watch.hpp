// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/integers.hpp>
#include <contracts/state/task.hpp>
#include <verifier/roles/finding.hpp>
#include <verifier/roles/intent.hpp>

namespace assay::roles {

/// What somebody other than its verifier knows of one verdict.
struct VerdictView {
    AccountId self;
    contracts::Task task;
    contracts::Assignment assignment;
    Replays replays;                ///< ours, of the segment up to the assignment's probe
    bool is_duty = false;           ///< is_watchers_duty(): worth a replay of its own
    Height height;                  ///< of the chain
    std::uint64_t challenge_span = 0;
    bool has_challenged = false;    ///< we have challenged this result
    Amount free_stake;              ///< in the role that challenges; the task's solver needs none (DSP-46)
    Amount challenger_bond;
    bool is_breaker_open = false;
};

/// Who watches, as far as joining them is concerned.
struct Registry {
    std::uint32_t others = 0;         ///< whistleblowers in the chain's registry, ourselves not counted
    std::uint32_t others_max = 0;     ///< more than so many, and there is no need of us
    std::uint64_t checks = 0;         ///< verdicts that we have checked
    std::uint64_t payout_checks = 0;  ///< after so many we have had our part
    bool is_member = false;           ///< we are in the registry
};
enum class Membership : std::uint8_t { kJoin = 1, kStay = 2, kLeave = 3, kStayOut = 4 };

/// Whether a verdict is worth a replay for its own sake: the task is ours, we are drawn to watch it, or as whistleblower
/// where nobody is: a segment of one step has no probe, and draws no watcher (VER-12).
bool is_watchers_duty(
    const contracts::Task& task, const contracts::Assignment& assignment, const AccountId& self, contracts::Role role
) noexcept;

/// Whether somebody has to look at the probe root that was published: with the first answer that differs it replays
/// again, and challenges when two replays agree that it is wrong. A forced error looks like any other; its true result
/// is judged by the same replays. Who was not drawn leaves the first half of the window to the watchers, and saves
/// itself a challenge that nobody pays for where they find the same.
Intent decide_verdict_watch(const VerdictView& view);

/// Whether to have a whistleblower's bond on the chain: joins while few others watch, leaves once it has checked as many
/// verdicts as its payout threshold says, and does not come back.
Membership decide_membership(const Registry& registry) noexcept;

}  // namespace assay::roles
