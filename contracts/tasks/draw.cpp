// SPDX-License-Identifier: Apache-2.0
#include <contracts/tasks/tasks.hpp>

#include <algorithm>
#include <utility>

#include <contracts/beacon/draw.hpp>
#include <contracts/lifecycle/keys.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/lifecycle/waiting.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/params/work.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/stake/terms.hpp>
#include <contracts/state/slots.hpp>

namespace assay::contracts {

namespace {

/// TASK-6, TASK-15: whether the account may be drawn: its free stake covers the task's bond, it is listed, and it has
/// not declined such a task of late.
bool is_able(const Context& context, const Task& task, const Stake& stake) {
    const Amount value = task_value(task.spec);
    const bool has_declined = stake.declined_until > context.height() && value <= stake.declined_value;
    return stake.free >= solver_bond(context.params, value) && !stake.is_unlisted && !has_declined;
}

/// TASK-19: whether it has yet to answer for a task that is worth as much.
bool is_asked(const Context& context, const Task& task, const AccountId& account, const Stake& stake) {
    if (!stake.offer) {
        return false;
    }
    const Task offer = find_task(context.state, *stake.offer).value();
    return offer.state == TaskState::kDrawn && offer.solver == account &&
           task_value(task.spec) <= task_value(offer.spec);
}

}  // namespace

std::optional<Pause> draw_solver(Context& context, Task& task, const ClosedRound& round) {
    const Amount needed = verifier_needs(context.params, task_value(task.spec));
    if (!has_quorum(context.params, task, needed, round.drawing.verifiers)) {
        return Pause::kDoubled;  // TRM-3: before anybody works for it
    }
    // BCN-11
    const Amount bond = solver_bond(context.params, task_value(task.spec));
    std::vector<Candidate> candidates = suited(task.spec, round.drawing.solvers);
    std::erase_if(candidates, [&](const Candidate& candidate) { return candidate.weight < bond.grains; });
    const DrawName name{task.id, DrawKind::kSolver, 0, 0};
    bool is_any_asked = false;
    const auto solver = draw_able(std::move(candidates), round.seed, name, [&](const AccountId& account) {
        const Stake stake = get_stake(context.state, Role::kSolver, account);
        const bool is = is_able(context, task, stake);
        const bool waits = is && is_asked(context, task, account, stake);
        is_any_asked = is_any_asked || waits;
        return is && !waits;
    });
    if (!solver) {
        return is_any_asked ? Pause::kShort : Pause::kDoubled;
    }
    Stake stake = get_stake(context.state, Role::kSolver, *solver);
    stake.offer = task.id;
    put_stake(context, Role::kSolver, *solver, stake);
    task.solver_bond = offer_bond(context.params, task.spec);
    lock_stake(context, Role::kSolver, *solver, task.solver_bond);
    record_round(context, task, round);
    task.solver = *solver;
    record(context, task, history::SolverDrawn{*solver});
    if (task.secrecy) {
        task.secrecy = Secrecy{};  // PRV-2: the checkpoints get a key that no solver before this one has
    }
    const Height until = await_keys(context, task, {&*solver, 1}, accept_span(context.params, task.spec));  // PRV-3
    enter_state(context, task, TaskState::kDrawn, until);
    set_task(context.state, task);
    return std::nullopt;
}

}  // namespace assay::contracts
