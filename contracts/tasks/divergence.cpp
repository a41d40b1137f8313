// SPDX-License-Identifier: Apache-2.0
#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/tasks/seats.hpp>
#include <contracts/tasks/tasks.hpp>

namespace assay::contracts {

Result<void, TxError> check_stateless(const DeclareDivergence& action) noexcept {
    if (!is_location(action.location) || !dispute::is_well_formed(action.opening)) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const DeclareDivergence& action
) noexcept {
    TRY_ASSIGN(const Task task, require_task_to_post(view, action.task, sender));
    const std::uint32_t segment = task.checkpoints;
    const std::uint64_t first = first_step(task.spec, segment);
    if (segment < first_segment(task.spec) || segment > segment_count(task.spec) || action.step < first ||
        action.step - first >= step_count(task.spec, segment)) {
        return Unexpected{TxError::kCheckpointOrder};  // TASK-7
    }
    if (!dispute::shows_divergence(action.opening, action.state_root, task.spec.program.state_tensors)) {
        return Unexpected{TxError::kNoDivergence};  // TASK-13
    }
    if (action.sealed.has_value() != task.spec.privacy.has_value()) {
        return Unexpected{TxError::kSealedMismatch};  // PRV-6
    }
    return {};
}

Result<void, TxError> check_owed(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const DeclareDivergence& action,
    Height height
) noexcept {
    return check_turn(view, action.task, sender, height);
}

Result<void, TxError> execute(Context& context, const DeclareDivergence& action) noexcept {
    // TASK-13
    TRY(check_turn(context.state, action.task, context.actor, context.height()));
    Task task = find_task(context.state, action.task).value();
    note_poster(task, context.actor);
    const std::uint32_t index = task.checkpoints;
    set_checkpoint(
        context.state, task.id, index, {action.state_root, action.location, context.height(), action.sealed}
    );
    ++task.checkpoints;
    task.diverged_at = action.step;
    record(context, task, history::Diverged{index, action.step, action.state_root, action.sealed});
    complete(context, task);
    return {};
}

}  // namespace assay::contracts
