// SPDX-License-Identifier: Apache-2.0
#include <contracts/arbitration/accusation_ending.hpp>

#include <algorithm>

#include <contracts/arbitration/ending.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/lifecycle/disputes.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>

namespace assay::contracts {
namespace {

bool is_of_one_claim(const Dispute& one, const Dispute& other) {
    const auto is_solvers = [](const Dispute& dispute) { return std::holds_alternative<SolverClaim>(dispute.subject); };
    return is_solvers(one) && is_solvers(other) && one.segment == other.segment && one.responder == other.responder;
}

/// Ends one dispute of those that an accusation ends. The caller stores the task.
void end_one(Context& context, Task& task, Dispute dispute, DisputeOutcome outcome, Reason reason) {
    close_dispute(context, dispute, outcome, reason);
    set_dispute(context.state, dispute);
    forget_dispute(context, task, dispute.id);
    record(context, task, history::DisputeEnded{dispute.id, outcome == DisputeOutcome::kRefuted, reason});
}

/// Notes what somebody lost by the dispute, which is over.
void note_loss(Context& context, const DisputeId& id, const PenaltyOutcome& outcome) {
    Dispute dispute = find_dispute(context.state, id).value();
    note_outcome(dispute, outcome);
    set_dispute(context.state, dispute);
}

/// What the accuser loses of its bond whose accusation answered nothing and was false (SET-5).
PenaltyOutcome charge_accuser(Context& context, Task& task, const Dispute& accusation, Reason reason) {
    Amount& bond = bond_of(task, accusation.responder);
    const Penalty penalty{
        .role = Role::kSolver,
        .from = accusation.responder,
        .amount = std::min(challenger_bond(context.params, task_value(task.spec)), bond),
        .reason = reason,
        .winners = {accusation.challenger}};
    bond = subtract(bond, penalty.amount);
    return slash(context, task, penalty);
}

}  // namespace

bool is_answered(const StateView& view, const Dispute& dispute) {
    for (const NotedDispute& open : get_bookkeeping(view, dispute.task).disputes) {
        if (!open.is_answer) {
            continue;
        }
        const DisputeId id = find_dispute(view, open.id).value().accusation()->answers.value();
        const Dispute answered = find_dispute(view, id).value();
        if (answered.id == dispute.id || is_of_one_claim(answered, dispute)) {
            return true;
        }
    }
    return false;
}

void end_accusation(Context& context, Task& task, const Dispute& accusation, DisputeOutcome outcome, Reason reason) {
    const bool is_right = outcome == DisputeOutcome::kUpheld;
    const AccountId culprit = is_right ? accusation.challenger : accusation.responder;
    AccountId winner = accusation.responder;
    DisputeId lost = accusation.id;  // the last one that the culprit loses
    end_one(context, task, accusation, outcome, reason);
    std::optional<DisputeId> above = accusation.accusation()->answers;
    while (above) {
        const Dispute answered = find_dispute(context.state, *above).value();
        if (!answered.accusation()) {
            refute_by(context, task, answered, culprit);
            return;
        }
        winner = answered.responder;
        above = answered.accusation()->answers;
        if (answered.challenger == culprit) {
            lost = answered.id;
            end_one(context, task, answered, DisputeOutcome::kUpheld, reason);
        } else {
            end_one(context, task, answered, DisputeOutcome::kMoot, Reason::kMoot);
        }
    }
    if (is_right || accusation.accusation()->answers) {
        note_loss(context, lost, convict_member(context, task, culprit, Reason::kFalseStatement, winner));
    } else {
        note_loss(context, lost, charge_accuser(context, task, accusation, reason));
    }
    resume_deadline(context, task);
    set_task(context.state, task);
}

}  // namespace assay::contracts
