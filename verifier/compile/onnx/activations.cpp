// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include <verifier/compile/onnx/arithmetic.hpp>
#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>

namespace assay::onnx {
namespace {

using program::Tape;

template <class F>
Outputs lower_with(Call& call, const F& f) {
    require_real(call.in(0));
    return {unary(call.lowering(), call.in(0), f)};
}

// min(x, 0)
Value negative_part(Call& call, const Value& x) { return call.tape().min(x, call.lowering().scalar(0.0F)); }

Outputs lower_leaky_relu(Call& call) {
    Tape& tape = call.tape();
    const float alpha = call.real("alpha", 0.01F);
    return lower_with(call, [&](const Value& x) {
        return tape.add(tape.relu(x), tape.scale(negative_part(call, x), alpha));
    });
}

// scale * (x above zero, alpha * (exp(x / width) - 1) below)
Outputs lower_exponential(Call& call, float alpha, float width, float scale) {
    Tape& tape = call.tape();
    return lower_with(call, [&, alpha, width, scale](const Value& x) {
        Value below = negative_part(call, x);
        below = width == 1.0F ? below : tape.scale(below, 1.0F / width);
        const Value sum = tape.add(tape.relu(x), tape.scale(tape.add_const(tape.exp(below), -1.0F), alpha));
        return scale == 1.0F ? sum : tape.scale(sum, scale);
    });
}

Outputs lower_elu(Call& call) { return lower_exponential(call, call.real("alpha", 1.0F), 1.0F, 1.0F); }

Outputs lower_celu(Call& call) {
    const float alpha = call.real("alpha", 1.0F);
    if (!(alpha > 0.0F)) {
        call.unsupported_attribute("alpha", std::to_string(alpha));
    }
    return lower_exponential(call, alpha, alpha, 1.0F);
}

Outputs lower_selu(Call& call) {
    const float alpha = call.real("alpha", 1.67326319217681884765625F);
    return lower_exponential(call, alpha, 1.0F, call.real("gamma", 1.05070102214813232421875F));
}

Outputs lower_softplus(Call& call) {
    Tape& tape = call.tape();
    return lower_with(call, [&](const Value& x) {
        const Value tail = tape.exp(tape.scale(tape.abs(x), -1.0F));
        return tape.add(tape.relu(x), tape.log(tape.add_const(tail, 1.0F)));
    });
}

Outputs lower_softsign(Call& call) {
    Tape& tape = call.tape();
    return lower_with(call, [&](const Value& x) { return tape.div(x, tape.add_const(tape.abs(x), 1.0F)); });
}

Value hard_sigmoid(Call& call, const Value& x, float alpha, float beta) {
    Tape& tape = call.tape();
    const Value line = tape.add_const(tape.scale(x, alpha), beta);
    return tape.min(tape.relu(line), call.lowering().scalar(1.0F));
}

Outputs lower_hard_sigmoid(Call& call) {
    const float alpha = call.real("alpha", 0.2F);
    const float beta = call.real("beta", 0.5F);
    return lower_with(call, [&](const Value& x) { return hard_sigmoid(call, x, alpha, beta); });
}

Outputs lower_hard_swish(Call& call) {
    return lower_with(call, [&](const Value& x) {
        return call.tape().mul(x, hard_sigmoid(call, x, 1.0F / 6.0F, 0.5F));
    });
}

Outputs lower_thresholded_relu(Call& call) {
    const float alpha = call.real("alpha", 1.0F);
    return lower_with(call, [&](const Value& x) {
        return call.tape().select(x, above(call.lowering(), x, alpha), call.lowering().scalar(0.0F));
    });
}

Outputs lower_shrink(Call& call) {
    Tape& tape = call.tape();
    const float lambda = call.real("lambd", 0.5F);
    const float bias = call.real("bias", 0.0F);
    return lower_with(call, [&](const Value& x) {
        const Value high = above(call.lowering(), x, lambda);
        const Value low = call.graph().less(x, call.lowering().scalar(-lambda));
        const Value outer = tape.select(tape.add_const(x, -bias), high, tape.add_const(x, bias));
        return tape.select(outer, call.graph().max(high, low), call.lowering().scalar(0.0F));
    });
}

Outputs lower_prelu(Call& call) {
    Lowering& lowering = call.lowering();
    Tape& tape = call.tape();
    require_real(call.in(0));
    call.require_same_type(0, 1);
    if (broadcast_dims(call.in(0)->dims, call.in(1)->dims) != call.in(0)->dims) {
        refuse_invalid("the slope has more elements than the input");
    }
    return {lowering.add_array(lowering.zip(
        call.array_any(0), call.array_any(1), call.in(0)->type,
        [&](const Value& x, const Value& slope) {
            return tape.add(tape.relu(x), tape.mul(negative_part(call, x), slope));
        }
    ))};
}

// A bound is an attribute before opset 11 and an input from then on.
Operand clip_bound(Call& call, const char* name, std::size_t i, float otherwise) {
    if (call.has(i)) {
        call.require_same_type(0, i);
        call.lowering().mark_buffer(call.in(i));
        return call.in(i);
    }
    if (!call.has_attribute(name) || call.real(name, otherwise) == otherwise) {
        return nullptr;
    }
    return call.lowering().add_constant(
        make_uniform(call.in(0)->type, {}, static_cast<double>(call.real(name, otherwise)))
    );
}

Outputs lower_clip(Call& call) {
    Operand out = call.in(0);
    if (const Operand low = clip_bound(call, "min", 1, std::numeric_limits<float>::lowest())) {
        out = arithmetic(call.lowering(), Arithmetic::kMax, out, low);
    }
    if (const Operand high = clip_bound(call, "max", 2, std::numeric_limits<float>::max())) {
        out = arithmetic(call.lowering(), Arithmetic::kMin, out, high);
    }
    return {out};
}

}  // namespace

std::vector<Operator> activation_operators() {
    constexpr Derivative kExact = Derivative::kExact;
    return {
        {"Relu", 6, kExact, {}, lower_tape<&Tape::relu>},
        {"Sigmoid", 6, kExact, {}, lower_tape<&Tape::sigmoid>},
        {"Tanh", 6, kExact, {}, lower_tape<&Tape::tanh>},
        {"LeakyRelu", 6, kExact, {"alpha"}, lower_leaky_relu},
        {"Elu", 6, kExact, {"alpha"}, lower_elu},
        {"Celu", 12, kExact, {"alpha"}, lower_celu},
        {"Selu", 6, kExact, {"alpha", "gamma"}, lower_selu},
        {"Softplus", 1, kExact, {}, lower_softplus},
        {"Softsign", 1, kExact, {}, lower_softsign},
        {"HardSigmoid", 6, kExact, {"alpha", "beta"}, lower_hard_sigmoid},
        {"HardSwish", 14, kExact, {}, lower_hard_swish},
        {"ThresholdedRelu", 10, kExact, {"alpha"}, lower_thresholded_relu},
        {"Shrink", 9, kExact, {"bias", "lambd"}, lower_shrink},
        {"PRelu", 7, kExact, {}, lower_prelu},
        {"Clip", 6, kExact, {"min", "max"}, lower_clip},
    };
}

}  // namespace assay::onnx
