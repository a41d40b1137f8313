// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <core/base/assert.hpp>
#include <verifier/compile/program/autodiff.hpp>

namespace assay::program {

namespace {

float reciprocal(std::uint64_t count) { return 1.0F / static_cast<float>(count); }

Value row_mean_of(GraphBuilder& graph, const Value& x) {
    return graph.scale(graph.row_sum(x), reciprocal(x.shape.cols));
}

Value as_row(GraphBuilder& graph, const Value& column) { return graph.transpose(column); }

// sqrt(mean of squares + epsilon) of each row.
Value deviation_of(GraphBuilder& graph, const Value& mean_square, float epsilon) {
    return graph.sqrt(graph.add_const(mean_square, epsilon));
}

}  // namespace

Tape::Softmax Tape::softmax_parts(const Value& x) {
    const Value shifted = graph_.sub(x, graph_.row_max(x));
    const Value powers = graph_.exp(shifted);
    return Softmax{shifted, powers, graph_.row_sum(powers)};
}

// y' g = y (g - sum of g y)
Value Tape::softmax_of(const Value& x, const Value& masked) {
    const Softmax parts = softmax_parts(masked);
    const Value out = graph_.div(parts.powers, parts.total);
    return pointwise(x, out, [out](GraphBuilder& graph, const Value& gradient) {
        return graph.mul(out, graph.sub(gradient, graph.row_sum(graph.mul(gradient, out))));
    });
}

Value Tape::softmax(const Value& x) { return softmax_of(x, x); }

// Where the mask hid x, the softmax is 0 and so is its gradient: no mask on the way back.
Value Tape::causal_softmax(const Value& x, std::uint32_t rows) {
    return softmax_of(x, graph_.causal_mask(x, rows, -std::numeric_limits<float>::infinity()));
}

Value Tape::log_softmax(const Value& x) {
    const Softmax parts = softmax_parts(x);
    const Value out = graph_.sub(parts.shifted, graph_.log(parts.total));
    return pointwise(x, out, [parts](GraphBuilder& graph, const Value& gradient) {
        const Value softmax = graph.div(parts.powers, parts.total);
        return graph.sub(gradient, graph.mul(softmax, graph.row_sum(gradient)));
    });
}

// One-hot rows choose: their sum is the chosen value, their maximum is 0 where the target is out of range.
Value Tape::cross_entropy(const Value& logits, const Value& target) {
    const Softmax parts = softmax_parts(logits);
    const Value one_hot = graph_.one_hot(target, logits.shape.cols);
    const Value is_valid = graph_.row_max(one_hot);
    const Value chosen = graph_.row_sum(graph_.mul(parts.shifted, one_hot));
    const Value out = graph_.mul(graph_.sub(graph_.log(parts.total), chosen), is_valid);
    return pointwise(logits, out, [parts, one_hot, is_valid](GraphBuilder& graph, const Value& gradient) {
        const Value excess = graph.sub(graph.div(parts.powers, parts.total), one_hot);
        return graph.mul(excess, graph.mul(gradient, is_valid));
    });
}

Value Tape::mean_cross_entropy(const Value& logits, const Value& target) {
    return scale(sum(cross_entropy(logits, target)), reciprocal(logits.shape.rows));
}

Value Tape::mean_square_error(const Value& x, const Value& target) {
    const Value difference = graph_.sub(x, target);
    const float share = reciprocal(x.shape.element_count());
    const Value out = graph_.scale(graph_.sum(graph_.mul(difference, difference)), share);
    return record(out, [x, target, difference, share](Tape& tape, const Value& gradient) {
        if (!tape.wants(x) && !tape.wants(target)) {
            return;
        }
        const Value back = tape.graph_.mul(tape.graph_.scale(difference, 2.0F * share), gradient);
        tape.accumulate(x, back);
        if (tape.wants(target)) {
            tape.accumulate(target, tape.graph_.scale(tape.graph_.sum_to(back, target.shape), -1.0F));
        }
    });
}

// The gradient of y = c / sqrt(mean of c^2 + epsilon), c = x or x - its mean (`is_centred`), rows apart.
Value Tape::normalised_back(const Value& unit, const Value& deviation, const Value& gradient, bool is_centred) {
    Value rest = graph_.mul(unit, row_mean_of(graph_, graph_.mul(gradient, unit)));
    if (is_centred) {
        rest = graph_.add(rest, row_mean_of(graph_, gradient));
    }
    return graph_.div(graph_.sub(gradient, rest), deviation);
}

Value Tape::layer_norm(const Value& x, const Value& gain, const Value& bias, float epsilon) {
    const Value centred = graph_.sub(x, row_mean_of(graph_, x));
    const Value variance = row_mean_of(graph_, graph_.mul(centred, centred));
    const Value deviation = deviation_of(graph_, variance, epsilon);
    const Value unit = graph_.div(centred, deviation);
    const Value out = graph_.add(graph_.mul(unit, gain), bias);
    return record(out, [x, gain, bias, deviation, unit](Tape& tape, const Value& gradient) {
        tape.accumulate_broadcast(bias, gradient);
        if (tape.wants(gain)) {
            tape.accumulate_broadcast(gain, tape.graph_.mul(gradient, unit));
        }
        if (tape.wants(x)) {
            tape.accumulate(x, tape.normalised_back(unit, deviation, tape.graph_.mul(gradient, gain), true));
        }
    });
}

Value Tape::rms_norm(const Value& x, const Value& gain, float epsilon) {
    const Value deviation = deviation_of(graph_, row_mean_of(graph_, graph_.mul(x, x)), epsilon);
    const Value unit = graph_.div(x, deviation);
    return record(graph_.mul(unit, gain), [x, gain, deviation, unit](Tape& tape, const Value& gradient) {
        if (tape.wants(gain)) {
            tape.accumulate_broadcast(gain, tape.graph_.mul(gradient, unit));
        }
        if (tape.wants(x)) {
            tape.accumulate(x, tape.normalised_back(unit, deviation, tape.graph_.mul(gradient, gain), false));
        }
    });
}

// Done on the transpose, where a channel is a row.
Tape::Normalised Tape::batch_norm(const Value& x, const Value& gain, const Value& bias, float epsilon) {
    ASSERT(gain.shape.rows == 1 && gain.shape.cols == x.shape.cols && bias.shape == gain.shape);
    const Value channels = graph_.transpose(x);
    const Value mean = row_mean_of(graph_, channels);
    const Value centred = graph_.sub(channels, mean);
    const Value variance = row_mean_of(graph_, graph_.mul(centred, centred));
    const Value deviation = deviation_of(graph_, variance, epsilon);
    const Value unit = graph_.div(centred, deviation);
    const Value gain_column = graph_.transpose(gain);
    const Value scaled = graph_.add(graph_.mul(unit, gain_column), graph_.transpose(bias));
    const auto rule = [=](Tape& tape, const Value& gradient) {
        GraphBuilder& graph = tape.graph_;
        const Value back = graph.transpose(gradient);
        if (tape.wants(bias)) {
            tape.accumulate(bias, as_row(graph, graph.row_sum(back)));
        }
        if (tape.wants(gain)) {
            tape.accumulate(gain, as_row(graph, graph.row_sum(graph.mul(back, unit))));
        }
        if (tape.wants(x)) {
            const Value from = graph.mul(back, gain_column);
            tape.accumulate(x, graph.transpose(tape.normalised_back(unit, deviation, from, true)));
        }
    };
    return Normalised{record(graph_.transpose(scaled), rule), as_row(graph_, mean), as_row(graph_, variance)};
}

}  // namespace assay::program
