// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/program/scalar_graph.hpp>
#include <verifier/compile/program/autodiff.hpp>

namespace assay::test {

/// An operation on the tape.
using Operation = std::function<program::Value(program::Tape&, const std::vector<program::Value>&)>;

struct GradientCheck {
    /// Half the difference of arguments. f32 values of about 1 have an error of 6e-8, so differences of sums of a
    /// dozen of them over 2 * 2^-7 have one of about 1e-5; the cubic term of what is tested here adds at most 2e-4.
    double half_step = 0x1p-7;
    double tolerance = 1e-3;
    std::size_t most_elements = 40;  ///< of each input, evenly spread
    program::Profile profile = program::kXg24;
};

inline double weighted_sum(const Matrix& output, const Matrix& weights) {
    double sum = 0;
    for (std::size_t i = 0; i < output.values.size(); ++i) {
        sum += output.values[i] * weights.values[i];
    }
    return sum;
}

/// Compares the tape's gradient of a random linear function of the operation's output, with respect to the first
/// `trained` inputs, with central differences in double of outputs in float.
inline void check_gradient(
    const Operation& operation, std::vector<Matrix> inputs, std::size_t trained, const GradientCheck& check = {}
) {
    const Write forward = [&](program::GraphBuilder& graph, const std::vector<program::Value>& values) {
        program::Tape tape(graph, check.profile);
        return std::vector{operation(tape, values)};
    };
    const Matrix output = evaluate(forward, inputs)[0];
    const Matrix weights = random_matrix(output.shape, 99);
    std::vector<Matrix> with_weights = inputs;
    with_weights.push_back(weights);
    const std::vector<Matrix> gradients = evaluate(
        [&](program::GraphBuilder& graph, std::vector<program::Value> values) {
            program::Tape tape(graph, check.profile);
            const program::Value weight = values.back();
            values.pop_back();
            const program::Value loss = tape.sum(tape.mul(operation(tape, values), weight));
            return tape.gradients(loss, std::span(values).first(trained));
        },
        with_weights
    );
    REQUIRE(gradients.size() == trained);
    for (std::size_t p = 0; p < trained; ++p) {
        CAPTURE(p);
        REQUIRE(gradients[p].shape == inputs[p].shape);
        double scale = 1.0;
        for (const double g : gradients[p].values) {
            scale = std::max(scale, std::abs(g));
        }
        const std::size_t count = inputs[p].values.size();
        double largest = 0.0;
        for (std::size_t i = 0; i < count; i += 1 + (count - 1) / check.most_elements) {
            CAPTURE(i);
            const double value = inputs[p].values[i];
            const auto at = [&](double x) {
                inputs[p].values[i] = x;
                return weighted_sum(evaluate(forward, inputs)[0], weights);
            };
            const double difference =
                (at(value + check.half_step) - at(value - check.half_step)) / (2 * check.half_step);
            inputs[p].values[i] = value;
            largest = std::max(largest, std::abs(difference));
            CHECK(std::abs(gradients[p].values[i] - difference) < check.tolerance * scale);
        }
        CHECK(largest > 1e-2);  // or nothing has been compared
    }
}

}  // namespace assay::test
