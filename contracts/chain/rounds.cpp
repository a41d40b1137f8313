// SPDX-License-Identifier: Apache-2.0
#include <contracts/chain/rounds.hpp>

#include <algorithm>
#include <utility>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/beacon/contributing.hpp>
#include <contracts/params/gas.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/profiling/profiling.hpp>
#include <contracts/retention/retention.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/beacon/draw.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/tasks/tasks.hpp>
#include <contracts/lifecycle/waiting.hpp>
#include <contracts/verification/verification.hpp>
#include <contracts/beacon/rounds.hpp>
#include <contracts/params/by_value.hpp>

namespace assay::contracts {
namespace {

/// How many candidates a draw of this kind looks at; a solver's at verifiers as well, who have to consent (TRM-3).
std::size_t count_candidates(const Drawing& drawing, Queue queue) {
    switch (queue) {
        case Queue::kLottery:
            return drawing.whistleblowers.size();
        case Queue::kSolver:
            return drawing.solvers.size() + drawing.verifiers.size();
        case Queue::kVerifiers:
        case Queue::kProfilers:
            return drawing.verifiers.size();
        case Queue::kShow:
            return 0;
    }
    return drawing.verifiers.size();
}

/// BCN-4: whether an entry is for a round that opens now.
bool is_ready(const Context& context, Queue queue, const Waiting& waiting) {
    return queue == Queue::kLottery || waiting.since < context.height();
}

bool is_any_ready(const Context& context, Queue queue) {
    const auto front = front_waiting(context.state, queue);
    return front && is_ready(context, queue, *front);
}

/// Collects what a round draws for, as far as the gas for it goes.
class Collector {
  public:
    explicit Collector(Context& context) : context_(context) {}

    Drawing collect() {
        read_pools();
        for (const Queue queue : kQueues) {
            while (take_front(queue)) {
            }
        }
        return std::move(drawing_);
    }

  private:
    void read_pools() {
        const auto read = [&](Role role, bool is_needed, std::vector<Candidate>& pool) {
            if (is_needed) {
                pool = read_pool(context_.state, role);
                gas_ += pool_gas(pool.size());
            }
        };
        const bool solvers = is_any_ready(context_, Queue::kSolver);
        const bool verifiers = is_any_ready(context_, Queue::kVerifiers) || is_any_ready(context_, Queue::kProfilers);
        read(Role::kVerifier, verifiers || solvers, drawing_.verifiers);
        read(Role::kWhistleblower, is_any_ready(context_, Queue::kLottery), drawing_.whistleblowers);
        read(Role::kSolver, solvers, drawing_.solvers);
        context_.end_gas += gas_;
    }

    /// GAS-10: false when no entry is ready, or when another would be beyond the limit. One draw is always made,
    /// however large the pools are; entries that are passed over on the way to it are limited by themselves.
    bool take_front(Queue queue) {
        if (!is_any_ready(context_, queue)) {
            return false;
        }
        const std::uint64_t gas = draw_gas(queue, count_candidates(drawing_, queue), context_.params);
        const std::uint64_t taken = drawing_.tasks.empty() ? passed_over_ : gas_ + gas;
        if (taken + kGasPerEntry > context_.params.end_block_gas_max / 2) {
            return false;
        }
        const TaskId id = front_waiting(context_.state, queue)->task;
        pop_waiting(context_.state, queue);
        gas_ += kGasPerEntry;
        context_.end_gas += kGasPerEntry;
        const Task task = find_task(context_.state, id).value();
        if (queue_of(task) == queue) {
            drawing_.tasks.push_back(id);
            gas_ += gas;
        } else {
            passed_over_ += kGasPerEntry;
        }
        return true;
    }

