// SPDX-License-Identifier: Apache-2.0
#include <contracts/tasks/tasks.hpp>

#include <algorithm>

#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/params/retention.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/stake/terms.hpp>
#include <contracts/lifecycle/keys.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/lifecycle/lineage.hpp>
#include <contracts/lifecycle/waiting.hpp>
#include <contracts/params/work.hpp>
#include <contracts/tasks/seats.hpp>
#include <core/dispute/evaluation.hpp>

namespace assay::contracts {
namespace {

/// A task that was there when the checks ran is there when the effects do.
Task checked_task(const Context& context, const TaskId& id) { return find_task(context.state, id).value(); }

/// TASK-15: the drawn solver's stake, which pays for half of the draw and for a while is not drawn for tasks of this
/// one's value or less.
void put_declined(Context& context, Task& task, Stake stake) {
    stake.locked = subtract(stake.locked, task.solver_bond);
    const bool lasts = stake.declined_until > context.height();
    stake.declined_value = std::max(lasts ? stake.declined_value : Amount{}, task_value(task.spec));
    stake.declined_until = context.height_after(context.params.decline_blocks);
    put_stake(context, Role::kSolver, task.solver.value(), stake);
    refill_room(context, task);
}

/// TASK-18: the task waits for another solver. Stores it.
void reopen(Context& context, Task& task) {
    task.solver.reset();
    const Height until = get_bookkeeping(context.state, task.id).open_until;
    enter_state(context, task, TaskState::kOpen, std::max(until, context.height_after(1)));
    pause_draw(context, task);
    set_task(context.state, task);
}

/// TASK-6, GRP-5: what the drawn solver has to have locked when it accepts.
Amount bond_to_accept(const Params& params, const Task& task, const AcceptTask& action) {
    const Amount value = task_value(task.spec);
    return action.seats.empty() ? solver_bond(params, value) : member_bond(params, value);
}

/// TASK-17: what a submission takes from its sender.
Result<Amount, TxError> price_of(const Params& params, const TaskSpec& spec) {
    const auto sum = checked_add(escrow_of(spec), waiting_deposit(params, spec));
    return sum ? Result<Amount, TxError>(*sum) : Unexpected{TxError::kOverflow};  // LED-3
}

/// TX-6, ENV-1: whether what a worker states of its environment, if anything, is sound.
Result<void, TxError> check_statement(const std::optional<Environment>& environment) {
    if (environment && !is_sound(*environment)) {
        return Unexpected{TxError::kFieldOutOfRange};
    }
    return {};
}

/// EVL-4: whether the solver scores its final state exactly when the spec asks for it.
Result<void, TxError> check_evaluation(
    const StateView& view, const Task& task, const std::optional<Evaluation>& evaluation
) {
    if (evaluation.has_value() != task.spec.evaluation.has_value()) {
        return Unexpected{TxError::kEvaluationMismatch};
    }
    if (!evaluation) {
        return {};
    }
    const Checkpoint last = find_checkpoint(view, task.id, task.checkpoints - 1).value();
    if (dispute::state_root_from(task.spec.program.state_tensors, evaluation->tensors_root) != last.state_root) {
        return Unexpected{TxError::kNotFinalState};
    }
    return {};
}

}  // namespace

Result<Task, TxError> require_own_task(
    const StateView& view, const TaskId& id, TaskState state, const AccountId& sender
) noexcept {
    TRY_ASSIGN(Task task, require_task(view, id));
    TRY(require_state(task, state, state));
    if (task.solver != sender) {
        return Unexpected{TxError::kNotSolver};  // TASK-5
    }
    return task;
}

// --- submit --------------------------------------------------------------------------------------------------

Amount SubmitTask::amount_out(const Params& params) const {
    constexpr Amount kMost{~std::uint64_t{0}};  // no balance covers it
    const auto value = checked_add(spec.reward, spec.verification_fee);
    const auto escrow = value ? checked_add(*value, retention_fee(spec)) : value;
    return escrow ? checked_add(*escrow, waiting_deposit(params, spec)).value_or(kMost) : kMost;  // TASK-17
}

Result<void, TxError> check_stateless(const SubmitTask& action) noexcept { return check_submission(action.spec); }

Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const SubmitTask& action
) noexcept {
    TRY(check_class(params, action.spec.hardware_class));
    if (task_value(action.spec) > params.task_value_max) {
        return Unexpected{TxError::kValueTooHigh};  // TASK-14
    }
    TRY(check_work(params, action.spec));
    TRY(check_retention(params, action.spec));
    TRY(check_parent(view, action.spec));
    if (action.spec.mode == Mode::kTolerance && segment_count(action.spec) < params.profile_segments) {
        return Unexpected{TxError::kSpecInvalid};  // TASK-2.7, PRF-3
    }
    TRY_ASSIGN(const Amount price, price_of(params, action.spec));
    return check_balance(view, sender, price);
}

