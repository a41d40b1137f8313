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

}  // namespace assay::contracts
