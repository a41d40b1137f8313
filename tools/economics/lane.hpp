// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <tools/economics/constraints.hpp>

/// What the lane of duties stands on: how many tasks find room in it, and what it costs to fill it (DTY-4 to DTY-8).
namespace assay::economics {

/// As if all tasks that are judged at once were like `task`.
std::vector<Constraint> lane_constraints(const Parameters& parameters, const Costs& costs, const TaskCosts& task);

}  // namespace assay::economics