Result<void, TxError> execute(Context& context, const SubmitTask& action) noexcept {
    debit(context.state, context.actor, price_of(context.params, action.spec).value());
    Task task;
    task.id = task_id(context.actor, context.nonce);
    task.submitter = context.actor;
    task.spec = action.spec;
    task.submitted_at = context.height();
    task.escrow = escrow_of(task.spec);
    task.room = waiting_deposit(context.params, task.spec);
    if (task.spec.privacy) {
        task.secrecy = Secrecy{};  // PRV-2
    }
    adopt(context, task);
    record(context, task, history::Submitted{task.escrow, task.room});
    set_bookkeeping(context.state, task.id, TaskBookkeeping{});
    if (task.spec.mode == Mode::kTolerance) {
        begin_profiling(context, task);
        set_task(context.state, task);
    } else {
        open_task(context, task);
    }
    return {};
}

void open_task(Context& context, Task& task) {
    // TASK-17
    TaskBookkeeping bookkeeping = get_bookkeeping(context.state, task.id);
    bookkeeping.open_until = context.height_after(context.params.draw_blocks);
    set_bookkeeping(context.state, task.id, bookkeeping);
    if (task.state == TaskState::kOpen) {
        set_task_deadline(context, task, bookkeeping.open_until);
    } else {
        enter_state(context, task, TaskState::kOpen, bookkeeping.open_until);
    }
    set_task(context.state, task);
    await_draw(context, task);
}

// --- accept --------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const AcceptTask& action) noexcept {
    if (action.seats.size() > kMaxSeats || action.signatures.size() > kMaxSeats) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return check_statement(action.environment);
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const AcceptTask& action
) noexcept {
    TRY_ASSIGN(const Task task, require_own_task(view, action.task, TaskState::kDrawn, sender));
    if (!satisfies(action.environment, task.spec.environment)) {
        return Unexpected{TxError::kEnvironmentMismatch};  // ENV-4
    }
    if (owes_keys(task)) {
        return Unexpected{TxError::kKeysMissing};  // PRV-3
    }
    const Amount bond = bond_to_accept(params, task, action);
    TRY(check_free_stake(view, Role::kSolver, sender, subtract(bond, task.solver_bond)));
    return check_seats(view, params, task, action.seats);
}

Result<void, TxError> execute(Context& context, const AcceptTask& action) noexcept {
    // TASK-6
    Task task = checked_task(context, action.task);
    const Amount bond = bond_to_accept(context.params, task, action);
    lock_stake(context, Role::kSolver, context.actor, subtract(bond, task.solver_bond));
    task.solver_bond = bond;
    form_group(context, task, action);
    pay_room(context, task);
    record(context, task, history::Accepted{task.solver_bond, action.seats, action.environment});
    enter_state(context, task, TaskState::kTraining, context.height_after(task.spec.training_blocks));
    set_task(context.state, task);
    return {};
}

// --- decline -------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const DeclineTask& /*action*/) noexcept { return {}; }

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const DeclineTask& action
) noexcept {
    TRY(require_own_task(view, action.task, TaskState::kDrawn, sender));
    return {};
}

Result<void, TxError> execute(Context& context, const DeclineTask& action) noexcept {
    // TASK-15
    Task task = checked_task(context, action.task);
    put_declined(context, task, get_stake(context.state, Role::kSolver, context.actor));
    reopen(context, task);
    return {};
}

// --- checkpoints ---------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const PostCheckpoint& action) noexcept {
    if (action.index > kMaxSegments || !is_location(action.location)) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return check_statement(action.environment);
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const PostCheckpoint& action
) noexcept {
    TRY_ASSIGN(const Task task, require_task_to_post(view, action.task, sender));
    if (action.index != task.checkpoints || action.index > segment_count(task.spec)) {
        return Unexpected{TxError::kCheckpointOrder};  // TASK-7
    }
    if (action.index < first_segment(task.spec) && action.state_root != start_root(view, task)) {
        return Unexpected{TxError::kNotParentsState};  // LIN-2
    }
    if (action.sealed.has_value() != task.spec.privacy.has_value()) {
        return Unexpected{TxError::kSealedMismatch};  // PRV-6
    }
    return {};
}

