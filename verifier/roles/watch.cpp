// SPDX-License-Identifier: Apache-2.0
#include <verifier/roles/watch.hpp>

#include <algorithm>
#include <set>

#include <contracts/verification/lottery.hpp>
#include <contracts/verification/verification.hpp>

namespace assay::roles {
namespace {

using contracts::TaskState;

/// What DSP-41 lets be challenged, and DSP-39 now.
bool is_open_to_challenge(const VerdictView& view) {
    const contracts::Task& task = view.task;
    const bool in_window =
        task.state == TaskState::kVerifying || (task.state == TaskState::kChallenge && task.deadline.value != 0);
    // VER-15: the true result that took a forced one's place has a window of its own.
    const bool is_early = view.assignment.forced == true && !task.second_window;
    return in_window && !is_early && contracts::is_published(view.assignment) &&
           !contracts::is_released(view.assignment) && view.assignment.probe_root.has_value() &&
           view.assignment.verifier != view.self;
}

/// Whether watchers may still be at it, who are paid for a challenge where nobody else is.
bool is_left_to_watchers(const VerdictView& view) {
    const contracts::Assignment& assignment = view.assignment;
    if (assignment.watchers.empty() || contracts::is_watcher(assignment, view.self) ||
        !contracts::is_secret(assignment)) {
        return false;
    }
    const bool is_second_half = view.task.state == TaskState::kChallenge &&
                                view.task.deadline.value <= view.height.value + view.challenge_span / 2;
    return !is_second_half;
}

}  // namespace

bool is_watchers_duty(
    const contracts::Task& task, const contracts::Assignment& assignment, const AccountId& self, contracts::Role role
) noexcept {
    switch (role) {
        case contracts::Role::kSolver:
            return task.solver == self;
        case contracts::Role::kWhistleblower:
            return assignment.watchers.empty() || contracts::is_watcher(assignment, self);
        default:
            return false;
    }
}

std::vector<contracts::Assignment> in_order_of_harm(const contracts::Params& params, const contracts::Task& task) {
    const std::set<std::uint32_t> convicting = contracts::convicting_segments(params, task);
    std::vector<contracts::Assignment> out = task.assignments;
    std::stable_partition(out.begin(), out.end(), [&](const contracts::Assignment& assignment) {
        return convicting.contains(assignment.segment);
    });
    return out;
}

Intent decide_verdict_watch(const VerdictView& view) {
    if (!is_open_to_challenge(view)) {
        return Wait::kNothingDue;
    }
    if (view.is_breaker_open) {
        return Wait::kBreaker;
    }
    if (view.has_challenged) {
        return Wait::kOtherParty;
    }
    const contracts::Assignment& assignment = view.assignment;
    const intent::ReplayProbe replay{view.task.id, assignment.segment, assignment.probe};
    switch (finding_of(view.replays, *assignment.probe_root)) {
        case Finding::kReject:
            if (view.free_stake < view.challenger_bond && view.task.solver != view.self) {
                return Wait::kNoStake;  // DSP-46: a solver answers with its task's bond, or what is left of it
            }
            if (is_left_to_watchers(view)) {
                return Wait::kOtherParty;
            }
            return intent::ChallengeVerdict{
                view.task.id, assignment.segment, assignment.verifier, view.replays.first.value()};
        case Finding::kDoubt:
            return replay;
        case Finding::kUnknown:
        case Finding::kMissing:
            return view.is_duty ? Intent{replay} : Intent{Wait::kNothingDue};
        case Finding::kUnable:
            return Wait::kUnable;
        case Finding::kAccept:
            return Wait::kNothingDue;
    }
    return Wait::kNothingDue;
}

Membership decide_membership(const Registry& registry) noexcept {
    const bool had_its_part = registry.checks >= registry.payout_checks;
    if (registry.is_member) {
        return had_its_part ? Membership::kLeave : Membership::kStay;
    }
    return !had_its_part && registry.others <= registry.others_max ? Membership::kJoin : Membership::kStayOut;
}

}  // namespace assay::roles
