// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <tools/economics/constraints.hpp>

/// The constraints behind the parameters of waiting: how often solvers are drawn, for how long, and what room costs.
namespace assay::economics {

/// So long that accounts that declined leave enough draws to others to find a solver (TASK-15, TASK-18).
double decline_blocks_needed(const Parameters& parameters);
/// How long an assignment for such a task locks its verifier's bond if there is no dispute, times the safety factor.
double draw_blocks_needed(const Parameters& parameters, const Costs& costs, const TaskCosts& task);
/// So short that a task whose draws fail still has one left after `draw_blocks` (TASK-17, TASK-18).
double redraw_blocks_needed(const Parameters& parameters);

/// For one kind of task: TASK-8, TASK-15, TASK-17, TASK-18, VER-7, AVL-3, AVL-7, WRK-3.
std::vector<Constraint> waiting_constraints(
    const Setting& setting, const Parameters& parameters, const Costs& costs, const TaskCosts& task
);

}  // namespace assay::economics
