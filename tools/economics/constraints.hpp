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

/// The conditions of one task. Those of the beacon are of a task of its kind that is as dear as the chain admits, and
/// there are none of a task that it refuses: what it draws must protect all that it admits, and no more.
std::vector<Constraint> check(const Parameters& parameters, const Costs& costs, const TaskCosts& task);

/// TASK-14: whether the chain lets such a task in.
bool is_admitted(const Parameters& parameters, const Costs& costs, const TaskCosts& task);

/// What a contributor's bond has to be, in ASY.
struct ContributorBond {
    double draws = 0.0;     ///< so that withholding secrets does not pay accomplices of a solver that skips
    double watching = 0.0;  ///< so that the jackpots that it bounds are worth a replay
    double both() const { return draws > watching ? draws : watching; }
};
/// For one task as it is, and for the dearest of its kind that the parameters admit.
ContributorBond contributor_bond_for(const Setting& setting, const Costs& costs);
ContributorBond contributor_bond_for(const Parameters& parameters, const Costs& costs, const TaskCosts& task);
/// In ASY, for the dearest of each kind in `costs` of which the parameters admit a task.
double contributor_bond_needed(const Parameters& parameters, const Costs& costs);
/// TASK-17: what the contributors of a full beacon pay for the secrets of one round.
Grains draw_price_needed(const Costs& costs);
/// WRK-4: blocks that a segment of such a task takes.
double replay_blocks_needed(const Costs& costs, const TaskCosts& task);
/// In grains for 10^9 multiply-adds (WRK-6).
double work_price_needed(const Costs& costs);

/// Of the conditions, whether a task refills the jackpots that its verdicts cost.
Constraint treasury_constraint(const Setting& setting, const Costs& costs);

}  // namespace assay::economics
