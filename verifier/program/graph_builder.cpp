// SPDX-License-Identifier: Apache-2.0
#include <verifier/program/graph_builder.hpp>

#include <bit>
#include <utility>

#include <core/base/assert.hpp>
#include <core/base/integers.hpp>

namespace assay::program {

using canonical::DType;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Source;

namespace {

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

// The smallest chunk that covers `cols` columns.
std::uint32_t whole_row(std::uint32_t cols) { return div_ceil(cols, 32U) * 32U; }

}  // namespace

Value GraphBuilder::state(std::uint32_t index, const canonical::TensorType& type) {
    return Value{Source::kState, index, type.dtype, type.shape};
}

Value GraphBuilder::emit(
    Op op, DType dtype, Shape shape, std::array<std::uint32_t, 2> attributes, std::vector<Value> inputs
) {
    Node node{op, dtype, shape, attributes, std::move(inputs)};
    ASSERT(canonical::check_node(node).has_value());
    std::size_t index = 0;
    while (index < graph_.size() && !(graph_[index] == node)) {
        ++index;
    }
    if (index == graph_.size()) {
        graph_.push_back(std::move(node));
    }
    return Value{Source::kNode, static_cast<std::uint32_t>(index), dtype, shape};
}

Value GraphBuilder::binary(Op op, const Value& x, const Value& y) {
    return emit(op, DType::kF32, x.shape, {}, {x, y});
}

Value GraphBuilder::unary(Op op, const Value& x, std::uint32_t attribute) {
    return emit(op, DType::kF32, x.shape, {attribute, 0}, {x});
}

Value GraphBuilder::batch_rows(Shape shape) { return emit(Op::kBatchRows, DType::kI32, shape, {}, {}); }

Value GraphBuilder::uniform(Shape shape, float bound, std::uint32_t tensor_id) {
    return emit(Op::kUniform, DType::kF32, shape, {bits_of(bound), tensor_id}, {});
}

Value GraphBuilder::fill(Shape shape, float value) {
    return emit(Op::kFill, DType::kF32, shape, {bits_of(value), 0}, {});
}

Value GraphBuilder::transpose(const Value& x) {
    return emit(Op::kTranspose, x.dtype, Shape{x.shape.cols, x.shape.rows}, {}, {x});
}

Value GraphBuilder::slice_cols(const Value& x, std::uint32_t first, std::uint32_t count) {
    return emit(Op::kSliceCols, x.dtype, Shape{x.shape.rows, count}, {first, 0}, {x});
}

Value GraphBuilder::gather_rows(const Value& table, const Value& index) {
    return emit(
        Op::kGatherRows, DType::kF32, Shape{index.shape.rows, index.shape.cols * table.shape.cols}, {}, {table, index}
    );
}

Value GraphBuilder::scatter_add_rows(const Value& q, const Value& index, Shape table) {
    return emit(Op::kScatterAddRows, DType::kI64, table, {}, {q, index});
}

Value GraphBuilder::one_hot(const Value& index, std::uint32_t classes) {
    return emit(Op::kOneHot, DType::kF32, Shape{index.shape.rows, classes}, {}, {index});
}

Value GraphBuilder::add(const Value& x, const Value& y) { return binary(Op::kAdd, x, y); }
Value GraphBuilder::sub(const Value& x, const Value& y) { return binary(Op::kSub, x, y); }
Value GraphBuilder::mul(const Value& x, const Value& y) { return binary(Op::kMul, x, y); }
Value GraphBuilder::div(const Value& x, const Value& y) { return binary(Op::kDiv, x, y); }
Value GraphBuilder::sqrt(const Value& x) { return unary(Op::kSqrt, x); }
Value GraphBuilder::scale(const Value& x, float factor) { return unary(Op::kScale, x, bits_of(factor)); }
Value GraphBuilder::add_const(const Value& x, float term) { return unary(Op::kAddConst, x, bits_of(term)); }
Value GraphBuilder::relu(const Value& x) { return unary(Op::kRelu, x); }
Value GraphBuilder::relu_grad(const Value& x, const Value& gradient) { return binary(Op::kReluGrad, x, gradient); }
Value GraphBuilder::exp(const Value& x) { return unary(Op::kExp, x); }
Value GraphBuilder::log(const Value& x) { return unary(Op::kLog, x); }

Value GraphBuilder::row_max(const Value& x) { return emit(Op::kRowMax, x.dtype, Shape{x.shape.rows, 1}, {}, {x}); }

Value GraphBuilder::row_exponent(const Value& x, std::uint32_t chunk) {
    return emit(Op::kRowExponent, DType::kI32, Shape{x.shape.rows, div_ceil(x.shape.cols, chunk)}, {chunk, 0}, {x});
}

Value GraphBuilder::row_sum_exact(const Value& q) {
    return emit(Op::kRowSum, DType::kI64, Shape{q.shape.rows, 1}, {}, {q});
}

Value GraphBuilder::quantise(const Value& x, const Value& exponent, std::uint32_t precision, std::uint32_t chunk) {
    return emit(Op::kQuantise, DType::kI32, x.shape, {precision, chunk}, {x, exponent});
}

Value GraphBuilder::dequantise(const Value& q, const Value& exponent, std::uint32_t precision) {
    return emit(Op::kDequantise, DType::kF32, q.shape, {precision, 0}, {q, exponent});
}

Value GraphBuilder::matmul_nt(const Value& a, const Value& b) {
    const Value exponent_a = row_exponent(a, kContractChunk);
    const Value exponent_b = row_exponent(b, kContractChunk);
    const Value fixed_a = quantise(a, exponent_a, kContractPrecision, kContractChunk);
    const Value fixed_b = quantise(b, exponent_b, kContractPrecision, kContractChunk);
    return emit(
        Op::kContract, DType::kF32, Shape{a.shape.rows, b.shape.rows}, {kContractPrecision, kContractChunk},
        {fixed_a, exponent_a, fixed_b, exponent_b}
    );
}

Value GraphBuilder::row_sum(const Value& x) {
    const Value exponent = row_exponent(x, whole_row(x.shape.cols));
    const Value fixed = quantise(x, exponent, kSumPrecision, 0);
    return dequantise(row_sum_exact(fixed), exponent, kSumPrecision);
}

Value GraphBuilder::col_sum(const Value& x) { return transpose(row_sum(transpose(x))); }

Value GraphBuilder::mean(const Value& column) {
    ASSERT(column.shape.cols == 1);
    return scale(row_sum(transpose(column)), 1.0F / static_cast<float>(column.shape.rows));
}

Value GraphBuilder::scatter_sum(const Value& x, const Value& index, Shape table) {
    const Value per_row = row_exponent(x, whole_row(x.shape.cols));
    const Value exponent = row_max(transpose(per_row));
    const Value fixed = quantise(x, exponent, kSumPrecision, 0);
    return dequantise(scatter_add_rows(fixed, index, table), exponent, kSumPrecision);
}

canonical::Graph GraphBuilder::commit(std::span<const Value> state) && {
    graph_.push_back(Node{Op::kCommit, DType::kF32, Shape{}, {}, {state.begin(), state.end()}});
    return std::move(graph_);
}

}  // namespace assay::program
