// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <tools/economics/constraints.hpp>

/// What the parameters of waiting stand on: how often is drawn, for how long, and what room costs.
namespace assay::economics {

/// For one kind of task: TASK-8, TASK-17, TASK-18, AVL-3, AVL-7, WRK-3.
std::vector<Constraint> waiting_constraints(
    const Setting& setting, const Parameters& parameters, const Costs& costs, const TaskCosts& task
);

}  // namespace assay::economics