Result<void, TxError> check_owed(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const PostCheckpoint& action,
    Height height
) noexcept {
    return check_turn(view, action.task, sender, height);
}

Result<void, TxError> execute(Context& context, const PostCheckpoint& action) noexcept {
    // TASK-7
    TRY(check_turn(context.state, action.task, context.actor, context.height()));
    Task task = checked_task(context, action.task);
    note_poster(task, context.actor);
    set_checkpoint(
        context.state, task.id, action.index, {action.state_root, action.location, context.height(), action.sealed}
    );
    ++task.checkpoints;
    record(
        context, task, history::CheckpointPosted{action.index, action.state_root, action.environment, action.sealed}
    );
    set_task(context.state, task);
    return {};
}

// --- complete ------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const CompleteTask& action) noexcept {
    if (action.evaluation && !dispute::is_possible_score(action.evaluation->score)) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6, EVL-3
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const CompleteTask& action
) noexcept {
    TRY_ASSIGN(const Task task, require_own_task(view, action.task, TaskState::kTraining, sender));
    if (task.checkpoints != segment_count(task.spec) + 1) {
        return Unexpected{TxError::kCheckpointsMissing};  // TASK-9
    }
    return check_evaluation(view, task, action.evaluation);
}

void complete(Context& context, Task& task) {
    record(context, task, history::Completed{});
    await_verifiers(context, task);
}

Result<void, TxError> execute(Context& context, const CompleteTask& action) noexcept {
    // TASK-9
    Task task = checked_task(context, action.task);
    task.evaluation = action.evaluation;
    complete(context, task);
    return {};
}

// --- cancel --------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const CancelTask& /*action*/) noexcept { return {}; }

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const CancelTask& action
) noexcept {
    TRY_ASSIGN(const Task task, require_task(view, action.task));
    if (task.submitter != sender) {
        return Unexpected{TxError::kNotSubmitter};  // TASK-5
    }
    return require_state(task, TaskState::kOpen, TaskState::kDrawn);
}

Result<void, TxError> execute(Context& context, const CancelTask& action) noexcept {
    // TASK-12
    Task task = checked_task(context, action.task);
    end_without_fraud(context, task, TaskState::kCancelled);
    return {};
}

// --- deadlines -----------------------------------------------------------------------------------------------

void lapse_acceptance(Context& context, Task& task) {
    if (owes_keys(task)) {
        lapse_unshared(context, task);
        return;
    }
    // TASK-6
    Stake stake = get_stake(context.state, Role::kSolver, task.solver.value());
    stake.is_unlisted = true;
    put_declined(context, task, stake);
    reopen(context, task);
}

void lapse_unshared(Context& context, Task& task) {
    // PRV-3: the solver could not accept
    unlock_stake(context, Role::kSolver, task.solver.value(), task.solver_bond);
    task.solver_bond = {};
    task.secrecy = Secrecy{};
    reopen(context, task);
}

void lapse_training(Context& context, Task& task) {
    // TASK-8
    const auto burned =
        checked_mul_div(task.solver_bond.grains, context.params.deadline_slash_bps, kBasisPoints).value();
    const Penalty penalty{
        .role = Role::kSolver,
        .from = task.solver.value(),
        .amount = Amount{burned},
        .reason = Reason::kMissedDeadline};
    task.solver_bond = subtract(task.solver_bond, penalty.amount);
    slash(context, task, penalty);
    if (task.group && task.checkpoints >= 2) {
        task.group->counted = task.checkpoints - 1;  // GRP-6
        complete(context, task);
        return;
    }
    end_without_fraud(context, task, TaskState::kExpired);
}

void lapse_opening(Context& context, Task& task) { end_without_fraud(context, task, TaskState::kExpired); }

void lapse_drawing(Context& context, Task& task) {
    // BCN-9; what a completed task lacks the next draw shows (VER-7)
    if (task.state != TaskState::kCompleted && !get_beacon(context.state).round) {
        end_without_fraud(context, task, TaskState::kExpired);
        return;
    }
    set_task_deadline(context, task, Height{});
    set_task(context.state, task);
}

}  // namespace assay::contracts
