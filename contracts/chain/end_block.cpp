// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/availability/availability.hpp>
#include <contracts/beacon/rounds.hpp>
#include <contracts/params/gas.hpp>
#include <contracts/chain/router.hpp>
#include <contracts/governance/governance.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/profiling/profiling.hpp>
#include <contracts/retention/retention.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/lifecycle/lineage.hpp>
#include <contracts/tasks/tasks.hpp>
#include <contracts/lifecycle/waiting.hpp>
#include <contracts/validators/validators.hpp>
#include <contracts/verification/verification.hpp>
#include <contracts/chain/rounds.hpp>
#include <contracts/settlement/taints.hpp>

namespace assay::contracts {
namespace {

// What has ended meanwhile, or has another deadline, is passed over: false.

bool end_task_deadline(Context& context, const TaskId& id, Height height) {
    Task task = find_task(context.state, id).value();
    if (task.deadline != height) {
        return false;
    }
    switch (task.state) {
        case TaskState::kOpen:
            lapse_opening(context, task);
            return true;
        case TaskState::kDrawn:
            lapse_acceptance(context, task);
            return true;
        case TaskState::kTraining:
            lapse_training(context, task);
            return true;
        case TaskState::kKept:
            lapse_keeping(context, task);
            return true;
        default:
            break;
    }
    if (suspend_deadline(context, task)) {
        set_task(context.state, task);
        return true;
    }
    if (stand_still(context, task)) {
        return true;
    }
    switch (task.state) {
        case TaskState::kCompleted:
            if (is_sitting(task)) {
                lapse_committee(context, task);
            } else {
                lapse_drawing(context, task);
            }
            return true;
        case TaskState::kVerifying:
            lapse_phase(context, task);
            return true;
        case TaskState::kChallenge:
            end_window(context, task);
            return true;
        case TaskState::kDisclosure:
            lapse_disclosure(context, task);
            return true;
        case TaskState::kJudged:
            settle(context, task);
            return true;
        case TaskState::kProfiling:
            lapse_profiling(context, task);
            return true;
        default:
            return true;
    }
}

bool end_dispute_deadline(Context& context, const DisputeId& id, Height height) {
    auto dispute = find_dispute(context.state, id).value();
    if (!is_open(dispute.state()) || dispute.deadline() != height) {
        return false;
    }
    lapse_dispute(context, std::move(dispute));
    return true;
}

/// What it took, besides the entry itself.
std::uint64_t end_deadline(Context& context, const Coming& coming) {
    const Due& due = coming.due;
    const auto gas_of = [&](bool has_ended) { return has_ended ? deadline_gas(context.params) : 0; };
    switch (due.kind) {
        case DueKind::kTask:
            return gas_of(end_task_deadline(context, retag<TaskId>(due.id), coming.height));
        case DueKind::kDispute:
            return gas_of(end_dispute_deadline(context, retag<DisputeId>(due.id), coming.height));
        case DueKind::kUnbonding:
            release_unbonded(context, due.role, retag<AccountId>(due.id));
            return kGasPerEntry;
        case DueKind::kDraw:
            queue_for_draw(context, retag<TaskId>(due.id));
            return kGasPerEntry;
        case DueKind::kProposal:
            return gas_of(end_proposal(context, retag<ProposalId>(due.id), coming.height));
    }
    return 0;
}

/// GAS-10: what does not fit waits for the next block: a deadline may come late, never early.
void end_deadlines(Context& context) {
    const std::uint64_t limit = context.params.end_block_gas_max / 2;
    const std::uint64_t dearest = kGasPerEntry + deadline_gas(context.params);
    while (context.end_gas + dearest <= limit) {
        const auto coming = pop_agenda(context.state, context.height());
        if (!coming) {
            return;
        }
        context.end_gas += kGasPerEntry + end_deadline(context, *coming);
    }
}

}  // namespace

void end_block(Context& context) {
    // BLK-3, BLK-4
    end_deadlines(context);
    spread_taints(context);
    advance_beacon(context);
    punish_misbehaviour(context);
    note_absence(context);
    update_validators(context);
}

}  // namespace assay::contracts
