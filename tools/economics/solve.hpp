// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tools/economics/constraints.hpp>

namespace assay::economics {

/// Which constraint a parameter stands on.
struct Binding {
    std::string parameter;
    Constraint constraint;
};

struct Solution {
    bool found = false;
    Parameters parameters;  ///< when not found, those that fail least
    double overhead = 0.0;  ///< fees, tax and locked capital over the cost of training, mean of the tasks
    std::vector<Constraint> constraints;
    std::vector<Binding> binding;
    std::uint32_t candidates = 0;
    std::uint32_t feasible = 0;
};

/// What a task costs beyond its training under `parameters`: fees, tax, locked capital, and the delay of forced errors.
double overhead(const Parameters& parameters, const Costs& costs);

/// A kind of task that the chain does not admit (TASK-14).
struct Refusal {
    std::string task;
    Grains value = 0;
    Parameters admitting;  ///< the same parameters but for the least task_value_max and contributor_bond that do
};
std::vector<Refusal> refusals(const Parameters& parameters, const Costs& costs);

/// The least number of segments into which `task` can be cut so that all constraints hold from there up to the number
/// that it has; 0 when they do not hold for that either.
std::uint32_t least_segments(const Parameters& parameters, const Costs& costs, TaskCosts task);

/// For each parameter the constraint that is nearest to failing.
std::vector<Binding> binding_of(const std::vector<Constraint>& constraints);

/// The cheapest parameters that satisfy every constraint of every task. Counts and rates come from a grid, bonds and
/// tax are the least that will do. What does not bind (growth by value, clocks that suffice) is kept from `start`.
Solution solve(const Parameters& start, const Costs& costs, const std::function<void(std::uint32_t percent)>& progress);

}  // namespace assay::economics
