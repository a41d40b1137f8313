// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <utility>

#include <core/base/assert.hpp>
#include <verifier/compile/program/autodiff.hpp>

namespace assay::program {

using canonical::Shape;

namespace {

constexpr Shape kAutodiffElementwiseScalar{1, 1};
constexpr float kSqrt2 = 1.41421356F;
constexpr float kInverseSqrtPi = 0.564189584F;

Value negative(GraphBuilder& graph, const Value& x) { return graph.scale(x, -1.0F); }

// 1 / (1 + e^-x) is x over or 1 over this.
Value one_plus_exp_negative(GraphBuilder& graph, const Value& x) {
    return graph.add_const(graph.exp(negative(graph, x)), 1.0F);
}

}  // namespace

Value Tape::pointwise(const Value& x, const Value& output, PointwiseRule rule) {
    return record(output, [x, rule = std::move(rule)](Tape& tape, const Value& gradient) {
        if (tape.wants(x)) {
            tape.accumulate(x, rule(tape.graph_, gradient));
        }
    });
}

Value Tape::add(const Value& x, const Value& y) {
    return record(graph_.add(x, y), [x, y](Tape& tape, const Value& gradient) {
        tape.accumulate(x, gradient);
        tape.accumulate_broadcast(y, gradient);
    });
}

Value Tape::sub(const Value& x, const Value& y) {
    return record(graph_.sub(x, y), [x, y](Tape& tape, const Value& gradient) {
        tape.accumulate(x, gradient);
        if (tape.wants(y)) {
            tape.accumulate(y, negative(tape.graph_, tape.graph_.sum_to(gradient, y.shape)));
        }
    });
}

Value Tape::mul(const Value& x, const Value& y) {
    return record(graph_.mul(x, y), [x, y](Tape& tape, const Value& gradient) {
        if (tape.wants(x)) {
            tape.accumulate(x, tape.graph_.mul(gradient, y));
        }
        if (tape.wants(y)) {
            tape.accumulate_broadcast(y, tape.graph_.mul(gradient, x));
        }
    });
}

Value Tape::div(const Value& x, const Value& y) {
    const Value out = graph_.div(x, y);
    return record(out, [x, y, out](Tape& tape, const Value& gradient) {
        GraphBuilder& graph = tape.graph_;
        if (tape.wants(x)) {
            tape.accumulate(x, graph.div(gradient, y));
        }
        if (tape.wants(y)) {  // -g x / y^2; y is the same wherever it is repeated
            const Value sum = graph.sum_to(graph.mul(gradient, out), y.shape);
            tape.accumulate(y, negative(graph, graph.div(sum, y)));
        }
    });
}

// The maximum and the minimum are y exactly where y was taken.
void Tape::choice_back(const Value& x, const Value& y, const Value& is_second, const Value& gradient) {
    if (!wants(x) && !wants(y)) {
        return;
    }
    const Value second = graph_.mul(gradient, is_second);
    accumulate_broadcast(y, second);
    if (wants(x)) {
        accumulate(x, graph_.sub(gradient, second));
    }
}

Value Tape::max(const Value& x, const Value& y) {
    const Value out = graph_.max(x, y);
    return record(out, [x, y, out](Tape& tape, const Value& gradient) {
        tape.choice_back(x, y, tape.graph_.equal(out, y), gradient);
    });
}

Value Tape::min(const Value& x, const Value& y) {
    const Value out = graph_.min(x, y);
    return record(out, [x, y, out](Tape& tape, const Value& gradient) {
        tape.choice_back(x, y, tape.graph_.equal(out, y), gradient);
    });
}

Value Tape::select(const Value& x, const Value& condition, const Value& y) {
    return record(graph_.select(x, condition, y), [x, condition, y](Tape& tape, const Value& gradient) {
        GraphBuilder& graph = tape.graph_;
        const Value first = graph.select(gradient, condition, graph.fill(kAutodiffElementwiseScalar, 0.0F));
        tape.accumulate(x, first);
        if (tape.wants(y)) {
            tape.accumulate_broadcast(y, graph.sub(gradient, first));
        }
    });
}

Value Tape::scale(const Value& x, float factor) {
    return pointwise(x, graph_.scale(x, factor), [factor](GraphBuilder& graph, const Value& gradient) {
        return graph.scale(gradient, factor);
    });
}

Value Tape::add_const(const Value& x, float term) {
    return record(graph_.add_const(x, term), [x](Tape& tape, const Value& gradient) { tape.accumulate(x, gradient); });
}

Value Tape::abs(const Value& x) {
    return pointwise(x, graph_.abs(x), [x](GraphBuilder& graph, const Value& gradient) {
        const Value above = graph.relu_grad(x, gradient);
        return graph.sub(above, graph.relu_grad(negative(graph, x), gradient));
    });
}

Value Tape::sqrt(const Value& x) {
    const Value out = graph_.sqrt(x);
    return pointwise(x, out, [out](GraphBuilder& graph, const Value& gradient) {
        return graph.div(graph.scale(gradient, 0.5F), out);
    });
}

Value Tape::exp(const Value& x) {
    const Value out = graph_.exp(x);
    return pointwise(x, out, [out](GraphBuilder& graph, const Value& gradient) { return graph.mul(gradient, out); });
}

Value Tape::log(const Value& x) {
    return pointwise(x, graph_.log(x), [x](GraphBuilder& graph, const Value& gradient) {
        return graph.div(gradient, x);
    });
}

Value Tape::tanh(const Value& x) {
    const Value out = graph_.tanh(x);
    return pointwise(x, out, [out](GraphBuilder& graph, const Value& gradient) {
        return graph.sub(gradient, graph.mul(gradient, graph.mul(out, out)));
    });
}

Value Tape::erf(const Value& x) {
    return pointwise(x, graph_.erf(x), [x](GraphBuilder& graph, const Value& gradient) {
        const Value bell = graph.exp(negative(graph, graph.mul(x, x)));
        return graph.mul(gradient, graph.scale(bell, 2.0F * kInverseSqrtPi));
    });
}

Value Tape::sin(const Value& x) {
    return pointwise(x, graph_.sin(x), [x](GraphBuilder& graph, const Value& gradient) {
        return graph.mul(gradient, graph.cos(x));
    });
}

Value Tape::cos(const Value& x) {
    return pointwise(x, graph_.cos(x), [x](GraphBuilder& graph, const Value& gradient) {
        return negative(graph, graph.mul(gradient, graph.sin(x)));
    });
}

Value Tape::replaced(
    const Value& x, const Value& output, std::function<Value(GraphBuilder&, const Value& gradient)> back
) {
    return pointwise(x, output, std::move(back));
}

Value Tape::relu(const Value& x) {
    return pointwise(x, graph_.relu(x), [x](GraphBuilder& graph, const Value& gradient) {
        return graph.relu_grad(x, gradient);
    });
}

Value Tape::sigmoid(const Value& x) {
    const Value out = graph_.div(graph_.fill(x.shape, 1.0F), one_plus_exp_negative(graph_, x));
    return pointwise(x, out, [out](GraphBuilder& graph, const Value& gradient) {
        const Value once = graph.mul(gradient, out);
        return graph.sub(once, graph.mul(once, out));
    });
}

// With d = 1 + e^-x: y = x / d and y' = (1 + x - y) / d, which stays finite where d does not.
Value Tape::silu(const Value& x) {
    const Value divisor = one_plus_exp_negative(graph_, x);
    const Value out = graph_.div(x, divisor);
    return pointwise(x, out, [x, out, divisor](GraphBuilder& graph, const Value& gradient) {
        return graph.mul(gradient, graph.div(graph.add_const(graph.sub(x, out), 1.0F), divisor));
    });
}

Value Tape::gelu(const Value& x) {
    const Value erf = graph_.erf(graph_.scale(x, 1.0F / kSqrt2));
    const Value area = graph_.scale(graph_.add_const(erf, 1.0F), 0.5F);
    return pointwise(x, graph_.mul(x, area), [x, area](GraphBuilder& graph, const Value& gradient) {
        constexpr float kHeight = kInverseSqrtPi / kSqrt2;
        const Value bell = graph.scale(graph.exp(graph.scale(graph.mul(x, x), -0.5F)), kHeight);
        return graph.mul(gradient, graph.add(graph.mul(x, bell), area));
    });
}

// y = x h with h = (1 + tanh u) / 2 and u = c (x + k x^3), so y' = h (1 + 2 u' (x - y)).
Value Tape::gelu_tanh(const Value& x) {
    constexpr float kSlope = kSqrt2 * kInverseSqrtPi;
    constexpr float kCubic = 0.044715F;
    const Value square = graph_.mul(x, x);
    const Value tanh = graph_.tanh(graph_.mul(x, graph_.add_const(graph_.scale(square, kSlope * kCubic), kSlope)));
    const Value half = graph_.scale(graph_.add_const(tanh, 1.0F), 0.5F);
    const Value out = graph_.mul(x, half);
    return pointwise(x, out, [x, square, half, out](GraphBuilder& graph, const Value& gradient) {
        const Value slope = graph.add_const(graph.scale(square, 6.0F * kSlope * kCubic), 2.0F * kSlope);
        const Value rest = graph.add_const(graph.mul(slope, graph.sub(x, out)), 1.0F);
        return graph.mul(gradient, graph.mul(half, rest));
    });
}

Value Tape::causal_mask(const Value& x, std::uint32_t rows) {
    const Value out = graph_.causal_mask(x, rows, -std::numeric_limits<float>::infinity());
    return pointwise(x, out, [rows](GraphBuilder& graph, const Value& gradient) {
        return graph.causal_mask(gradient, rows, 0.0F);
    });
}

Value Tape::dropout(const Value& x, float drop, std::uint32_t tensor_id) {
    ASSERT(drop >= 0.0F && drop < 1.0F);
    if (drop == 0.0F) {
        return x;
    }
    const float keep = 1.0F - drop;
    return mul(x, graph_.scale(graph_.bernoulli(x.shape, keep, tensor_id), 1.0F / keep));
}

}  // namespace assay::program
