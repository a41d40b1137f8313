// SPDX-License-Identifier: Apache-2.0
#include <contracts/lifecycle/lifecycle.hpp>

#include <algorithm>
#include <utility>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/ledger/ledger.hpp>

namespace assay::contracts {
namespace {

Due task_due(const Task& task) { return Due{DueKind::kTask, retag<Hash256>(task.id)}; }

/// Whether the task is in a window of challenges, of verdicts or of profiles.
bool is_window(const Task& task) {
    return task.state == TaskState::kChallenge ||
           (task.state == TaskState::kProfiling && task.tolerance.value().phase == ProfilingPhase::kChallenge);
}

}  // namespace

Result<Task, TxError> require_task(const StateView& view, const TaskId& id) noexcept {
    auto task = find_task(view, id);
    if (!task) {
        return Unexpected{TxError::kTaskUnknown};  // TASK-3
    }
    return *std::move(task);
}

Result<void, TxError> require_state(const Task& task, TaskState first, TaskState last) noexcept {
    if (task.state < first || task.state > last) {
        return Unexpected{TxError::kTaskState};  // TASK-4
    }
    return {};
}

Result<void, TxError> require_open_window(const StateView& view, const Task& task) noexcept {
    if (task.state == TaskState::kChallenge && get_bookkeeping(view, task.id).suspended) {
        return Unexpected{TxError::kTaskState};  // DSP-39
    }
    return {};
}

void set_task_deadline(Context& context, Task& task, Height deadline) {
    set_deadline(context.state, task_due(task), task.deadline, deadline);
}

void enter_state(Context& context, Task& task, TaskState state, Height deadline) {
    task.state = state;
    hold_lane(context, task);
    restart_deadline(context, task, deadline);
    record(context, task, history::StateChanged{state});
}

void restart_deadline(Context& context, Task& task, Height deadline) {
    set_task_deadline(context, task, deadline);
    TaskBookkeeping bookkeeping = get_bookkeeping(context.state, task.id);
    if (bookkeeping.suspended) {
        bookkeeping.suspended = false;
        set_bookkeeping(context.state, task.id, bookkeeping);
    }
}

bool suspend_deadline(Context& context, Task& task) {
    if (task.open_disputes == 0) {
        return false;
    }
    set_task_deadline(context, task, Height{});
    TaskBookkeeping bookkeeping = get_bookkeeping(context.state, task.id);
    bookkeeping.suspended = true;
    set_bookkeeping(context.state, task.id, bookkeeping);
    return true;
}

void resume_deadline(Context& context, Task& task) {
    if (get_bookkeeping(context.state, task.id).suspended && task.open_disputes == 0) {
        restart_deadline(context, task, context.height_after(1));
    }
}

void close_task(Context& context, Task& task, TaskState state) {
    enter_state(context, task, state, Height{});
    erase_bookkeeping(context.state, task.id);
}

Result<std::size_t, TxError> find_assignment(
    const Task& task, std::uint32_t segment, const AccountId& verifier
) noexcept {
    for (std::size_t i = 0; i < task.assignments.size(); ++i) {
        if (task.assignments[i].segment == segment && task.assignments[i].verifier == verifier) {
            return i;
        }
    }
    return Unexpected{TxError::kNotAssigned};
}

Result<void, TxError> check_segment(std::uint32_t segment) noexcept {
    if (segment > kMaxSegments + 1) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6; the last one is an evaluation's (EVL-5)
    }
    return {};
}

bool contradicts(const Assignment& one, const Assignment& other) noexcept {
    return one.end_root != other.end_root || one.measurement != other.measurement ||
           one.diverged_after != other.diverged_after;
}

void return_assignment(Context& context, Assignment& assignment) {
    unlock_stake(context, Role::kVerifier, assignment.verifier, add(assignment.bond, assignment.reserve));
    assignment.bond = {};
    assignment.reserve = {};
}

void charge_miss(Context& context, Task& task, Assignment& assignment, Amount lost) {
    const Penalty penalty{
        .role = Role::kVerifier, .from = assignment.verifier, .amount = lost, .reason = Reason::kMissedVerdict};
    slash(context, task, penalty);
    assignment.bond = subtract(assignment.bond, lost);
    return_assignment(context, assignment);
    assignment.status = VerdictStatus::kMissed;
}

void return_profile_bonds(Context& context, Task& task) {
    for (Profile& profile : task.tolerance.value().profiles) {
        if (profile.bond.grains != 0) {
            unlock_stake(context, Role::kVerifier, profile.profiler, profile.bond);
            profile.bond = {};
        }
    }
}

bool stand_still(Context& context, Task& task) {
    TaskBookkeeping bookkeeping = get_bookkeeping(context.state, task.id);
    const std::uint32_t most = context.params.standstill_blocks;
    const std::uint32_t left = most - std::min(bookkeeping.stood_still, most);
    if (!is_window(task) || left == 0 || has_room_for_dispute(context.state, context.params)) {
        return false;
    }
    const std::uint32_t blocks = std::min(left, context.params.dispute_extension_blocks);
    bookkeeping.stood_still += blocks;
    set_bookkeeping(context.state, task.id, bookkeeping);
    set_task_deadline(context, task, context.height_after(blocks));
    set_task(context.state, task);
    return true;
}

/// Place in the task's profiles; kNotProfiler (PRF-1).
Result<std::uint32_t, TxError> find_profiler(const Task& task, const AccountId& profiler) {
    const auto& profiles = task.tolerance.value().profiles;
    for (std::uint32_t i = 0; i < profiles.size(); ++i) {
        if (profiles[i].profiler == profiler) {
            return i;
        }
    }
    return Unexpected{TxError::kNotProfiler};
}

Profile& profile_of(Task& task, const AccountId& profiler) {
    return task.tolerance.value().profiles[find_profiler(task, profiler).value()];
}

}  // namespace assay::contracts
