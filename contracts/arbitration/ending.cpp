// SPDX-License-Identifier: Apache-2.0
#include <contracts/arbitration/ending.hpp>

#include <algorithm>
#include <tuple>
#include <vector>

#include <contracts/arbitration/accusation_ending.hpp>
#include <contracts/arbitration/arbitration.hpp>
#include <contracts/params/work.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/lifecycle/lifecycle.hpp>

namespace assay::contracts {
namespace {

Assignment& disputed_assignment(Task& task, const Dispute& dispute) {
    return task.assignments[find_assignment(task, dispute.segment, dispute.responder).value()];
}

/// Whether two disputes are over claims of one kind by one responder, any of which is lost with the other.
bool fall_together(const Dispute& one, const Dispute& other) {
    if (one.responder != other.responder || one.subject.index() != other.subject.index()) {
        return false;
    }
    return !one.verdict() || one.segment == other.segment;
}

bool is_same_subject(const Dispute& one, const Dispute& other) {
    const auto equal = [](const auto* a, const auto* b) { return a && b ? *a == *b : a == b; };
    return one.segment == other.segment && equal(one.verdict(), other.verdict()) &&
           equal(one.profile(), other.profile());
}

/// SET-10, DSP-43: who accused the claim that `won` refutes, the earliest first: those who dispute that claim, then
/// those who dispute others that fall with it. The bookkeeping has disputes in the order in which they were opened; of
/// one block, the segment's verifiers precede, since they committed before anybody could see what they found.
std::vector<AccountId> accusers_of(const StateView& view, const Task& task, const Dispute& won) {
    std::vector<Dispute> disputes;
    for (const NotedDispute& open : get_bookkeeping(view, task.id).disputes) {
        if (open.responder != won.responder) {
            continue;
        }
        Dispute dispute = find_dispute(view, open.id).value();
        if (fall_together(won, dispute)) {
            disputes.push_back(std::move(dispute));
        }
    }
    const auto precedence = [&](const Dispute& dispute) {
        const bool committed = dispute.challenger_role == Role::kVerifier &&
                               find_assignment(task, dispute.segment, dispute.challenger).has_value();
        return std::tuple(!is_same_subject(won, dispute), dispute.opened_at, !committed);
    };
    std::stable_sort(disputes.begin(), disputes.end(), [&](const Dispute& one, const Dispute& other) {
        return precedence(one) < precedence(other);
    });
    std::vector<AccountId> accusers;
    for (const Dispute& dispute : disputes) {
        if (std::find(accusers.begin(), accusers.end(), dispute.challenger) == accusers.end()) {
            accusers.push_back(dispute.challenger);
        }
    }
    return accusers;
}

/// PRF-5: the report of `profiler` was refuted. The caller stores the task.
PenaltyOutcome drop_profile(
    Context& context, Task& task, const AccountId& profiler, Reason reason, const AccountId& winner
) {
    // PRF-5
    Profile& profile = profile_of(task, profiler);
    const Penalty penalty{
        .role = Role::kVerifier, .from = profiler, .amount = profile.bond, .reason = reason, .winners = {winner}};
    profile.bond = {};
    profile.status = ProfileStatus::kRefuted;
    return slash(context, task, penalty);
}

/// PRF-5: the report is dropped, its bond lost to who challenged it first; other disputes over it are moot.
void refute_profile(Context& context, Task& task, Dispute won, Reason reason) {
    const AccountId winner = accusers_of(context.state, task, won).front();
    close_dispute(context, won, DisputeOutcome::kRefuted, reason);
    return_bond(context, won);
    forget_dispute(context, task, won.id);
    record(context, task, history::DisputeEnded{won.id, true, reason});
    note_outcome(won, drop_profile(context, task, won.responder, reason, winner));
    set_dispute(context.state, won);
    for (const NotedDispute& open : get_bookkeeping(context.state, task.id).disputes) {
        if (open.responder == won.responder) {
            end_dispute_as_moot(context, task, open.id);
            forget_dispute(context, task, open.id);
        }
    }
    resume_deadline(context, task);
    set_task(context.state, task);
}

/// SET-2: the solver's claim was wrong, for which `conviction` says whose fault it was.
void refute_solver(Context& context, Task& task, Dispute dispute, Conviction conviction) {
    conviction.winners = accusers_of(context.state, task, dispute);
    conviction.segment = dispute.segment;
    close_dispute(context, dispute, DisputeOutcome::kRefuted, conviction.reason);
    return_bond(context, dispute);
    set_dispute(context.state, dispute);
    forget_dispute(context, task, dispute.id);
    record(context, task, history::DisputeEnded{dispute.id, true, conviction.reason});
    note_outcome(dispute, convict(context, task, conviction));
    set_dispute(context.state, dispute);
}

}  // namespace

void note_outcome(Dispute& dispute, const PenaltyOutcome& outcome) {
    auto& end = std::get<DisputeEnd>(dispute.phase);
    end.slashed = outcome.slashed;
    end.paid = outcome.paid;
    end.burned = outcome.burned;
}

void forget_dispute(Context& context, Task& task, const DisputeId& id) {
    --task.open_disputes;
    TaskBookkeeping bookkeeping = get_bookkeeping(context.state, task.id);
    std::erase_if(bookkeeping.disputes, [&](const NotedDispute& open) { return open.id == id; });
    set_bookkeeping(context.state, task.id, bookkeeping);
}

void refute_verdict(Context& context, Task& task, Assignment& assignment, Refutation refutation) {
    // DSP-43
    auto& won = refutation.dispute;
    Penalty penalty{
        .role = Role::kVerifier, .from = assignment.verifier, .amount = assignment.bond, .reason = refutation.reason};
    if (won) {
        penalty.winners = {accusers_of(context.state, task, *won).front()};
        close_dispute(context, *won, DisputeOutcome::kRefuted, refutation.reason);
        return_bond(context, *won);
        forget_dispute(context, task, won->id);
        record(context, task, history::DisputeEnded{won->id, true, refutation.reason});
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
    resume_deadline(context, task);
}

void begin_game(Context& context, const Task& task, Dispute dispute) {
    // DSP-42
    DisputeGame game = fresh_game(context, task, dispute);
    game.deadline = dispute.deadline();
    dispute.phase = game;
    set_dispute_deadline(context, dispute, context.height_after(game.responder_clock));
    set_dispute(context.state, dispute);
}

void end_dispute_as_forced(Context& context, Task& task, Dispute dispute) {
    // DSP-42
    close_dispute(context, dispute, DisputeOutcome::kForced, Reason::kForcedError);
    return_bond(context, dispute);
    set_dispute(context.state, dispute);
    forget_dispute(context, task, dispute.id);
    record(context, task, history::DisputeEnded{dispute.id, true, Reason::kForcedError});
}

void refute_claim(Context& context, Task& task, Dispute dispute, Reason reason) {
    if (dispute.accusation()) {
        end_accusation(context, task, dispute, DisputeOutcome::kRefuted, reason);
        return;
    }
    if (dispute.verdict()) {
        Assignment& assignment = disputed_assignment(task, dispute);
        refute_verdict(context, task, assignment, {VerdictStatus::kRefuted, reason, std::move(dispute)});
        set_task(context.state, task);
        return;
    }
    if (dispute.profile()) {
        refute_profile(context, task, std::move(dispute), reason);
        return;
    }
    refute_solver(context, task, std::move(dispute), {.reason = reason});
}

void refute_by(Context& context, Task& task, Dispute dispute, const AccountId& culprit) {
    // STM-10
    refute_solver(context, task, std::move(dispute), {.reason = Reason::kFalseStatement, .culprit = culprit});
}

void uphold_claim(Context& context, Task& task, Dispute dispute, Reason reason) {
    if (dispute.accusation()) {
        end_accusation(context, task, dispute, DisputeOutcome::kUpheld, reason);
        return;
    }
    close_dispute(context, dispute, DisputeOutcome::kUpheld, reason);
    forget_dispute(context, task, dispute.id);
    record(context, task, history::DisputeEnded{dispute.id, false, reason});
    Penalty penalty{
        .role = dispute.challenger_role,
        .from = dispute.challenger,
        .amount = dispute.challenger_bond,
        .reason = reason,
        .winners = {dispute.responder}};
    dispute.challenger_bond = {};
    if (answers_on_task(task, dispute)) {
        // DSP-46
        penalty.amount = std::min(challenger_bond(context.params, task_value(task.spec)), task.solver_bond);
        task.solver_bond = subtract(task.solver_bond, penalty.amount);
    }
    note_outcome(dispute, slash(context, task, penalty));
    set_dispute(context.state, dispute);
    resume_deadline(context, task);
    set_task(context.state, task);
}

void lapse_dispute(Context& context, Dispute dispute) {
    // DSP-32
    Task task = find_task(context.state, dispute.task).value();
    if (is_answered(context.state, dispute)) {
        set_dispute_deadline(context, dispute, context.height_after(dispute_clock(context.params, task.spec)));
        set_dispute(context.state, dispute);
        return;
    }
    if (!dispute.game()) {
        refute_claim(context, task, std::move(dispute), Reason::kUndisclosed);  // DSP-42
    } else if (is_responders_turn(dispute)) {
        refute_claim(context, task, std::move(dispute), Reason::kDisputeTimeout);
    } else {
        uphold_claim(context, task, std::move(dispute), Reason::kDisputeTimeout);
    }
}

}  // namespace assay::contracts
