// SPDX-License-Identifier: Apache-2.0
#include <contracts/retention/retention.hpp>

#include <algorithm>

#include <contracts/beacon/draw.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/lifecycle/waiting.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/state/slots.hpp>

namespace assay::contracts {
namespace {

/// RET-5: what each of the shows that are left earns; the last one earns all that is left.
Amount share_of(const Task& task) {
    const Keeping& keeping = task.keeping.value();
    return Amount{task.escrow.grains / (keeping.shows_due - keeping.shows)};
}

}  // namespace

void draw_show(Context& context, Task& task, const ClosedRound& round) {
    // RET-4
    Keeping& keeping = task.keeping.value();
    keeping.is_waiting = false;
    keeping.seed = round.seed;
    record_round(context, task, round);
    hold_lane(context, task);
    set_task_deadline(context, task, context.height_after(context.params.retention_show_blocks));
    record(context, task, history::ShowDrawn{keeping.shows, task.deadline});
    set_task(context.state, task);
}

void lapse_keeping(Context& context, Task& task) {
    if (task.keeping.value().seed) {
        end_keeping(context, task, false);  // RET-6
        return;
    }
    // RET-4
    task.keeping->is_waiting = true;
    set_task_deadline(context, task, Height{});
    set_task(context.state, task);
    await_draw(context, task);
}

DrawnTile shown_tile(const Task& task) {
    // RET-4
    const Keeping& keeping = task.keeping.value();
    const auto draw = [&](std::uint32_t part) {
        return draw_randomness(keeping.seed.value(), DrawName{task.id, DrawKind::kShow, part, keeping.shows});
    };
    return {
        .checkpoint = task.checkpoints - 1,
        .tensor = static_cast<std::uint32_t>(reduce(draw(0), drawn_among(task.spec))),
        .number = to_seed(draw(1))};
}

Result<void, TxError> check_stateless(const ShowResult& action) noexcept { return check_opening(action.opening); }

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const ShowResult& action
) noexcept {
    // RET-5
    TRY_ASSIGN(const Task task, require_task(view, action.task));
    TRY(require_state(task, TaskState::kKept, TaskState::kKept));
    if (task.solver != sender) {
        return Unexpected{TxError::kNotSolver};
    }
    if (!task.keeping.value().seed) {
        return Unexpected{TxError::kNotAsked};
    }
    return check_drawn(view, task, shown_tile(task), action.opening);
}

Result<void, TxError> execute(Context& context, const ShowResult& action) noexcept {
    // RET-5
    Task task = find_task(context.state, action.task).value();
    Keeping& keeping = task.keeping.value();
    const Amount share = share_of(task);
    record(context, task, history::ResultShown{keeping.shows});
    if (share.grains != 0) {
        task.escrow = subtract(task.escrow, share);
        credit(context.state, context.actor, share);
        record(context, task, history::Paid{context.actor, share, Reason::kRetention});
    }
    ++keeping.shows;
    keeping.seed.reset();
    if (keeping.shows == keeping.shows_due) {
        end_keeping(context, task, true);
        return {};
    }
    hold_lane(context, task);
    set_task_deadline(context, task, std::max(next_show(task), context.height_after(1)));
    set_task(context.state, task);
    return {};
}

}  // namespace assay::contracts
