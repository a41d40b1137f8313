// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/onnx/gathering.hpp>

#include <algorithm>
#include <numeric>

#include <verifier/compile/onnx/limits.hpp>

namespace assay::onnx {

using canonical::kTileDim;

namespace {

std::uint32_t to_tile(std::uint32_t n) { return (n + kTileDim - 1) / kTileDim * kTileDim; }

// Indices as i32 [B,1].
Value known_column(Lowering& lowering, const std::vector<std::int64_t>& indices) {
    const auto count = static_cast<std::uint32_t>(indices.size());
    return lowering.array(lowering.add_constant(make_integers(ElementType::kInt64, {count, 1}, indices))).value;
}

}  // namespace

Value from_front(Lowering& lowering, const Value& index, std::uint32_t size) {
    program::GraphBuilder& graph = lowering.graph();
    const Value shifted = graph.add_const(index, static_cast<float>(size));
    return graph.select(shifted, graph.less(index, lowering.scalar(0.0F)), index);
}

Value gather(Lowering& lowering, const Value& table, const Value& index) {
    const std::uint32_t width = table.shape.cols;
    const std::uint32_t padded = to_tile(width);
    checked_shape(table.shape.rows, padded);
    checked_shape(index.shape.rows, padded);
    program::Tape& tape = lowering.tape();
    const Dims dims{table.shape.rows, width};
    const std::vector<std::int32_t> none{0, 0};
    const std::vector<std::int32_t> more{0, static_cast<std::int32_t>(padded - width)};
    const Value wide =
        padded == width ? table : lowering.view(table, program::pad_view(dims, none, more), {table.shape.rows, padded});
    const Value rows = tape.embed(wide, index);
    return padded == width
               ? rows
               : lowering.view(
                     rows, program::slice_view({index.shape.rows, padded}, 1, 0, width), {index.shape.rows, width}
                 );
}

Value column_of(Lowering& lowering, const Operand& x) {
    const Value value = lowering.real(lowering.array(x));
    return lowering.view_as(value, checked_shape(value.shape.element_count(), 1));
}

Value computed_column(Lowering& lowering, const Operand& index, std::uint32_t size) {
    return lowering.graph().to_int(from_front(lowering, column_of(lowering, index), size));
}

Value axis_first(Lowering& lowering, const Operand& x, std::uint32_t axis) {
    std::vector<std::uint32_t> order(x->dims.size());
    std::iota(order.begin(), order.end(), 0U);
    std::rotate(order.begin(), order.begin() + axis, order.begin() + axis + 1);
    const std::uint64_t rest = checked_elements(x->dims) / x->dims[axis];
    return lowering.matrix(lowering.array(x), order, checked_shape(x->dims[axis], rest));
}

Operand pick(Lowering& lowering, const Operand& x, std::uint32_t axis, const std::vector<std::int64_t>& indices) {
    if (Operand taken = lowering.take(x, axis, indices)) {
        return taken;
    }
    const Value rows = gather(lowering, axis_first(lowering, x, axis), known_column(lowering, indices));
    Dims found{static_cast<std::uint32_t>(indices.size())};
    std::vector<std::uint32_t> back;
    for (std::uint32_t i = 0; i < x->dims.size(); ++i) {
        if (i != axis) {
            found.push_back(x->dims[i]);
        }
        back.push_back(i == axis ? 0 : i < axis ? i + 1 : i);
    }
    return lowering.permute(lowering.add_array(lowering.from_matrix(rows, x->type, found)), back);
}

}  // namespace assay::onnx
