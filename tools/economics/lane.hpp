// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <tools/economics/constraints.hpp>

/// The constraints behind the lane of duties: how many tasks fit into it, and what it costs to fill it (DTY-4 to
/// DTY-8).
namespace assay::economics {

/// Assumes that all tasks that are judged at the same time are like `task`.
std::vector<Constraint> lane_constraints(const Parameters& parameters, const Costs& costs, const TaskCosts& task);

}  // namespace assay::economics
