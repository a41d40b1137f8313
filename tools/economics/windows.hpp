// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <tools/economics/constraints.hpp>

/// The constraints behind the time windows in which an honest account must act.
namespace assay::economics {

/// For one kind of task: TASK-6, BCN-5, VER-4, VER-11, VER-13, DSP-32, DSP-33, WRK-5.
std::vector<Constraint> window_constraints(const Parameters& parameters, const Costs& costs, const TaskCosts& task);

}  // namespace assay::economics
