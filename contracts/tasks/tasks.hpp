// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/result.hpp>
#include <contracts/beacon/rounds.hpp>
#include <contracts/state/context.hpp>
#include <contracts/tasks/actions/task_actions.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/params/spec.hpp>
#include <contracts/lifecycle/waiting.hpp>

/// Submission, solver draw, acceptance, training and cancellation of tasks (TASK rules).
namespace assay::contracts {

Result<void, TxError> check_stateless(const SubmitTask& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const SubmitTask& action
) noexcept;
Result<void, TxError> execute(Context& context, const SubmitTask& action) noexcept;

Result<void, TxError> check_stateless(const AcceptTask& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const AcceptTask& action
) noexcept;
Result<void, TxError> execute(Context& context, const AcceptTask& action) noexcept;

Result<void, TxError> check_stateless(const PostCheckpoint& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const PostCheckpoint& action
) noexcept;
/// GRP-4: fails with kNotNext if it is another member's turn at `height`.
Result<void, TxError> check_owed(
    const StateView& view, const Params& params, const AccountId& sender, const PostCheckpoint& action, Height height
) noexcept;
Result<void, TxError> execute(Context& context, const PostCheckpoint& action) noexcept;

Result<void, TxError> check_stateless(const CompleteTask& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const CompleteTask& action
) noexcept;
Result<void, TxError> execute(Context& context, const CompleteTask& action) noexcept;

Result<void, TxError> check_stateless(const CancelTask& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const CancelTask& action
) noexcept;
Result<void, TxError> execute(Context& context, const CancelTask& action) noexcept;

Result<void, TxError> check_stateless(const DeclareDivergence& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const DeclareDivergence& action
) noexcept;
/// GRP-4: fails with kNotNext if it is another member's turn at `height`.
Result<void, TxError> check_owed(
    const StateView& view, const Params& params, const AccountId& sender, const DeclareDivergence& action, Height height
) noexcept;
Result<void, TxError> execute(Context& context, const DeclareDivergence& action) noexcept;

Result<void, TxError> check_stateless(const DeclineTask& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const DeclineTask& action
) noexcept;
Result<void, TxError> execute(Context& context, const DeclineTask& action) noexcept;

/// Returns the task if `sender` is its solver and it is in `state`; fails with kTaskUnknown, kTaskState or kNotSolver
/// (TASK-5).
Result<Task, TxError> require_own_task(
    const StateView& view, const TaskId& id, TaskState state, const AccountId& sender
) noexcept;
/// TASK-17: makes a submitted task, or one whose profiling has ended, wait for a solver. Stores it.
void open_task(Context& context, Task& task);
/// Ends training; verifiers are drawn from the next block on. Stores the task.
void complete(Context& context, Task& task);

/// TASK-6, TASK-8: called when the deadline of a task in kDrawn or in kTraining has passed.
void lapse_acceptance(Context& context, Task& task);
/// PRV-3, PRV-5: the drawn solver has no keys that it could accept the task with: another one is drawn, at the expense
/// of the deposit. Stores the task.
void lapse_unshared(Context& context, Task& task);
void lapse_training(Context& context, Task& task);

/// TASK-6, BCN-11: draws a solver for a waiting open task. If the draw fails, returns the pause until the next one.
std::optional<Pause> draw_solver(Context& context, Task& task, const ClosedRound& round);

/// TASK-17: called when the task has waited for a solver for `draw_blocks`; the task expires. Stores the task.
void lapse_opening(Context& context, Task& task);

/// BCN-9: called when the deadline of a task that waits for a draw has passed. If the task is completed or a round is
/// open, it gets one more draw; otherwise it expires. Stores the task.
void lapse_drawing(Context& context, Task& task);

}  // namespace assay::contracts
