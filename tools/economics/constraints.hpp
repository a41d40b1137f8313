// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tools/economics/setting.hpp>

namespace assay::economics {

/// A condition under which honesty is a role's best reply, for one kind of task: `have` must be at least `need`.
struct Constraint {
    std::string name = {};       ///< "verifier.lazy"
    std::string role = {};       ///< the role that it keeps honest
    std::string parameter = {};  ///< the parameter that satisfies it
    std::string task = {};
    double have = 0.0;
    double need = 0.0;
    std::string unit = {};  ///< "ASY", "bps", "blocks", or empty
    std::string meaning = {};
    std::string help = {};  ///< what would satisfy it

    bool holds() const { return have >= need; }
    /// Returns the margin: below 1 the constraint fails, 1 is the limit.
    double slack() const;
};

/// Checks all constraints for all tasks of `costs`.
std::vector<Constraint> check(const Parameters& parameters, const Costs& costs);

/// Checks the constraints of one task. Those of the beacon apply to the most expensive task of its kind that the chain
/// admits; a refused task has none. What is drawn must protect exactly the tasks that are admitted.
std::vector<Constraint> check(const Parameters& parameters, const Costs& costs, const TaskCosts& task);

/// TASK-14: returns true if the chain admits such a task.
bool is_admitted(const Parameters& parameters, const Costs& costs, const TaskCosts& task);

/// The bond that a contributor needs, in ASY.
struct ContributorBond {
    double draws = 0.0;     ///< so that withholding secrets does not pay for accomplices of a solver that skips work
    double watching = 0.0;  ///< so that the jackpots, which this bond limits, are worth a replay
    double both() const { return draws > watching ? draws : watching; }
};
/// For one task as it is, and for the most expensive task of its kind that the parameters admit.
ContributorBond contributor_bond_for(const Setting& setting, const Costs& costs);
ContributorBond contributor_bond_for(const Parameters& parameters, const Costs& costs, const TaskCosts& task);
/// In ASY, for the most expensive task that the parameters admit, of each kind in `costs`.
double contributor_bond_needed(const Parameters& parameters, const Costs& costs);
/// TASK-17: what the contributors of a full beacon pay to submit the secrets of one round.
Grains draw_price_needed(const Costs& costs);
/// WRK-4: number of blocks that a segment of such a task takes.
double replay_blocks_needed(const Costs& costs, const TaskCosts& task);
/// In grains per 10^9 multiply-adds (WRK-6).
double work_price_needed(const Costs& costs);

/// The constraint that a task pays the treasury as much as its verdicts' jackpots cost.
Constraint treasury_constraint(const Setting& setting, const Costs& costs);

}  // namespace assay::economics
