// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/result.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/state/task.hpp>

/// What every contract that touches a task shares. Functions that take a `Task&` change it; the caller stores it.
namespace assay::contracts {

/// kTaskUnknown (TASK-3) when there is none.
Result<Task, TxError> require_task(const StateView& view, const TaskId& id) noexcept;
/// Whether its state is between `first` and `last`: kTaskState (TASK-4).
Result<void, TxError> require_state(const Task& task, TaskState first, TaskState last) noexcept;
/// DSP-39: whether the challenge window is over, and only what is open still keeps the task from settling.
Result<void, TxError> require_open_window(const StateView& view, const Task& task) noexcept;

/// Moves the task to `state` with the deadline `deadline` (0: none) and records it.
void enter_state(Context& context, Task& task, TaskState state, Height deadline);
void set_task_deadline(Context& context, Task& task, Height deadline);

/// Gives the task another deadline within its state; one that had passed and waits for disputes (TASK-11) does not any more.
void restart_deadline(Context& context, Task& task, Height deadline);

/// TASK-11: a deadline that passes while a dispute is open waits until the last of them has ended. True when it does.
bool suspend_deadline(Context& context, Task& task);
/// One of the open disputes has ended without ending the task.
void resume_deadline(Context& context, Task& task);

/// Ends the task: its state, no deadline, no docket. A queue that it waits in passes it over.
void close_task(Context& context, Task& task, TaskState state);

/// Position in task.assignments; kNotAssigned (VER-1).
Result<std::size_t, TxError> find_assignment(
    const Task& task, std::uint32_t segment, const AccountId& verifier
) noexcept;

/// kFieldOutOfRange (TX-6) where no task has such a segment, nor an evaluation of that number.
Result<void, TxError> check_segment(std::uint32_t segment) noexcept;

/// VER-20: whether two verdicts on a segment differ in what is judged by distance.
bool contradicts(const Assignment& one, const Assignment& other) noexcept;

/// Unlocks what is left of an assignment's bond and of its reserve (DSP-46).
void return_assignment(Context& context, Assignment& assignment);

/// The caller stores the task.
void return_profile_bonds(Context& context, Task& task);

/// DTY-8: whether the task's window of challenges, which would end now, is prolonged instead, since who would dispute finds no
/// room. Stores the task then.
bool stand_still(Context& context, Task& task);

/// PRF-4: the place of this profiler among the task's profiles; kNotProfiler.
Result<std::uint32_t, TxError> find_place(const Task& task, const AccountId& profiler);

/// The profile of this profiler, which the task has.
Profile& profile_of(Task& task, const AccountId& profiler);

}  // namespace assay::contracts
