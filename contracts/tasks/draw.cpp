// SPDX-License-Identifier: Apache-2.0
#include <contracts/tasks/draw.hpp>

#include <algorithm>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/beacon/rounds.hpp>
#include <contracts/chain/slots.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/stake/hardware.hpp>
#include <contracts/tasks/lifecycle.hpp>
#include <contracts/tasks/tasks.hpp>

namespace assay::contracts {
namespace {

/// TASK-6: whose free stake covers the task's bond; those who let it lapse only when nobody else can be drawn.
std::vector<Candidate> candidates_for(
    const std::vector<Candidate>& pool, Amount bond, const std::vector<AccountId>& lapsed
) {
    std::vector<Candidate> able;
    std::vector<Candidate> fresh;
    for (const Candidate& candidate : pool) {
        if (candidate.weight < bond.grains) {
            continue;
        }
        able.push_back(candidate);
        if (std::find(lapsed.begin(), lapsed.end(), candidate.account) == lapsed.end()) {
            fresh.push_back(candidate);
        }
    }
    return fresh.empty() ? able : fresh;
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
    std::vector<Candidate> candidates, std::uint32_t preferred_class, const Hash256& seed, const DrawName& name,
    const std::function<bool(const AccountId&)>& is_able
) {
    // BCN-10
    const auto draw_one = [&](const Hash256& randomness) -> std::optional<AccountId> {
        auto preferred = candidates;
        prefer_class(preferred_class, preferred);
        const auto place = draw_weighted(preferred, randomness);
        return place ? std::optional{preferred[*place].account} : std::nullopt;
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
        pool.push_back(
            {account, get_stake(view, role, account).free.grains,
             has_machine ? get_hardware(view, role, account).hardware_class : 0}
        );
    }
    return pool;
}

void draw_solvers(Context& context) {
    const std::vector<TaskId> waiting = get_waiting(context.state);
    if (waiting.empty()) {
        return;
    }
    const auto pool = read_pool(context.state, Role::kSolver);
    const Hash256 seed = seed_of_block(context);  // BCN-11
    for (const TaskId& id : waiting) {
        Task task = find_task(context.state, id).value();
        if (task.state != TaskState::kOpen) {
            continue;
        }
        const Amount bond = solver_bond(context.params, task_value(task.spec));
        const auto registered = of_class(task.spec.hardware_class, pool);
        const auto candidates = candidates_for(registered, bond, get_docket(context.state, id).lapsed);
        const auto drawn = draw_weighted(candidates, draw_randomness(seed, {id, DrawKind::kSolver, 0, 0}));
        if (!drawn) {
            continue;
        }
        task.solver = candidates[*drawn].account;
        record(context, task, history::SolverDrawn{*task.solver});
        enter_state(context, task, TaskState::kDrawn, context.height_after(context.params.accept_blocks));
        set_task(context.state, task);
        remove_waiting(context.state, id);
    }
}

}  // namespace assay::contracts
