// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/result.hpp>
#include <contracts/beacon/rounds.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/transaction.hpp>
#include <contracts/state/tx_error.hpp>

/// Submitting, drawing, accepting, training, cancelling (TASK rules).
namespace assay::contracts {

/// TASK-2: whether a task of this shape can be trained, replayed and disputed: kSpecInvalid.
Result<void, TxError> check_spec(const TaskSpec& spec) noexcept;
/// Whether a location is printable ASCII of at most kMaxLocationBytes.
bool is_location(const std::string& location) noexcept;
/// Most reveal-select rounds that a dispute of a task of this shape can take (DSP-4).
std::uint32_t dispute_rounds_max(const TaskSpec& spec) noexcept;

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
Result<void, TxError> execute(Context& context, const DeclareDivergence& action) noexcept;

Result<void, TxError> check_stateless(const DeclineTask& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const DeclineTask& action
) noexcept;
Result<void, TxError> execute(Context& context, const DeclineTask& action) noexcept;

/// The task, when `sender` is its solver and it is in `state`: kTaskUnknown, kTaskState, kNotSolver (TASK-5).
Result<Task, TxError> require_own_task(
    const StateView& view, const TaskId& id, TaskState state, const AccountId& sender
) noexcept;
/// TASK-17: a task that was submitted, or whose profiling is over, waits for a solver. Stores it.
void open_task(Context& context, Task& task);
/// Training is over: verifiers are drawn from the next block on. Stores the task.
void complete(Context& context, Task& task);

/// TASK-6, TASK-8: the deadline of a task in kDrawn or kTraining has passed.
void lapse_acceptance(Context& context, Task& task);
void lapse_training(Context& context, Task& task);

/// TASK-6, BCN-11: draws a solver for an open task that waits.
void draw_solver(Context& context, Task& task, const ClosedRound& round);

}  // namespace assay::contracts
