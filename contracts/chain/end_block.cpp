// SPDX-License-Identifier: Apache-2.0
#include <contracts/arbitration/arbitration.hpp>
#include <contracts/availability/availability.hpp>
#include <contracts/beacon/rounds.hpp>
#include <contracts/chain/router.hpp>
#include <contracts/chain/slots.hpp>
#include <contracts/profiling/profiling.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/tasks/lifecycle.hpp>
#include <contracts/tasks/lineage.hpp>
#include <contracts/tasks/tasks.hpp>
#include <contracts/validators/validators.hpp>
#include <contracts/verification/verification.hpp>

namespace assay::contracts {
namespace {

void end_task_deadline(Context& context, const TaskId& id) {
    Task task = find_task(context.state, id).value();
    if (task.deadline != context.height()) {
        return;  // ended or moved by an earlier deadline of this block
    }
    switch (task.state) {
        case TaskState::kDrawn: lapse_acceptance(context, task); return;
        // An open challenge does not buy the solver time: TASK-11 is for what comes after completion.
        case TaskState::kTraining: lapse_training(context, task); return;
        default: break;
    }
    if (suspend_deadline(context, task)) {
        set_task(context.state, task);
        return;
    }
    switch (task.state) {
        case TaskState::kCompleted: lapse_drawing(context, task); return;
        case TaskState::kVerifying: lapse_phase(context, task); return;
        case TaskState::kChallenge:
            if (!await_ancestors(context, task)) {
                end_window(context, task);
            }
            return;
        case TaskState::kDisclosure: lapse_disclosure(context, task); return;
        case TaskState::kProfiling: lapse_profiling(context, task); return;
        default: return;
    }
}

void end_deadline(Context& context, const Due& due) {
    switch (due.kind) {
        case DueKind::kTask: end_task_deadline(context, retag<TaskId>(due.id)); return;
        case DueKind::kDispute: {
            auto dispute = find_dispute(context.state, retag<DisputeId>(due.id)).value();
            if (is_open(dispute.state) && dispute.deadline == context.height()) {
                lapse_dispute(context, std::move(dispute));
            }
            return;
        }
        case DueKind::kChallenge: {
            auto challenge = find_challenge(context.state, retag<ChallengeId>(due.id)).value();
            if (challenge.state == ChallengeState::kOpen && challenge.deadline == context.height()) {
                lapse_challenge(context, std::move(challenge));
            }
            return;
        }
        case DueKind::kUnbonding: release_unbonded(context, due.role, retag<AccountId>(due.id)); return;
    }
}

}  // namespace

void end_block(Context& context) {
    const auto due = get_deadlines(context.state, context.height());
    if (!due.empty()) {
        clear_deadlines(context.state, context.height());
    }
    for (const Due& item : due) {
        end_deadline(context, item);
    }
    spread_taints(context);
    draw_solvers(context);
    advance_beacon(context);
    punish_misbehaviour(context);
    note_absence(context);
    update_validators(context);
}

}  // namespace assay::contracts
