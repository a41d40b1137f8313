// SPDX-License-Identifier: Apache-2.0
#include <contracts/lifecycle/disputes.hpp>

#include <contracts/duties/lane.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/state/slots.hpp>

namespace assay::contracts {

void set_dispute_deadline(Context& context, Dispute& dispute, Height deadline) {
    const Due due{DueKind::kDispute, retag<Hash256>(dispute.id)};
    std::visit(
        [&](auto& phase) {
            if constexpr (requires { phase.deadline; }) {
                set_deadline(context.state, due, phase.deadline, deadline);
            }
        },
        dispute.phase
    );
}

void close_dispute(Context& context, Dispute& dispute, DisputeOutcome outcome, Reason reason) {
    release_lane(context, dispute);
    set_dispute_deadline(context, dispute, Height{});
    dispute.phase = DisputeEnd{
        .outcome = outcome, .reason = reason, .at = context.height(), .slashed = {}, .paid = {}, .burned = {}};
}

void return_bond(Context& context, Dispute& dispute) {
    unlock_stake(context, dispute.challenger_role, dispute.challenger, dispute.challenger_bond);
    dispute.challenger_bond = {};
}

void end_dispute_as_moot(Context& context, Task& task, const DisputeId& id) {
    // DSP-40
    Dispute dispute = find_dispute(context.state, id).value();
    close_dispute(context, dispute, DisputeOutcome::kMoot, Reason::kMoot);
    return_bond(context, dispute);
    set_dispute(context.state, dispute);
    record(context, task, history::DisputeEnded{id, false, Reason::kMoot});
}

}  // namespace assay::contracts
