// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tools/economics/setting.hpp>

namespace assay::economics {

/// One condition under which honesty is a role's best reply, for one kind of task: `have` is at least `need`.
struct Constraint {
    std::string name = {};       ///< "verifier.lazy"
    std::string role = {};       ///< whose honesty it keeps
    std::string parameter = {};  ///< what satisfies it
    std::string task = {};
    double have = 0.0;
    double need = 0.0;
    std::string unit = {};  ///< "ASY", "bps", "blocks", or empty
    std::string meaning = {};
    std::string help = {};  ///< what would satisfy it

    bool holds() const { return have >= need; }
    /// How far from failing: 1 is on the edge.
    double slack() const;
};

/// All conditions for all tasks of `costs`.
std::vector<Constraint> check(const Parameters& parameters, const Costs& costs);

/// The conditions of one task, with the parameters that `setting` was made with.
std::vector<Constraint> check(
    const Setting& setting, const Parameters& parameters, const Costs& costs, const std::string& task
);

/// What a contributor's bond has to be, in ASY, so that accomplices of a solver that skips do not withhold secrets until
/// no draw tells, and those of a verifier not for its jackpot.
double contributor_bond_for_draws(const Setting& setting, const Costs& costs);
double contributor_bond_for_jackpots(const Setting& setting, const Costs& costs);

/// Of the conditions, whether a task refills the jackpots that its verdicts cost.
Constraint treasury_constraint(const Setting& setting, const Costs& costs);

}  // namespace assay::economics
