// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/result.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/state/task.hpp>

/// Functions shared by all contracts that change tasks. Functions that take a `Task&` change it; the caller stores it.
namespace assay::contracts {

/// Returns the task; fails with kTaskUnknown (TASK-3) if it does not exist.
Result<Task, TxError> require_task(const StateView& view, const TaskId& id) noexcept;
/// Fails with kTaskState (TASK-4) unless the task's state is between `first` and `last` (inclusive).
Result<void, TxError> require_state(const Task& task, TaskState first, TaskState last) noexcept;
/// DSP-39: fails with kTaskState if the challenge window has ended and the task only waits for open disputes.
Result<void, TxError> require_open_window(const StateView& view, const Task& task) noexcept;

/// Moves the task to `state` with the given deadline (0: none) and records it in the history.
void enter_state(Context& context, Task& task, TaskState state, Height deadline);
void set_task_deadline(Context& context, Task& task, Height deadline);

/// Sets a new deadline within the current state, and ends a suspension of the old one (TASK-11).
void restart_deadline(Context& context, Task& task, Height deadline);

/// TASK-11: suspends a deadline that passes while disputes are open, until the last of them ends. Returns whether it
/// did.
bool suspend_deadline(Context& context, Task& task);
/// Called when a dispute ends without ending the task. If it was the last one, a suspended deadline fires in the next
/// block.
void resume_deadline(Context& context, Task& task);

/// Ends the task: sets the final state, clears the deadline and erases its bookkeeping. A queue entry of the task is
/// skipped later.
void close_task(Context& context, Task& task, TaskState state);

/// Returns the index in task.assignments; fails with kNotAssigned (VER-1).
Result<std::size_t, TxError> find_assignment(
    const Task& task, std::uint32_t segment, const AccountId& verifier
) noexcept;

/// Fails with kFieldOutOfRange (TX-6) if no task can have a segment of this number, counting the evaluation.
Result<void, TxError> check_segment(std::uint32_t segment) noexcept;

/// VER-20: whether two verdicts on a segment differ in end root, measurement or divergence.
bool contradicts(const Assignment& one, const Assignment& other) noexcept;

/// Unlocks what is left of an assignment's bond and reserve (DSP-46).
void return_assignment(Context& context, Assignment& assignment);

/// VER-5, AVL-8: burns `lost` of the bond of an assignment that was missed, returns the rest, and marks it as missed.
/// The caller stores the task, which must contain `assignment`.
void charge_miss(Context& context, Task& task, Assignment& assignment, Amount lost);

/// Unlocks the remaining bonds of all profilers. The caller stores the task.
void return_profile_bonds(Context& context, Task& task);

/// DTY-8: extends the challenge window that is about to end, if the lane of duties has no room for another dispute.
/// Returns whether it did; if so, stores the task.
bool stand_still(Context& context, Task& task);

/// PRF-4: returns the index of this profiler in the task's profiles; fails with kNotProfiler (PRF-1).
Result<std::uint32_t, TxError> find_profiler(const Task& task, const AccountId& profiler);

/// The profile of this profiler, who must be one of the task's profilers.
Profile& profile_of(Task& task, const AccountId& profiler);

}  // namespace assay::contracts
