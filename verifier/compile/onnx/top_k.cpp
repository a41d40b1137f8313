// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <verifier/compile/onnx/arithmetic.hpp>
#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>
#include <verifier/compile/onnx/rows.hpp>

namespace assay::onnx {
namespace {

constexpr std::int64_t kMaxTop = 1024;

// Columns [R,1] that were found one after another, as an array that has them along `axis` of x.
Operand along_axis(
    Call& call, const Rows& rows, std::uint32_t axis, const std::vector<Value>& columns, ElementType type
) {
    Dims dims = call.in(0)->dims;
    dims[axis] = static_cast<std::uint32_t>(columns.size());
    const std::vector<Dims> shapes(columns.size(), Dims{rows.shape.rows, 1});
    const Value joined = columns.size() == 1 ? columns[0] : call.tape().concat(columns, shapes, 1);
    Lowering& lowering = call.lowering();
    const Array moved = lowering.from_matrix(joined, type, permuted(dims, rows.order));
    return lowering.permute(lowering.add_array(moved), inverse(rows.order));
}

// k times the first of the largest elements of each row that are left. What is minus infinity is found last.
Outputs lower_top_k(Call& call) {
    Lowering& lowering = call.lowering();
    program::GraphBuilder& graph = call.graph();
    program::Tape& tape = call.tape();
    const Operand& x = call.in(0);
    require_real(x);
    const std::uint32_t axis = call.axis_of(call.integer("axis", -1), x->dims.size());
    const bool is_largest = call.integer("largest", 1) != 0;
    const std::int64_t k = call.known_integer(1, "K");
    if (k < 1 || k > std::int64_t{x->dims[axis]}) {
        refuse_invalid(std::to_string(k) + " of " + std::to_string(x->dims[axis]) + " elements");
    }
    if (k > kMaxTop) {
        refuse_too_large("the largest " + std::to_string(k) + " elements; " + std::to_string(kMaxTop) + " at most");
    }
    const Rows rows = rows_along(lowering, x, one_axis(axis));
    const Value value = is_largest ? rows.value : tape.scale(rows.value, -1.0F);
    const Value nothing = lowering.scalar(-std::numeric_limits<float>::infinity());
    Value left = graph.max(value, lowering.scalar(-std::numeric_limits<float>::max()));
    std::vector<Value> values;
    std::vector<Value> indices;
    for (std::int64_t i = 0; i < k; ++i) {
        const Value at = graph.row_arg_max(left);
        const Value hot = graph.one_hot(at, rows.shape.cols);
        const Value found = tape.row_max(tape.select(value, hot, nothing));
        values.push_back(is_largest ? found : tape.scale(found, -1.0F));
        indices.push_back(graph.to_float(at));
        left = graph.select(left, negated(lowering, hot), nothing);
    }
    return {along_axis(call, rows, axis, values, x->type), along_axis(call, rows, axis, indices, ElementType::kInt64)};
}

}  // namespace

std::vector<Operator> top_k_operators() {
    return {{"TopK", 10, Derivative::kExact, {"axis", "largest", "sorted"}, lower_top_k}};
}

}  // namespace assay::onnx
