// SPDX-License-Identifier: Apache-2.0
#include <contracts/tasks/draw.hpp>

#include <algorithm>
#include <utility>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/beacon/rounds.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/stake/terms.hpp>
#include <contracts/tasks/lifecycle.hpp>
#include <contracts/tasks/tasks.hpp>
#include <contracts/tasks/waiting.hpp>
#include <contracts/tasks/work.hpp>

namespace assay::contracts {
namespace {

/// TASK-6, TASK-15: whether the account may be drawn: its free stake covers the task's bond, it is listed, and it has not
/// declined such a task of late.
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
    return offer.state == TaskState::kDrawn && offer.solver == account && task_value(task.spec) <= task_value(offer.spec);
}

}  // namespace

Hash256 draw_randomness(const Hash256& seed, const DrawName& name) {
    static const crypto::TaggedHash kTag("assay/draw");
    return kTag(seed.view(), codec::encode(name));
}

std::uint64_t reduce(const Hash256& randomness, std::uint64_t bound) noexcept {
    ASSERT(bound != 0);
    __extension__ using Wide = unsigned __int128;
    Wide number = 0;
    for (std::size_t i = 16; i-- > 0;) {
        number = (number << 8U) | randomness.data[i];
    }
    return static_cast<std::uint64_t>(number % bound);
}

std::uint64_t to_seed(const Hash256& randomness) noexcept {
    std::uint64_t seed = 0;
    for (std::size_t i = 8; i-- > 0;) {
        seed = (seed << 8U) | randomness.data[i];
    }
    return seed;
}

std::optional<std::size_t> draw_weighted(std::span<const Candidate> candidates, const Hash256& randomness) noexcept {
    std::uint64_t total = 0;  // cannot overflow: it is part of the supply
    for (const Candidate& candidate : candidates) {
        total += candidate.weight;
    }
    if (total == 0) {
        return std::nullopt;
    }
    std::uint64_t point = reduce(randomness, total);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (point < candidates[i].weight) {
            return i;
        }
        point -= candidates[i].weight;
    }
    return std::nullopt;
}

std::optional<AccountId> draw_able(
    std::vector<Candidate> candidates, const Hash256& seed, const DrawName& name,
    const std::function<bool(const AccountId&)>& is_able
) {
    // BCN-10
    const auto draw_one = [&](const Hash256& randomness) -> std::optional<AccountId> {
        const auto place = draw_weighted(candidates, randomness);
        return place ? std::optional{candidates[*place].account} : std::nullopt;
    };
    const Hash256 first = draw_randomness(seed, name);
    const auto drawn = draw_one(first);
    if (!drawn || is_able(*drawn)) {
        return drawn;
    }
    for (Candidate& candidate : candidates) {
        candidate.weight = candidate.weight != 0 && is_able(candidate.account) ? candidate.weight : 0;
    }
    return draw_one(draw_randomness(first, name));
}

std::vector<Candidate> read_pool(const StateView& view, Role role) {
    std::vector<Candidate> pool;
    for (const AccountId& account : get_stakers(view, role)) {
        const bool has_machine = role == Role::kSolver || role == Role::kVerifier;
        const Stake stake = get_stake(view, role, account);
        pool.push_back(
            {account, stake.free.grains, has_machine ? get_terms(view, role, account).terms : Terms{}, stake.locked.grains}
        );
    }
    return pool;
}

bool has_quorum(const Params& params, const Task& task, Amount needed, std::vector<Candidate> verifiers) {
    const bool is_any_free = std::any_of(verifiers.begin(), verifiers.end(), [&](const Candidate& candidate) {
        return candidate.weight >= needed.grains && candidate.account != task.submitter &&
               consents(params, task.spec, candidate.terms);
    });
    // Who is busy has a voice: else a few who keep their stake free would decide alone while the others work.
    for (Candidate& candidate : verifiers) {
        candidate.weight += candidate.locked;  // below the supply
    }
    std::erase_if(verifiers, [&](const Candidate& candidate) {
        return candidate.weight < needed.grains || candidate.account == task.submitter;
    });
    return is_any_free && is_consented(params, task.spec, verifiers);
}

void draw_solver(Context& context, Task& task, const ClosedRound& round) {
    const Amount needed = verifier_needs(context.params, task_value(task.spec));
    if (!has_quorum(context.params, task, needed, round.drawing.verifiers)) {
        fail_draw(context, task);  // TRM-3: before anybody works for it
        return;
    }
    // BCN-11
    const Amount bond = solver_bond(context.params, task_value(task.spec));
    std::vector<Candidate> candidates = of_class(task.spec.hardware_class, round.drawing.solvers);
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
        fail_draw(context, task, is_any_asked ? Pause::kShort : Pause::kDoubled);
        return;
    }
    Stake stake = get_stake(context.state, Role::kSolver, *solver);
    stake.offer = task.id;
    put_stake(context, Role::kSolver, *solver, stake);
    task.solver_bond = offer_bond(context.params, task.spec);
    lock_stake(context, Role::kSolver, *solver, task.solver_bond);
    record_round(context, task, round);
    task.solver = *solver;
    record(context, task, history::SolverDrawn{*solver});
    enter_state(context, task, TaskState::kDrawn, context.height_after(context.params.accept_blocks));
    set_task(context.state, task);
}

}  // namespace assay::contracts
