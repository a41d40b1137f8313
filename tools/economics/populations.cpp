// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/populations.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace assay::economics {
namespace {

constexpr std::uint32_t kSamples = 50;
constexpr std::uint32_t kFloodEvery = 20;  // tasks
constexpr std::uint32_t kFloods = 3;       // disputes
constexpr Grains kDuties = 30;             // bonds that an account can lose before it is ruined
constexpr Grains kPopulationsRich = 100'000'000 * kGrainsPerAsy;

struct Group {
    Role role;
    Strategy strategy;
    std::uint32_t accounts;
};

const std::vector<Group>& honest_groups() {
    static const std::vector<Group> kGroups = {
        {Role::kSolver, Strategy::kHonest, 20},
        {Role::kVerifier, Strategy::kHonest, 50},
        {Role::kWatcher, Strategy::kHonest, 50},
    };
    return kGroups;
}

const std::vector<Group>& mixed_groups() {
    static const std::vector<Group> kGroups = {
        {Role::kSolver, Strategy::kHonest, 14},     {Role::kSolver, Strategy::kSkipping, 3},
        {Role::kSolver, Strategy::kFaking, 2},      {Role::kSolver, Strategy::kCoalition, 1},
        {Role::kVerifier, Strategy::kHonest, 35},   {Role::kVerifier, Strategy::kLazy, 6},
        {Role::kVerifier, Strategy::kCopying, 3},   {Role::kVerifier, Strategy::kRejecting, 2},
        {Role::kVerifier, Strategy::kCoalition, 4}, {Role::kWatcher, Strategy::kHonest, 35},
        {Role::kWatcher, Strategy::kIdle, 5},       {Role::kWatcher, Strategy::kBlind, 3},
        {Role::kWatcher, Strategy::kFollowing, 3},  {Role::kWatcher, Strategy::kCoalition, 4},
        {Role::kSybil, Strategy::kFlooding, 1},
    };
    return kGroups;
}

const std::vector<Group>& unwatched_groups() {
    static const std::vector<Group> kGroups = {
        {Role::kSolver, Strategy::kHonest, 20},
        {Role::kVerifier, Strategy::kHonest, 35},
        {Role::kVerifier, Strategy::kLazy, 15},
        {Role::kWatcher, Strategy::kHonest, 50},
    };
    return kGroups;
}

const std::vector<Group>& careless_groups() {
    static const std::vector<Group> kGroups = {
        {Role::kSolver, Strategy::kHonest, 16}, {Role::kSolver, Strategy::kSkipping, 2},
        {Role::kSolver, Strategy::kFaking, 2},  {Role::kVerifier, Strategy::kHonest, 2},
        {Role::kVerifier, Strategy::kLazy, 48}, {Role::kWatcher, Strategy::kHonest, 50},
    };
    return kGroups;
}

/// What an account needs for one duty of its role.
Grains duty(Role role, const Setting& s) {
    switch (role) {
        case Role::kSolver:
            return s.solver_bond + s.training_cost() + s.transaction_fee * (s.solver_transactions + 1);
        case Role::kVerifier:
            return (s.verifier_bond + s.challenger_bond) * s.assignments + s.verify_cost;
        case Role::kWatcher:
            return s.challenger_bond + s.verify_cost;
        case Role::kSybil:
            return s.challenger_bond * kFloods;
        default:
            return 0;
    }
}

void sample(PopulationResult& result, const Ledger& ledger, std::uint32_t played) {
    result.sampled.push_back(played);
    result.treasury.push_back(to_asy(ledger.treasury));
    std::map<std::pair<Role, Strategy>, double> sums;
    for (const Agent& agent : ledger.agents) {
        sums[{agent.role, agent.strategy}] += to_asy(agent.balance - agent.start);
    }
    for (Wealth& wealth : result.wealth) {
        wealth.change.push_back(sums[{wealth.role, wealth.strategy}] / wealth.accounts);
    }
}

PopulationResult live(
    const std::string& name, const std::string& what, const std::vector<Group>& groups, const Setting& setting,
    const Costs& costs, const PopulationOptions& options
) {
    PopulationResult result{
        .name = name, .what = what, .tasks = options.tasks, .sampled = {}, .treasury = {}, .wealth = {}};
    Ledger ledger;
    ledger.add(Role::kSubmitter, Strategy::kHonest, kPopulationsRich);
    for (const Group& group : groups) {
        const Grains least = std::max<Grains>(duty(group.role, setting), 1);
        ledger.add(group.role, group.strategy, least * kDuties, group.accounts);
        result.wealth.push_back(
            {.role = group.role, .strategy = group.strategy, .accounts = group.accounts, .change = {}}
        );
    }
    Random random(options.seed);
    const std::uint32_t every = std::max(1U, options.tasks / kSamples);
    for (std::uint32_t i = 0; i < options.tasks; ++i) {
        if (i % every == 0) {
            sample(result, ledger, i);
            if (options.progress) {
                options.progress(name, static_cast<std::uint32_t>(std::uint64_t{i} * 100 / options.tasks));
            }
        }
        Round round;
        round.floods = i % kFloodEvery == 0 ? kFloods : 0;
        const Outcome outcome = play(ledger, setting, costs, round, random);
        result.wrong += outcome.solver_was_wrong ? 1U : 0U;
        result.convicted += outcome.convicted ? 1U : 0U;
        result.convicted_honest += outcome.convicted && !outcome.solver_was_wrong ? 1U : 0U;
        result.forced += outcome.forced;
        result.jackpots += outcome.jackpots;
        result.paid_in_jackpots += to_asy(outcome.paid_in_jackpots);
    }
    sample(result, ledger, options.tasks);
    result.burned = to_asy(ledger.burned);
    for (const Agent& agent : ledger.agents) {
        for (Wealth& wealth : result.wealth) {
            const bool same = wealth.role == agent.role && wealth.strategy == agent.strategy;
            wealth.ruined += same && agent.balance < duty(agent.role, setting) ? 1U : 0U;
        }
    }
    return result;
}

}  // namespace

std::vector<PopulationResult> run_populations(
    const Setting& setting, const Costs& costs, const PopulationOptions& options
) {
    Setting unwatched = setting;
    unwatched.watchers = 0;
    unwatched.forced_rate = 0.0;
    return {
        live("honest", "everybody is honest; the treasury starts empty", honest_groups(), setting, costs, options),
        live("mixed", "every strategy at once", mixed_groups(), setting, costs, options),
        live(
            "unwatched", "honest and lazy verifiers, without forced errors and watchers", unwatched_groups(), unwatched,
            costs, options
        ),
        live(
            "careless", "what comes of that: nearly all verifiers are lazy", careless_groups(), unwatched, costs,
            options
        ),
    };
}

}  // namespace assay::economics
