// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include <verifier/compile/onnx/arithmetic.hpp>
#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>

/// Operators that draw random numbers. A task's come from its seed and the step, so a model's own seeds are ignored.
namespace assay::onnx {
namespace {

// Even numbers in [-1/2, 1/2), multiples of 2^-24; each call draws others.
Value draw(Call& call, const Dims& dims) {
    Lowering& lowering = call.lowering();
    if (lowering.mode() == Mode::kForward) {
        refuse_unsupported("it draws random numbers, which inference does not");
    }
    require_array(dims);
    return call.graph().uniform(program::matrix_shape(dims), 0.5F, lowering.next_tensor_id());
}

void note_draws(Call& call) {
    call.lowering().note(
        "node '" + call.node().name + "' (" + call.node().op + ") draws its numbers from the task's seed and the step"
    );
}

// The result's type, which the attribute dtype may name; else `otherwise`.
ElementType drawn_type(const Call& call, ElementType otherwise) {
    const std::int64_t type = call.integer("dtype", static_cast<std::int64_t>(otherwise));
    if (type < 0 || type > 255 || !is_element_type(static_cast<ElementType>(type))) {
        call.unsupported_attribute("dtype", std::to_string(type));
    }
    return static_cast<ElementType>(type);
}

Outputs drawn(Call& call, ElementType type, const Dims& dims, const Value& value) {
    call.lowering().require_computable(type);
    note_draws(call);
    return {call.lowering().add_array(call.lowering().from_matrix(value, type, dims))};
}

ElementType real_type(const Call& call, ElementType otherwise) {
    const ElementType type = drawn_type(call, otherwise);
    if (kind_of(type) != Kind::kReal) {
        call.unsupported_attribute("dtype", to_string(type));
    }
    return type;
}

Outputs uniform(Call& call, ElementType type, const Dims& dims) {
    program::GraphBuilder& graph = call.graph();
    const float low = call.real("low", 0.0F);
    const float high = call.real("high", 1.0F);
    const Value unit = graph.add_const(draw(call, dims), 0.5F);
    const Value scaled = high - low == 1.0F ? unit : graph.scale(unit, high - low);
    return drawn(call, type, dims, low == 0.0F ? scaled : graph.add_const(scaled, low));
}

// Box and Muller's transformation of two even draws. The logarithm's argument is in (0, 1].
Outputs normal(Call& call, ElementType type, const Dims& dims) {
    program::GraphBuilder& graph = call.graph();
    const float mean = call.real("mean", 0.0F);
    const float deviation = call.real("scale", 1.0F);
    const Value from_one = graph.add_const(graph.scale(draw(call, dims), -1.0F), 0.5F);
    const Value radius = graph.sqrt(graph.scale(graph.log(from_one), -2.0F));
    const Value angle = graph.scale(draw(call, dims), 2.0F * std::numbers::pi_v<float>);
    const Value unit = graph.mul(radius, graph.cos(angle));
    const Value scaled = deviation == 1.0F ? unit : graph.scale(unit, deviation);
    return drawn(call, type, dims, mean == 0.0F ? scaled : graph.add_const(scaled, mean));
}

using Distribution = Outputs (*)(Call&, ElementType, const Dims&);

template <Distribution kDistribution>
Outputs lower_like(Call& call) {
    return kDistribution(call, real_type(call, call.in(0)->type), call.in(0)->dims);
}

template <Distribution kDistribution>
Outputs lower_shape(Call& call) {
    Dims dims;
    for (const std::int64_t size : call.integers("shape")) {
        if (size < 1 || size > std::int64_t{canonical::kMaxDimension}) {
            refuse_invalid("a dimension of " + std::to_string(size));
        }
        dims.push_back(static_cast<std::uint32_t>(size));
    }
    return kDistribution(call, real_type(call, ElementType::kFloat), dims);
}

// The input's elements are the probabilities of ones.
Outputs lower_bernoulli(Call& call) {
    require_real(call.in(0));
    const Dims& dims = call.in(0)->dims;
    const Value unit = call.graph().add_const(draw(call, dims), 0.5F);
    const Value chance = call.lowering().whole(call.array(0), dims, false);
    return drawn(call, drawn_type(call, call.in(0)->type), dims, call.graph().less(unit, chance));
}

}  // namespace

std::vector<Operator> random_operators() {
    constexpr Derivative kZero = Derivative::kZero;
    return {
        {"RandomUniform", 1, kZero, {"dtype", "high", "low", "seed", "shape"}, lower_shape<uniform>},
        {"RandomUniformLike", 1, kZero, {"dtype", "high", "low", "seed"}, lower_like<uniform>},
        {"RandomNormal", 1, kZero, {"dtype", "mean", "scale", "seed", "shape"}, lower_shape<normal>},
        {"RandomNormalLike", 1, kZero, {"dtype", "mean", "scale", "seed"}, lower_like<normal>},
        {"Bernoulli", 15, kZero, {"dtype", "seed"}, lower_bernoulli},
    };
}

}  // namespace assay::onnx
