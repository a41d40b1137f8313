// SPDX-License-Identifier: Apache-2.0
#include <contracts/arbitration/ending.hpp>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/chain/slots.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/profiling/profiling.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/tasks/lifecycle.hpp>
#include <contracts/verification/verification.hpp>

namespace assay::contracts {
namespace {

void close_dispute(Context& context, Dispute& dispute, DisputeState state, std::optional<Reason> reason) {
    dispute.state = state;
    dispute.reason = reason;
    dispute.ended_at = context.height();
    set_dispute_deadline(context, dispute, Height{});
}

void return_bond(Context& context, Dispute& dispute) {
    unlock_stake(context, dispute.challenger_role, dispute.challenger, dispute.challenger_bond);
    dispute.challenger_bond = {};
}

void forget_dispute(Context& context, Task& task, const DisputeId& id) {
    --task.open_disputes;
    Docket docket = get_docket(context.state, task.id);
    std::erase(docket.disputes, id);
    set_docket(context.state, task.id, docket);
}

void note_outcome(Dispute& dispute, const PenaltyOutcome& outcome) {
    dispute.slashed = outcome.slashed;
    dispute.paid = outcome.paid;
    dispute.burned = outcome.burned;
}

Assignment& disputed_assignment(Task& task, const Dispute& dispute) {
    return task.assignments[find_assignment(task, dispute.segment, dispute.responder).value()];
}

/// PRF-5: the report is dropped, its bond lost to the challenger; other disputes over it are moot.
void refute_profile(Context& context, Task& task, Dispute won, Reason reason) {
    close_dispute(context, won, DisputeState::kRefuted, reason);
    return_bond(context, won);
    forget_dispute(context, task, won.id);
    record(context, task, history::DisputeEnded{won.id, true, reason});
    note_outcome(won, drop_profile(context, task, won.responder, reason, won.challenger));
    set_dispute(context.state, won);
    for (const DisputeId& id : get_docket(context.state, task.id).disputes) {
        if (find_dispute(context.state, id).value().responder == won.responder) {
            end_dispute_as_moot(context, task, id);
            forget_dispute(context, task, id);
        }
    }
    resume_deadline(context, task, false);
    set_task(context.state, task);
}

}  // namespace

void set_dispute_deadline(Context& context, Dispute& dispute, Height deadline) {
    const Due due{DueKind::kDispute, retag<Hash256>(dispute.id)};
    set_deadline(context.state, due, dispute.deadline, deadline);
}

void refute_verdict(Context& context, Task& task, Assignment& assignment, Refutation refutation) {
    // DSP-43
    auto& won = refutation.dispute;
    Penalty penalty{
        .role = Role::kVerifier,
        .from = assignment.verifier,
        .amount = assignment.bond,
        .reason = refutation.reason,
        .winner = std::nullopt};
    if (won) {
        close_dispute(context, *won, DisputeState::kRefuted, refutation.reason);
        return_bond(context, *won);
        forget_dispute(context, task, won->id);
        record(context, task, history::DisputeEnded{won->id, true, refutation.reason});
        penalty.winner = won->challenger;
    }
    assignment.bond = {};
    assignment.status = refutation.status;
    const PenaltyOutcome outcome = slash(context, task, penalty);
    if (won) {
        note_outcome(*won, outcome);
        set_dispute(context.state, *won);
    }
    for (const Dispute& other : disputes_of(context.state, task.id, assignment)) {
        end_dispute_as_moot(context, task, other.id);
        forget_dispute(context, task, other.id);
    }
    resume_deadline(context, task, false);
}

void begin_game(Context& context, Dispute dispute) {
    // DSP-42
    dispute.state = DisputeState::kActive;
    dispute.last_move_at = context.height();
    set_dispute_deadline(context, dispute, context.height_after(dispute.responder_clock));
    set_dispute(context.state, dispute);
}

void end_dispute_as_forced(Context& context, Task& task, Dispute dispute) {
    // DSP-42
    close_dispute(context, dispute, DisputeState::kForced, Reason::kForcedError);
    return_bond(context, dispute);
    set_dispute(context.state, dispute);
    forget_dispute(context, task, dispute.id);
    record(context, task, history::DisputeEnded{dispute.id, true, Reason::kForcedError});
}

void refute_claim(Context& context, Task& task, Dispute dispute, Reason reason) {
    if (dispute.verdict) {
        Assignment& assignment = disputed_assignment(task, dispute);
        refute_verdict(context, task, assignment, {VerdictStatus::kRefuted, reason, std::move(dispute)});
        set_task(context.state, task);
        return;
    }
    if (dispute.profile) {
        refute_profile(context, task, std::move(dispute), reason);
        return;
    }
    close_dispute(context, dispute, DisputeState::kRefuted, reason);
    return_bond(context, dispute);
    set_dispute(context.state, dispute);
    forget_dispute(context, task, dispute.id);
    record(context, task, history::DisputeEnded{dispute.id, true, reason});
    const Conviction conviction{.reason = reason, .winner = dispute.challenger, .segment = dispute.segment};
    note_outcome(dispute, convict(context, task, conviction));
    set_dispute(context.state, dispute);
}

void uphold_claim(Context& context, Task& task, Dispute dispute, Reason reason) {
    close_dispute(context, dispute, DisputeState::kUpheld, reason);
    forget_dispute(context, task, dispute.id);
    record(context, task, history::DisputeEnded{dispute.id, false, reason});
    Penalty penalty{
        .role = dispute.challenger_role,
        .from = dispute.challenger,
        .amount = dispute.challenger_bond,
        .reason = reason,
        .winner = dispute.responder};
    dispute.challenger_bond = {};
    if (answers_on_task(task, dispute)) {
        // DSP-46: it was covered when each of the disputes was opened.
        penalty.amount = challenger_bond(context.params, task_value(task.spec));
        task.solver_bond = subtract(task.solver_bond, penalty.amount);
    }
    note_outcome(dispute, slash(context, task, penalty));
    set_dispute(context.state, dispute);
    resume_deadline(context, task, false);
    set_task(context.state, task);
}

void lapse_dispute(Context& context, Dispute dispute) {
    // DSP-32
    Task task = find_task(context.state, dispute.task).value();
    if (dispute.state == DisputeState::kAwaiting) {
        refute_claim(context, task, std::move(dispute), Reason::kUndisclosed);  // DSP-42
    } else if (is_responders_turn(dispute)) {
        refute_claim(context, task, std::move(dispute), Reason::kDisputeTimeout);
    } else {
        uphold_claim(context, task, std::move(dispute), Reason::kDisputeTimeout);
    }
}

void end_dispute_as_moot(Context& context, Task& task, const DisputeId& id) {
    // DSP-40
    Dispute dispute = find_dispute(context.state, id).value();
    close_dispute(context, dispute, DisputeState::kMoot, std::nullopt);
    return_bond(context, dispute);
    set_dispute(context.state, dispute);
    record(context, task, history::DisputeEnded{id, false, Reason::kMoot});
}

}  // namespace assay::contracts
