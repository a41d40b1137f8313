// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tools/economics/constraints.hpp>

namespace assay::economics {

/// The constraint that determines a parameter.
struct Binding {
    std::string parameter;
    Constraint constraint;
};

struct Solution {
    bool found = false;
    Parameters parameters;  ///< if no solution was found, the ones that fail least
    double overhead = 0.0;  ///< fees, tax and locked capital relative to the cost of training, average of the tasks
    std::vector<Constraint> constraints;
    std::vector<Binding> binding;
    std::uint32_t candidates = 0;
    std::uint32_t feasible = 0;
};

/// Returns the costs of a task beyond its training under `parameters`: fees, tax, locked capital, and the delay by
/// forced errors.
double overhead(const Parameters& parameters, const Costs& costs);

/// A kind of task that the chain does not admit (TASK-14).
struct Refusal {
    std::string task;
    Grains value = 0;
    Parameters
        admitting;  ///< the same parameters, but with the smallest task_value_max and contributor_bond that admit it
};
std::vector<Refusal> refusals(const Parameters& parameters, const Costs& costs);

/// Returns the smallest number of segments for `task` from which on all constraints hold, up to the number that it has;
/// 0 if they do not hold for that number either.
std::uint32_t least_segments(const Parameters& parameters, const Costs& costs, TaskCosts task);

/// Returns for each parameter the constraint that is closest to failing.
std::vector<Binding> binding_of(const std::vector<Constraint>& constraints);

/// Finds the cheapest parameters that satisfy every constraint of every task. Counts and rates come from a grid; bonds
/// and tax are the smallest that work. Parameters that do not bind (growth by value, clocks that are long enough) are
/// taken from `start`.
Solution solve(const Parameters& start, const Costs& costs, const std::function<void(std::uint32_t percent)>& progress);

}  // namespace assay::economics
