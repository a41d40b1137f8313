// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <verifier/plan/plan.hpp>

/// Internal to verifier/plan.
namespace assay::plan {

/// Returns the order in which each rank takes part in the items of a plan with micro-batches. It is found by playing
/// the step through: whenever a rank is free it takes, of what it has all inputs for, what the layout's Pipeline
/// prefers.
std::vector<std::vector<Item>> order_of(const Plan& plan, const program::Program& program);

}  // namespace assay::plan
