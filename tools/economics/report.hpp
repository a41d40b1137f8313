// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tools/economics/attacks.hpp>
#include <tools/economics/liability.hpp>
#include <tools/economics/populations.hpp>
#include <tools/economics/solve.hpp>

namespace assay::economics {

/// The work of one verifier for a task and of all verification, relative to the cost of training.
struct Work {
    std::string task;
    std::uint32_t segments = 0;
    double verifier = 0.0;      ///< of one assignment: fetch, replay, three transactions
    double verification = 0.0;  ///< of all assignments
    double watching = 0.0;      ///< of all watches
};
/// Upper limit for the whole work of one verifier on a task of 100 checkpoints.
inline constexpr double kMostVerifierWork = 0.011;

/// What a solver gains by skipping a number of segments, if it disputes itself when it is found out.
struct Skipping {
    std::uint32_t skipped = 0;
    double share = 0.0;
    double detection = 0.0;
    double gain = 0.0;  ///< ASY, relative to honest training
};
/// From one segment to all of them; the second smallest share is 5 % if there are enough segments.
std::vector<Skipping> skipping_of(const Setting& setting, const Costs& costs);

/// What an unnecessary dispute costs the account that opens it and the one that defends, in ASY. Both may be repeated
/// without end.
struct Griefing {
    double attacker_loss = 0.0;
    double defender_cost = 0.0;
    double defender_gain = 0.0;  ///< the winner's share minus that cost
};
Griefing griefing_of(const Setting& setting);

struct Report {
    bool solved = false;  ///< true: the parameters were solved for, not given
    Parameters parameters;
    std::vector<Constraint> constraints;
    std::vector<Binding> binding;
    double overhead = 0.0;
    std::uint32_t candidates = 0;
    std::uint32_t feasible = 0;
    std::vector<Work> work;
    std::vector<Refusal> refused;
    std::vector<Constraint> chain_failures;  ///< constraints that the chain's default parameters fail
    std::vector<Refusal> chain_refused;
    std::string task;  ///< the task that the attacks and populations use
    Setting setting;
    std::vector<Skipping> skipping;
    Griefing griefing;
    std::vector<Liability> liability;
    std::vector<Voluntary> voluntary;
    std::uint32_t least_segments = 0;  ///< for that task
    double treasury_start = 0.0;       ///< treasury, in ASY, with which watching that task pays from the first block on
    std::vector<AttackResult> attacks;
    std::vector<PopulationResult> populations;
    std::uint64_t seed = 0;
};

std::vector<Work> work_of(const Parameters& parameters, const Costs& costs);

/// Amounts of the chain are decimal strings in grains; gains, wealth and needs are numbers in ASY.
nlohmann::json to_json(const Report& report);
nlohmann::json to_json(const Parameters& parameters);
nlohmann::json to_json(const Constraint& constraint);

}  // namespace assay::economics
