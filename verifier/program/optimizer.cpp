// SPDX-License-Identifier: Apache-2.0
#include <verifier/program/optimizer.hpp>

#include <core/base/assert.hpp>

namespace assay::program {
namespace {

constexpr canonical::Shape kScalar{1, 1};

std::vector<Value> append_sgd(GraphBuilder& graph, const OptimizerConfig& config, const OptimizerInputs& inputs) {
    const std::size_t count = inputs.parameters.size();
    std::vector<Value> next(2 * count);
    for (std::size_t i = 0; i < count; ++i) {
        const Value velocity = graph.add(graph.scale(inputs.slots[i], config.momentum), inputs.gradients[i]);
        next[i] = graph.sub(inputs.parameters[i], graph.scale(velocity, config.learning_rate));
        next[count + i] = velocity;
    }
    return next;
}

// decay * average + (1 - decay) * sample
Value moving_average(GraphBuilder& graph, const Value& average, const Value& sample, float decay) {
    return graph.add(graph.scale(average, decay), graph.scale(sample, 1.0F - decay));
}

// 1 - power, for the [1,1] tensor that carries decay^step.
Value one_minus(GraphBuilder& graph, const Value& power) { return graph.add_const(graph.scale(power, -1.0F), 1.0F); }

std::vector<Value> append_adam(GraphBuilder& graph, const OptimizerConfig& config, const OptimizerInputs& inputs) {
    const std::size_t count = inputs.parameters.size();
    std::vector<Value> next(3 * count + 2);
    const Value power1 = graph.scale(inputs.slots[2 * count], config.beta1);
    const Value power2 = graph.scale(inputs.slots[2 * count + 1], config.beta2);
    const Value rate = graph.div(graph.fill(kScalar, config.learning_rate), one_minus(graph, power1));
    const Value correction = graph.div(graph.fill(kScalar, 1.0F), one_minus(graph, power2));
    for (std::size_t i = 0; i < count; ++i) {
        const Value& gradient = inputs.gradients[i];
        const Value first = moving_average(graph, inputs.slots[i], gradient, config.beta1);
        const Value square = graph.mul(gradient, gradient);
        const Value second = moving_average(graph, inputs.slots[count + i], square, config.beta2);
        const Value deviation = graph.add_const(graph.sqrt(graph.mul(second, correction)), config.epsilon);
        next[i] = graph.sub(inputs.parameters[i], graph.div(graph.mul(first, rate), deviation));
        next[count + i] = first;
        next[2 * count + i] = second;
    }
    next[3 * count] = power1;
    next[3 * count + 1] = power2;
    return next;
}

void append_slots(
    std::vector<Slot>& slots, const std::vector<StateTensor>& parameters, const std::string& prefix
) {
    for (const StateTensor& parameter : parameters) {
        slots.push_back(Slot{StateTensor{prefix + parameter.name, parameter.type}, 0.0F});
    }
}

}  // namespace

std::vector<Slot> optimizer_slots(const OptimizerConfig& config, const std::vector<StateTensor>& parameters) {
    std::vector<Slot> slots;
    if (config.kind == OptimizerKind::kSgdMomentum) {
        append_slots(slots, parameters, "momentum.");
        return slots;
    }
    append_slots(slots, parameters, "adam.first.");
    append_slots(slots, parameters, "adam.second.");
    const canonical::TensorType scalar{canonical::DType::kF32, kScalar};
    slots.push_back(Slot{StateTensor{"adam.beta1_power", scalar}, 1.0F});
    slots.push_back(Slot{StateTensor{"adam.beta2_power", scalar}, 1.0F});
    return slots;
}

std::vector<Value> append_optimizer(GraphBuilder& graph, const OptimizerConfig& config, const OptimizerInputs& inputs) {
    ASSERT(inputs.gradients.size() == inputs.parameters.size());
    if (config.kind == OptimizerKind::kSgdMomentum) {
        ASSERT(inputs.slots.size() == inputs.parameters.size());
        return append_sgd(graph, config, inputs);
    }
    ASSERT(inputs.slots.size() == 2 * inputs.parameters.size() + 2);
    return append_adam(graph, config, inputs);
}

}  // namespace assay::program