    Context& context_;
    Drawing drawing_;
    std::uint64_t gas_ = 0;          ///< of the pools, of what was looked at, and of the draws to come
    std::uint64_t passed_over_ = 0;  ///< of the entries whose tasks wait no more
};

/// BCN-9, TASK-18: a draw for the task has failed; it waits for another after a pause, unless its deadline had passed.
/// Stores the task.
void fail_draw(Context& context, Task& task, Pause pause) {
    // BCN-9, TASK-18
    const bool is_kept = task.state == TaskState::kKept;  // RET-4: no deadline runs
    if (!is_kept && task.deadline.value == 0 && task.open_disputes == 0 &&
        !get_bookkeeping(context.state, task.id).suspended) {
        const bool waits_for_room = pause == Pause::kForRoom && task.state == TaskState::kCompleted;  // DTY-7
        if (!waits_for_room && !waits_on(context, task)) {
            end_without_fraud(context, task, TaskState::kExpired);
            return;
        }
        return_tenths(context, task);
        set_task_deadline(context, task, context.height_after(context.params.draw_blocks));  // VER-7
    }
    pause_draw(context, task, pause);
    set_task(context.state, task);
}

std::optional<Pause> draw_of_kind(Context& context, const ClosedRound& round, Queue queue, Task& task) {
    switch (queue) {
        case Queue::kLottery:
            draw_lottery(context, task, round);
            return std::nullopt;
        case Queue::kVerifiers:
            return draw_verifiers(context, task, round);
        case Queue::kProfilers:
            return draw_profilers(context, task, round);
        case Queue::kSolver:
            return draw_solver(context, task, round);
        case Queue::kShow:
            draw_show(context, task, round);
            return std::nullopt;
    }
    return std::nullopt;
}

/// Makes one draw of the round.
void draw(Context& context, const ClosedRound& round, Queue queue, const TaskId& id) {
    Task task = find_task(context.state, id).value();
    if (queue_of(task) != queue) {
        return;
    }
    context.end_gas += draw_gas(queue, count_candidates(round.drawing, queue), context.params);
    if (!has_room_for_draw(context.state, context.params, task)) {
        fail_draw(context, task, Pause::kForRoom);  // DTY-7
        return;
    }
    if (!pay_draw(context, task)) {
        end_without_fraud(context, task, TaskState::kExpired);  // TASK-17
        return;
    }
    if (const auto pause = draw_of_kind(context, round, queue, task)) {
        fail_draw(context, task, *pause);
    }
}

void close_round(Context& context, Beacon beacon, Drawing drawing) {
    std::vector<history::Withheld> withheld = dismiss_withholders(context, beacon);
    const auto& contributions = beacon.round.value().contributions;
    beacon.seed = round_seed(beacon.seed, beacon.rounds, beacon.round->block_hash, contributions);
    const ClosedRound closed{
        .number = beacon.rounds,
        .seed = beacon.seed,
        .contributors = static_cast<std::uint32_t>(contributions.size()),
        .withheld = std::move(withheld),
        .drawing = std::move(drawing)};
    ++beacon.rounds;
    beacon.round.reset();
    set_beacon(context.state, beacon);
    for (const Queue queue : kQueues) {
        for (const TaskId& id : closed.drawing.tasks) {
            draw(context, closed, queue, id);
        }
    }
}

}  // namespace

void advance_beacon(Context& context) {
    Beacon beacon = get_beacon(context.state);
    if (beacon.round) {
        if (can_close(context, beacon)) {
            close_round(context, std::move(beacon), get_drawing(context.state));
            erase_drawing(context.state);
        }
        return;  // BCN-4: who committed in this block would not be due in a round that opened with it
    }
    Drawing drawing = Collector(context).collect();
    if (drawing.tasks.empty()) {
        return;
    }
    beacon.round = Round{context.height(), context.block.block_hash, {}};
    if (can_close(context, beacon)) {
        close_round(context, std::move(beacon), std::move(drawing));
    } else {
        set_beacon(context.state, beacon);
        set_drawing(context.state, drawing);
    }
}

}  // namespace assay::contracts
