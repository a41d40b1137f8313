// SPDX-License-Identifier: Apache-2.0
#include <contracts/settlement/cut.hpp>

#include <algorithm>
#include <vector>

#include <contracts/duties/lane.hpp>
#include <contracts/lifecycle/disputes.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/lifecycle/lineage.hpp>
#include <contracts/lifecycle/waiting.hpp>
#include <contracts/settlement/fees.hpp>
#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>

namespace assay::contracts {
namespace {

/// All verdicts end: their bonds return, and those that earned a share of the fee keep it.
void drop_verdicts(Context& context, Task& task, std::uint32_t first) {
    for (Assignment& assignment : task.assignments) {
        const bool earns = has_earned_fee(context.state, task, assignment, first);
        return_assignment(context, assignment);
        assignment.status = earns ? VerdictStatus::kDropped : VerdictStatus::kMissed;
    }
    std::erase_if(task.assignments, [](const Assignment& assignment) {
        return assignment.status != VerdictStatus::kDropped;
    });
}

/// What disputes a verdict or a dropped segment is moot. What disputes a segment that is left goes on, outside the
/// places that its task had for its verifiers (DTY-6).
void end_moot_disputes(Context& context, Task& task, std::uint32_t first) {
    TaskBookkeeping bookkeeping = get_bookkeeping(context.state, task.id);
    std::vector<NotedDispute> left;
    left.reserve(bookkeeping.disputes.size());
    for (const NotedDispute& open : bookkeeping.disputes) {
        Dispute dispute = find_dispute(context.state, open.id).value();
        if (dispute.verdict() || dispute.segment >= first) {
            end_dispute_as_moot(context, task, open.id);
            --task.open_disputes;
            continue;
        }
        left.push_back(open);
        if (dispute.lane == 0) {
            hold_lane(context, dispute, false);
            set_dispute(context.state, dispute);
        }
    }
    bookkeeping.disputes = left;
    set_bookkeeping(context.state, task.id, bookkeeping);
}

/// GRP-7: the task waits for verifiers, and not for those of a round that has opened already (BCN-4).
void queue_anew(Context& context, Task& task, bool waits) {
    Drawing drawing = get_drawing(context.state);
    const bool was_in_round = std::erase(drawing.tasks, task.id) != 0;
    if (was_in_round) {
        set_drawing(context.state, drawing);
    }
    if (!waits || was_in_round) {
        await_verifiers(context, task);
        return;
    }
    resume_deadline(context, task);
    set_task(context.state, task);
}

}  // namespace

bool can_cut(const Params& params, const Task& task, std::uint32_t first) noexcept {
    return task.group && first >= 2 && task.redraws < params.redraws_max;
}

void cut(Context& context, Task& task, std::uint32_t first, const AccountId& member, bool waits) {
    // GRP-7
    if (!is_shortened(task)) {
        taint_descendants(context, task.id);  // GRP-9
    }
    drop_verdicts(context, task, first);
    end_moot_disputes(context, task, first);
    note_conviction(task, member);
    task.group->counted = first - 1;
    task.evaluation.reset();
    task.diverged_at.reset();
    task.committee.reset();
    task.available.clear();
    task.lottery = {};
    task.second_window = false;
    ++task.redraws;
    record(context, task, history::Cut{first, member});
    queue_anew(context, task, waits);
}

}  // namespace assay::contracts
