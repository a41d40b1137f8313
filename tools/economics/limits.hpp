// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <tools/economics/constraints.hpp>

/// The constraints behind the limits of a block, the price of gas and the memory of machines.
namespace assay::economics {

/// They are the same for every kind of task: FEE-2, GAS-7, GAS-10, TRM-1.
std::vector<Constraint> limit_constraints(const Parameters& parameters, const Costs& costs, const TaskCosts& task);

}  // namespace assay::economics
