// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include <verifier/engine/fused/plan.hpp>

namespace assay::engine::fused {

/// The types of the state before a step, if they are those after it; an initialisation's are not.
std::optional<std::vector<canonical::TensorType>> steady_state(const canonical::Graph& graph);

/// Returns the plan that computes the least twice of those that need at most `memory_bytes`, or if there is none the
/// one that needs the least. 0: no limit. nullopt if the graph has no plan (see plan_graph).
std::optional<Plan> make_plan(const PlanInput& input, std::size_t memory_bytes = 0);
/// Limits for make_recomputing_plan(), each more than the last: one for each depth of products in the graph.
std::set<std::uint64_t> work_limits(const canonical::Graph& graph);
/// Returns a plan of the same step that computes outputs again as recompute() chooses.
std::optional<Plan> make_recomputing_plan(const PlanInput& input, const Plan& plan, std::uint64_t work_max);

}  // namespace assay::engine::fused
