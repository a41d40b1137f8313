// SPDX-License-Identifier: Apache-2.0
#include <contracts/lifecycle/disputes.hpp>

#include <contracts/duties/lane.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/state/slots.hpp>

namespace assay::contracts {

void set_dispute_deadline(Context& context, Dispute& dispute, Height deadline) {
    const Due due{DueKind::kDispute, retag<Hash256>(dispute.id)};
    set_deadline(context.state, due, dispute.deadline, deadline);
}

void close_dispute(Context& context, Dispute& dispute, DisputeState state, std::optional<Reason> reason) {
    dispute.state = state;
    dispute.reason = reason;
    dispute.ended_at = context.height();
    release_lane(context, dispute);
    set_dispute_deadline(context, dispute, Height{});
}

void return_bond(Context& context, Dispute& dispute) {
    unlock_stake(context, dispute.challenger_role, dispute.challenger, dispute.challenger_bond);
    dispute.challenger_bond = {};
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
