// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <core/canonical/executor.hpp>
#include <verifier/engine/engine.hpp>

/// Holds every executor to the definition, bit for bit.
namespace assay::test {

/// A step to execute: a graph, and what it starts from. The state has the types of the graph's commitment.
struct Case {
    canonical::Graph graph;
    canonical::StepContext context;
    std::shared_ptr<const canonical::RowSource> rows;
    std::vector<canonical::Tensor> state;
};

/// What a step did: every node's output, and the next state unless the step diverged.
struct Outcome {
    std::vector<canonical::Tensor> outputs;
    std::optional<std::vector<canonical::Tensor>> next;
};

/// The device that the tests run on: "cpu", or what ASSAY_TEST_DEVICE says.
std::string test_device();
/// The engine's ways to compute on that device: on a CPU the host's loops and libtorch's, with 1 and 2 threads.
std::vector<engine::EngineOptions> all_engines();
std::string name_of(const engine::EngineOptions& options);

Outcome by_definition(const Case& c);
/// Node by node, as a step is executed that is tampered with.
Outcome by_nodes(const Case& c, const engine::EngineOptions& options);
/// With an observer: on a CPU the fused executor wherever there is a plan.
Outcome by_observer(const Case& c, const engine::EngineOptions& options);
/// With nobody watching: on a CPU the fused executor wherever there is a plan. The next state only.
Outcome by_step(const Case& c, const engine::EngineOptions& options);
/// The fused executor alone, which keeps the outputs of the nodes `kept`; the others' are empty. Nothing when the graph
/// has no plan. `recomputed_work`: what is computed again, as in fused::recompute(); 0: nothing.
std::optional<Outcome> by_plan(
    const Case& c, std::span<const std::uint32_t> kept, int threads, std::uint64_t recomputed_work
);

/// What is different, or nothing; outputs that either lacks are not compared.
std::string difference(const Case& c, const Outcome& expected, const Outcome& found);

/// Every executor on `c`; fails the running test case where one differs.
void check_everywhere(const Case& c);
/// The same, and whether the graph had a plan; only asked for on a CPU, elsewhere true.
bool check_everywhere(const Case& c, const Outcome& expected);

/// `nodes` read the tensors `state`; finishes the graph with a commitment that leaves the state as it was.
Case make_case(canonical::Graph nodes, std::vector<canonical::Tensor> state);

canonical::Input output_of(const canonical::Graph& graph, std::size_t node);
canonical::Input state_of(const std::vector<canonical::Tensor>& state, std::size_t index);

}  // namespace assay::test
