// SPDX-License-Identifier: Apache-2.0
#include <contracts/beacon/rounds.hpp>

#include <algorithm>
#include <utility>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/beacon/contributing.hpp>
#include <contracts/chain/slots.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/profiling/profiling.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/tasks/draw.hpp>
#include <contracts/tasks/lifecycle.hpp>
#include <contracts/verification/verification.hpp>

namespace assay::contracts {
namespace {

struct SeedName {
    Hash256 previous;
    std::uint64_t number = 0;
    Hash256 block_hash;
    std::vector<Contribution> contributions;
    static constexpr auto fields() {
        return Fields<&SeedName::previous, &SeedName::number, &SeedName::block_hash, &SeedName::contributions>{};
    }
};

/// BCN-4: whether the task waits for a round: its profilers, its verifiers or its lottery are to be drawn.
bool awaits_round(const Context& context, const Task& task) {
    switch (task.state) {
        case TaskState::kProfiling:
        case TaskState::kCompleted: return context.height() > get_docket(context.state, task.id).draw_after;
        case TaskState::kVerifying: return true;  // VER-10: else it would not be among those that wait
        default: return false;
    }
}

std::vector<WaitingTask> tasks_awaiting(const Context& context) {
    std::vector<WaitingTask> tasks;
    for (const TaskId& id : get_waiting(context.state)) {
        const Task task = find_task(context.state, id).value();
        if (awaits_round(context, task)) {
            const auto machine = get_hardware(context.state, Role::kSolver, task.solver.value_or(AccountId{}));
            tasks.push_back({id, machine.hardware_class});
        }
    }
    return tasks;
}

/// BCN-8: who owes a secret loses a tenth of the bond and the seat.
std::vector<history::Withheld> dismiss_withholders(Context& context, Beacon& beacon) {
    std::vector<history::Withheld> out;
    std::vector<Seat> kept;
    beacon.withheld.clear();
    for (const Seat& seat : beacon.seats) {
        if (!is_due(beacon, seat)) {
            kept.push_back(seat);
            continue;
        }
        const Amount penalty = tenth_of(seat.bond);
        Stake stake = get_stake(context.state, Role::kVerifier, seat.account);
        stake.locked = subtract(stake.locked, seat.bond);
        stake.free = add(stake.free, subtract(seat.bond, penalty));
        put_stake(context, Role::kVerifier, seat.account, stake);
        burn(context.state, penalty);
        beacon.withheld.push_back(seat.account);
        out.push_back({seat.account, penalty});
    }
    beacon.seats = std::move(kept);
    return out;
}

/// BCN-5: nothing is owed any more, or the time is over.
bool can_close(const Context& context, const Beacon& beacon) {
    return context.height().value >= beacon.round->opened_at.value + context.params.contribute_blocks ||
           std::none_of(beacon.seats.begin(), beacon.seats.end(), [&](const Seat& seat) {
               return is_due(beacon, seat);
           });
}

/// The draws of those that still wait: profilers before verifiers, since both lock verifier stake.
void draw(Context& context, const ClosedRound& round) {
    const auto of_state = [&](TaskState state, const auto& draw_for) {
        for (const WaitingTask& waiting : round.drawing.tasks) {
            Task task = find_task(context.state, waiting.task).value();
            if (task.state == state) {
                draw_for(task, waiting);
            }
        }
    };
    of_state(TaskState::kVerifying, [&](Task& task, const WaitingTask& /*waiting*/) {
        draw_lottery(context, task, round);
    });
    of_state(TaskState::kProfiling, [&](Task& task, const WaitingTask& /*waiting*/) {
        draw_profilers(context, task, round);
    });
    of_state(TaskState::kCompleted, [&](Task& task, const WaitingTask& waiting) {
        draw_verifiers(context, task, waiting.solver_class, round);
    });
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
    draw(context, closed);
}

}  // namespace

Hash256 round_seed(
    const Hash256& previous, std::uint64_t number, const Hash256& block_hash,
    const std::vector<Contribution>& contributions
) {
    static const crypto::TaggedHash kTag("assay/round");  // BCN-7
    return kTag(codec::encode(SeedName{previous, number, block_hash, contributions}));
}

Hash256 seed_of_block(const Context& context) {
    const Beacon beacon = get_beacon(context.state);
    return round_seed(beacon.seed, beacon.rounds, context.block.block_hash, {});
}

void advance_beacon(Context& context) {
    Beacon beacon = get_beacon(context.state);
    if (beacon.round) {
        if (can_close(context, beacon)) {
            close_round(context, std::move(beacon), get_drawing(context.state));
            erase_drawing(context.state);
        }
        return;  // BCN-4: who committed in this block would not be due in a round that opened with it
    }
    Drawing drawing{.tasks = tasks_awaiting(context), .verifiers = {}, .whistleblowers = {}};
    if (drawing.tasks.empty()) {
        return;
    }
    drawing.verifiers = read_pool(context.state, Role::kVerifier);
    drawing.whistleblowers = read_pool(context.state, Role::kWhistleblower);
    beacon.round = Round{context.height(), context.block.block_hash, {}};
    if (can_close(context, beacon)) {
        close_round(context, std::move(beacon), std::move(drawing));
    } else {
        set_beacon(context.state, beacon);
        set_drawing(context.state, drawing);
    }
}

void lapse_drawing(Context& context, Task& task) {
    // BCN-9, VER-7
    if (!get_beacon(context.state).round) {
        end_without_fraud(context, task, TaskState::kExpired);
        return;
    }
    set_task_deadline(context, task, Height{});
    set_task(context.state, task);
}

void fail_draw(Context& context, Task& task) {
    // BCN-9, VER-7
    if (task.deadline.value == 0 && !get_docket(context.state, task.id).suspended) {
        end_without_fraud(context, task, TaskState::kExpired);
    }
}

void record_round(Context& context, Task& task, const ClosedRound& round) {
    record(context, task, history::RoundClosed{round.number, round.seed, round.contributors, round.withheld});
}

}  // namespace assay::contracts
