// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include <core/base/assert.hpp>
#include <verifier/program/autodiff.hpp>
#include <verifier/program/graph_builder.hpp>
#include <verifier/program/optimizer.hpp>
#include <verifier/program/program.hpp>

namespace assay::program {
namespace {

using canonical::DType;
using canonical::Shape;
using canonical::TensorType;

// A parameter and the bound of its uniform start; 0 means that it starts from zeros.
struct Parameter {
    StateTensor tensor;
    float bound = 0.0F;
};

float fan_in_bound(std::uint32_t fan_in) { return 1.0F / std::sqrt(static_cast<float>(fan_in)); }

Parameter make_parameter(std::string name, Shape shape, float bound) {
    return Parameter{StateTensor{std::move(name), TensorType{DType::kF32, shape}}, bound};
}

enum ParameterIndex : std::uint8_t { kTable, kHiddenWeight, kHiddenBias, kOutputWeight, kOutputBias };

std::vector<Parameter> parameters_of(const CharModelConfig& model) {
    const std::uint32_t features = model.context * model.embedding;
    return {
        make_parameter("embedding.weight", {model.vocabulary, model.embedding}, 1.0F),
        make_parameter("hidden.weight", {model.hidden, features}, fan_in_bound(features)),
        make_parameter("hidden.bias", {1, model.hidden}, 0.0F),
        make_parameter("output.weight", {model.vocabulary, model.hidden}, fan_in_bound(model.hidden)),
        make_parameter("output.bias", {1, model.vocabulary}, 0.0F),
    };
}

canonical::Graph make_init(const std::vector<Parameter>& parameters, const std::vector<Slot>& slots) {
    GraphBuilder graph;
    std::vector<Value> state;
    std::uint32_t tensor_id = 0;
    for (const Parameter& parameter : parameters) {
        const Shape shape = parameter.tensor.type.shape;
        state.push_back(
            parameter.bound > 0.0F ? graph.uniform(shape, parameter.bound, tensor_id) : graph.fill(shape, 0.0F)
        );
        ++tensor_id;
    }
    for (const Slot& slot : slots) {
        state.push_back(graph.fill(slot.tensor.type.shape, slot.initial));
    }
    return std::move(graph).commit(state);
}

}  // namespace

Program build_char_model(const CharModelConfig& model, const OptimizerConfig& optimizer) {
    const std::vector<Parameter> parameters = parameters_of(model);
    Program program;
    for (const Parameter& parameter : parameters) {
        program.state.push_back(parameter.tensor);
    }
    const std::vector<Slot> slots = optimizer_slots(optimizer, program.state);
    for (const Slot& slot : slots) {
        program.state.push_back(slot.tensor);
    }
    program.batch_size = model.batch_size;
    program.dataset = {model.dataset_rows, model.context + 1};
    program.init = make_init(parameters, slots);

    GraphBuilder graph;
    OptimizerInputs inputs;
    for (std::uint32_t i = 0; i < program.state.size(); ++i) {
        auto& group = i < parameters.size() ? inputs.parameters : inputs.slots;
        group.push_back(GraphBuilder::state(i, program.state[i].type));
    }
    const Value batch = graph.batch_rows(Shape{model.batch_size, program.dataset.width});
    const Value index = graph.slice_cols(batch, 0, model.context);
    const Value target = graph.slice_cols(batch, model.context, 1);
    Tape tape(graph);
    const std::vector<Value>& p = inputs.parameters;
    const Value features = tape.embed(p[kTable], index);
    const Value hidden = tape.relu(tape.add(tape.matmul_nt(features, p[kHiddenWeight]), p[kHiddenBias]));
    const Value logits = tape.add(tape.matmul_nt(hidden, p[kOutputWeight]), p[kOutputBias]);
    const Value loss = tape.mean_cross_entropy(logits, target);
    inputs.gradients = tape.gradients(loss, p);
    const std::vector<Value> next = append_optimizer(graph, optimizer, inputs);
    program.loss_node = loss.index;
    program.step = std::move(graph).commit(next);
    ASSERT(check_program(program).has_value());
    return program;
}

}  // namespace assay::program
