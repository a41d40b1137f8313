// SPDX-License-Identifier: Apache-2.0
#include <verifier/roles/solver.hpp>

#include <contracts/state/members.hpp>

namespace assay::roles {
namespace {

using contracts::TaskState;

bool has_accepted_enough(std::uint32_t accepted, std::uint32_t most) { return most != 0 && accepted >= most; }

Intent decide_acceptance(const SolverView& view) {
    const bool has_enough = has_accepted_enough(view.accepted_tasks, view.tasks_max);
    // TASK-6: what the draw has locked is part of the bond.
    const Amount backing{view.free_stake.grains + view.task.solver_bond.grains};
    if (view.is_breaker_open || view.is_unusable || view.is_elsewhere || has_enough || backing < view.solver_bond) {
        return intent::Decline{view.task.id};
    }
    if (view.awaits_keys) {
        return Wait::kOtherParty;
    }
    return intent::Accept{view.task.id};
}

Intent decide_training(const SolverView& view) {
    const std::uint32_t checkpoints = contracts::segment_count(view.task.spec) + 1;
    // EVL-4: a final state that is lost has to be made again before it can be scored.
    const bool has_final_state = !view.task.spec.evaluation || view.stored_checkpoints >= checkpoints;
    if (view.task.checkpoints == checkpoints && has_final_state) {
        return intent::Complete{view.task.id};
    }
    const bool can_train = !view.is_stopped && view.stored_checkpoints < checkpoints;
    if (view.task.checkpoints < view.stored_checkpoints && !(view.is_publishing && can_train)) {
        return intent::PostCheckpoint{view.task.id, view.task.checkpoints};
    }
    if (view.is_stopped) {
        return Wait::kUnable;
    }
    return intent::Train{view.task.id, view.stored_checkpoints};
}

/// GRP-4: members post in turn. What others posted is fetched; the lead takes over the turn of who is late, since the
/// deadline is its own (GRP-6).
Intent decide_group(const SolverView& view) {
    const std::uint32_t stored = view.stored_checkpoints;
    const std::uint32_t posted = view.task.checkpoints;
    const std::uint32_t all = contracts::segment_count(view.task.spec) + 1;
    const bool is_lead = view.task.solver == view.self;
    const bool may_post = contracts::owner_of(view.task, posted) == view.self || (is_lead && view.is_turn_over);
    if (stored < posted) {
        if (view.is_stopped) {
            return Wait::kUnable;
        }
        if (contracts::responder_of(view.task, stored) == view.self) {
            return intent::Train{view.task.id, stored};  // lost on our disk
        }
        return intent::FetchCheckpoint{view.task.id, stored};
    }
    if (posted == all) {
        return is_lead ? Intent(intent::Complete{view.task.id}) : Wait::kNothingDue;
    }
    if (may_post && stored > posted) {
        return intent::PostCheckpoint{view.task.id, posted};
    }
    if (view.is_stopped) {
        return Wait::kUnable;
    }
    if (may_post) {
        return intent::Train{view.task.id, posted};
    }
    if (view.segment_ahead) {
        return intent::TrainAhead{view.task.id, *view.segment_ahead};
    }
    return Wait::kOtherParty;
}

}  // namespace

const char* to_string(Wait wait) noexcept {
    switch (wait) {
        case Wait::kNothingDue:
            return "nothing is due";
        case Wait::kOtherParty:
            return "another party is to move";
        case Wait::kBreaker:
            return "the circuit breaker is open after a lost bond";
        case Wait::kNoStake:
            return "there is not enough free stake for the bond";
        case Wait::kUnable:
            return "no result could be computed";
        case Wait::kArtifact:
            return "an artifact could not be had";
        case Wait::kTooLate:
            return "the window has closed";
    }
    return "";
}

Intent decide_solver(const SolverView& view) {
    if (!contracts::is_member(view.task, view.self)) {
        return Wait::kNothingDue;
    }
    switch (view.task.state) {
        case TaskState::kDrawn:
            return decide_acceptance(view);
        case TaskState::kTraining:
            return view.task.group ? decide_group(view) : decide_training(view);
        default:
            return Wait::kNothingDue;
    }
}

bool registers_again(const ListingView& view) {
    const bool is_asked_for = view.is_unlisted || view.offers_another;
    return is_asked_for && !view.is_breaker_open && !has_accepted_enough(view.accepted_tasks, view.tasks_max);
}

}  // namespace assay::roles
