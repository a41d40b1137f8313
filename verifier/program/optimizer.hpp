// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <verifier/program/graph_builder.hpp>
#include <verifier/program/program.hpp>

namespace assay::program {

/// A tensor of the state and the value it starts from, which the caller writes into the init graph.
struct Slot {
    StateTensor tensor;
    float initial = 0.0F;
};

/// The slots that the optimizer keeps for `parameters`; they follow the parameters in the state.
std::vector<Slot> optimizer_slots(const OptimizerConfig& config, const std::vector<StateTensor>& parameters);

/// What the optimizer works on: parameters, gradients in the same order, and its slots in optimizer_slots' order.
struct OptimizerInputs {
    std::vector<Value> parameters;
    std::vector<Value> gradients;
    std::vector<Value> slots;
};
/// Writes one update as a chain of single rounded operations and returns the next state: parameters, then slots.
std::vector<Value> append_optimizer(GraphBuilder& graph, const OptimizerConfig& config, const OptimizerInputs& inputs);

}  // namespace assay::program
