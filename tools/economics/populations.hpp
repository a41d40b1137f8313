// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tools/economics/world.hpp>

namespace assay::economics {

/// Average change of wealth of the accounts with one role and strategy, in ASY, at each sample of the population.
struct Wealth {
    Role role = Role::kSolver;
    Strategy strategy = Strategy::kHonest;
    std::uint32_t accounts = 0;
    std::uint32_t ruined = 0;  ///< number of accounts that cannot afford any duty at the end
    std::vector<double> change;
};

/// The result of thousands of tasks in one world, in which accounts of every kind live on what they earn.
struct PopulationResult {
    std::string name;
    std::string what;
    std::uint32_t tasks = 0;  ///< including those that found no solver
    std::uint32_t wrong = 0;  ///< tasks whose solver cheated
    std::uint32_t convicted = 0;
    std::uint32_t convicted_honest = 0;
    std::uint32_t forced = 0;
    std::uint32_t jackpots = 0;
    double paid_in_jackpots = 0.0;       ///< ASY
    double burned = 0.0;                 ///< ASY
    std::vector<std::uint32_t> sampled;  ///< tasks played at each sample
    std::vector<double> treasury;        ///< in ASY, at each sample
    std::vector<Wealth> wealth;
};

struct PopulationOptions {
    std::uint32_t tasks = 5'000;
    std::uint64_t seed = 1;
    std::function<void(const std::string& name, std::uint32_t percent)> progress;  ///< may be empty
};

/// Runs four worlds: all honest; all strategies together; honest and lazy verifiers without forced errors and watchers,
/// where laziness pays; and nearly all verifiers lazy, where cheating solvers earn more than honest ones.
std::vector<PopulationResult> run_populations(
    const Setting& setting, const Costs& costs, const PopulationOptions& options
);

}  // namespace assay::economics
