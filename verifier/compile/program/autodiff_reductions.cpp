// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/autodiff.hpp>

namespace assay::program {

// A sum gives every term its own gradient; accumulate() repeats it.
Value Tape::sum_of(const Value& x, const Value& output) {
    if (output == x) {
        return x;  // a sum of one
    }
    return record(output, [x](Tape& tape, const Value& gradient) { tape.accumulate(x, gradient); });
}

Value Tape::row_sum(const Value& x) { return sum_of(x, graph_.row_sum(x)); }
Value Tape::col_sum(const Value& x) { return sum_of(x, graph_.col_sum(x)); }
Value Tape::sum(const Value& x) { return sum_of(x, graph_.sum(x)); }

Value Tape::row_mean(const Value& x) { return scale(row_sum(x), 1.0F / static_cast<float>(x.shape.cols)); }

Value Tape::row_max(const Value& x) {
    return pointwise(x, graph_.row_max(x), [x](GraphBuilder& graph, const Value& gradient) {
        return graph.mul(graph.one_hot(graph.row_arg_max(x), x.shape.cols), gradient);
    });
}

Value Tape::matmul_nt(const Value& a, const Value& b, std::uint32_t groups) {
    const Profile profile = profile_;
    // c = a b^T: da = dc b and db = dc^T a, both written as products with a transposed right side.
    return record(graph_.matmul_nt(a, b, profile, groups), [a, b, profile, groups](Tape& tape, const Value& gradient) {
        GraphBuilder& graph = tape.graph_;
        if (tape.wants(a)) {
            tape.accumulate(a, graph.matmul_nt(gradient, graph.transpose(b, groups), profile, groups));
        }
        if (tape.wants(b)) {
            const Value left = graph.transpose(gradient, groups);
            tape.accumulate(b, graph.matmul_nt(left, graph.transpose(a, groups), profile, groups));
        }
    });
}

Value Tape::linear(const Value& x, const Value& weight, const Value& bias) { return add(matmul_nt(x, weight), bias); }

}  // namespace assay::program
