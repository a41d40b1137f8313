// SPDX-License-Identifier: Apache-2.0
#include <contracts/arbitration/ending.hpp>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/chain/slots.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/tasks/lifecycle.hpp>

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

}  // namespace

void set_dispute_deadline(Context& context, Dispute& dispute, Height deadline) {
    const Due due{DueKind::kDispute, retag<Hash256>(dispute.id)};
    move_deadline(context.state, due, dispute.deadline, deadline);
    dispute.deadline = deadline;
}

void refute_claim(Context& context, Task& task, Dispute dispute, Reason reason) {
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
    const Penalty penalty{
        .role = dispute.challenger_role,
        .from = dispute.challenger,
        .amount = dispute.challenger_bond,
        .reason = reason,
        .winner = dispute.responder};
    dispute.challenger_bond = {};
    note_outcome(dispute, slash(context, task, penalty));
    set_dispute(context.state, dispute);
    resume_deadline(context, task, false);
    set_task(context.state, task);
}

void lapse_dispute(Context& context, Dispute dispute) {
    // DSP-32
    Task task = find_task(context.state, dispute.task).value();
    if (is_responders_turn(dispute)) {
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
