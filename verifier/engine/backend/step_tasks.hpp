// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <verifier/engine/backend/backend.hpp>

/// Internal to the engine: a step as a backend executes it, node by node.
namespace assay::engine {

struct StepTasks {
    std::vector<Task> tasks;                 ///< one per node, kCommit excepted
    std::vector<std::vector<Slot>> expired;  ///< node outputs that nobody reads after this node
    std::vector<Slot> next;                  ///< where the next state comes from
    std::vector<Slot> state;                 ///< where it goes
};

/// Returns the tasks of a graph, whose last node is kCommit.
StepTasks tasks_of(const canonical::Graph& graph);

}  // namespace assay::engine
