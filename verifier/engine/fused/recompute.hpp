// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/canonical/node.hpp>
#include <verifier/engine/fused/plan.hpp>

/// Graphs that compute some nodes a second time instead of keeping their outputs. A node gives the same bits each time,
/// so the state after the step does not change.
namespace assay::engine::fused {

struct Rewritten {
    canonical::Graph graph;
    std::vector<std::uint32_t> nodes;  ///< where each node of the original graph is
    /// Nodes from here on, copies among them, are executed after all before: no region may have some of both.
    std::uint32_t wall = 0;
};

/// Returns the graph with a node of its own for each reader of one-hot rows and of constants. They cost less to compute
/// than to keep.
Rewritten copy_sources(const canonical::Graph& graph);

/// Multiply-adds for each element of the output, at least 1: what recomputing a node takes.
std::uint64_t work_per_element(const canonical::Node& node);

/// Returns the graph of a plan, in which nodes after its busiest stage read outputs from before it that either were
/// kept or are computed again. What is computed again is chosen so that the bytes kept, and 4 / `work_max` bytes for
/// each multiply-add of what is computed again, are least: an output is rather kept than computed again by more than
/// `work_max` multiply-adds for each element.
Rewritten recompute(const Plan& plan, std::uint64_t work_max);

}  // namespace assay::engine::fused
