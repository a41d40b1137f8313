// SPDX-License-Identifier: Apache-2.0
#include <contracts/lifecycle/waiting.hpp>

#include <algorithm>

#include <core/codec/borsh.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/lifecycle/lifecycle.hpp>

namespace assay::contracts {
namespace {

constexpr std::uint64_t kRecordBytes = 512;  ///< of a task, around its spec
constexpr std::uint64_t kBlocksPerPrice = 1'000;
constexpr std::uint32_t kLongestPause = 8;      ///< doublings
constexpr std::uint64_t kDrawsOfVerifiers = 2;  ///< they themselves, and the lottery

/// PAR-9: bytes are below 2^25, blocks at most 2^30 and the price below 2^17, so the result is below 2^63.
Amount room_for(const Params& params, const TaskSpec& spec, std::uint64_t blocks) {
    const std::uint64_t bytes = codec::encode(spec).size() + kRecordBytes;
    return Amount{checked_mul_div(bytes * blocks, params.room_price.grains, kBlocksPerPrice).value()};
}

Amount price_of_draws(const Params& params, std::uint64_t draws) {
    return Amount{checked_mul(params.draw_price.grains, draws).value()};
}

void burn_room(Context& context, Task& task, Amount amount) {
    const Amount taken = std::min(amount, task.room);
    if (taken.grains != 0) {
        task.room = subtract(task.room, taken);
        burn(context.state, taken);
        record(context, task, history::Paid{AccountId{}, taken, Reason::kRoom});
    }
}

}  // namespace

Amount waiting_deposit(const Params& params, const TaskSpec& spec) noexcept {
    return add(
        room_for(params, spec, params.draw_blocks),
        price_of_draws(params, std::uint64_t{params.draws_max} + kDrawsOfVerifiers)
    );
}

Amount offer_bond(const Params& params, const TaskSpec& spec) noexcept {
    return std::min(Amount{params.draw_price.grains / 2}, solver_bond(params, task_value(spec)));
}

void await_draw(Context& context, const Task& task) {
    push_waiting(context.state, queue_of(task).value(), {task.id, context.height()});
}

void pause_draw(Context& context, const Task& task, Pause pause) {
    TaskBookkeeping bookkeeping = get_bookkeeping(context.state, task.id);
    std::uint64_t blocks = context.params.redraw_blocks;
    if (pause == Pause::kDoubled) {
        blocks <<= std::min(bookkeeping.draws, kLongestPause);
        ++bookkeeping.draws;
        set_bookkeeping(context.state, task.id, bookkeeping);
    }
    enter_agenda(context.state, {DueKind::kDraw, retag<Hash256>(task.id)}, context.height_after(blocks));
}

void queue_for_draw(Context& context, const TaskId& id) {
    const Task task = find_task(context.state, id).value();
    if (queue_of(task)) {
        await_draw(context, task);
    }
}

bool pay_draw(Context& context, Task& task) {
    const bool is_open = task.state == TaskState::kOpen || task.state == TaskState::kProfiling;
    if (is_open && task.room < price_of_draws(context.params, kDrawsOfVerifiers + 1)) {
        return false;
    }
    burn_room(context, task, context.params.draw_price);
    return true;
}

void refill_room(Context& context, Task& task) {
    if (task.solver_bond.grains != 0) {
        task.room = add(task.room, task.solver_bond);
        record(context, task, history::Slashed{task.solver.value(), task.solver_bond, Amount{}, Reason::kRoom});
        task.solver_bond = {};
    }
}

void pay_room(Context& context, Task& task) {
    const std::uint64_t waited = context.height().value - task.submitted_at.value;
    burn_room(
        context, task, room_for(context.params, task.spec, std::min<std::uint64_t>(waited, context.params.draw_blocks))
    );
}

void return_room(Context& context, Task& task) {
    if (task.room.grains != 0) {
        credit(context.state, task.submitter, task.room);
        record(context, task, history::Paid{task.submitter, task.room, Reason::kRoom});
        task.room = {};
    }
}

void await_verifiers(Context& context, Task& task) {
    // VER-7
    TaskBookkeeping bookkeeping = get_bookkeeping(context.state, task.id);
    bookkeeping.draws = 0;
    set_bookkeeping(context.state, task.id, bookkeeping);
    enter_state(context, task, TaskState::kCompleted, context.height_after(context.params.draw_blocks));
    set_task(context.state, task);
    await_draw(context, task);
}

void begin_profiling(Context& context, Task& task) {
    // PRF-1
    task.tolerance = Tolerance{};
    enter_state(context, task, TaskState::kProfiling, context.height_after(context.params.draw_blocks));
    await_draw(context, task);
}

}  // namespace assay::contracts
