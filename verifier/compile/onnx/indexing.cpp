// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <verifier/compile/onnx/arithmetic.hpp>
#include <verifier/compile/onnx/gathering.hpp>
#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>

namespace assay::onnx {
namespace {

// Indices known at import, counted from the front.
std::optional<std::vector<std::int64_t>> known_indices(const Operand& index, std::uint32_t size) {
    if (!index->constant) {
        return std::nullopt;
    }
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < index->constant->count(); ++i) {
        std::int64_t at = index->constant->integer(i);
        at = at < 0 ? at + size : at;
        if (at < 0 || at >= size) {
            refuse_invalid(
                "index " + std::to_string(at) + " is out of range for " + std::to_string(size) + " elements"
            );
        }
        out.push_back(at);
    }
    return out;
}

Outputs lower_gather(Call& call) {
    Lowering& lowering = call.lowering();
    const Operand& x = call.in(0);
    const Operand& index = call.in(1);
    call.require_kind(1, Kind::kInteger, "indices");
    const std::uint32_t axis = call.axis_of(call.integer("axis", 0), x->dims.size());
    Dims dims(x->dims.begin(), x->dims.begin() + axis);
    dims.insert(dims.end(), index->dims.begin(), index->dims.end());
    dims.insert(dims.end(), x->dims.begin() + axis + 1, x->dims.end());
    if (checked_elements(dims) == 0) {
        return {lowering.add_constant(Constant{x->type, dims, {}, {}})};
    }
    if (const auto known = known_indices(index, x->dims[axis])) {
        return {lowering.reshape(pick(lowering, x, axis, *known), dims)};
    }
    const Value rows = gather(lowering, axis_first(lowering, x, axis), computed_column(lowering, index, x->dims[axis]));
    // The indices take the axis' place.
    Dims found = index->dims;
    found.insert(found.end(), x->dims.begin(), x->dims.begin() + axis);
    found.insert(found.end(), x->dims.begin() + axis + 1, x->dims.end());
    const Operand out = lowering.add_array(lowering.from_matrix(rows, x->type, found));
    std::vector<std::uint32_t> back(found.size());
    std::iota(back.begin(), back.end(), 0U);
    const auto indices = static_cast<std::ptrdiff_t>(index->dims.size());
    std::rotate(back.begin(), back.begin() + indices, back.begin() + indices + axis);
    return {lowering.permute(out, back)};
}

// The flat positions that index i along `axis` of an array of `dims` means, for indices of `index_dims`.
std::vector<double> flat_bases(const Dims& dims, const Dims& index_dims, std::uint32_t axis) {
    std::vector<double> out;
    std::vector<std::uint32_t> at(index_dims.size(), 0);
    const std::uint64_t count = checked_elements(index_dims);
    for (std::uint64_t i = 0; i < count; ++i) {
        double flat = 0.0;
        for (std::size_t d = 0; d < dims.size(); ++d) {
            flat = flat * dims[d] + (d == axis ? 0 : at[d]);
        }
        out.push_back(flat);
        for (std::size_t d = at.size(); d-- > 0;) {
            if (++at[d] < index_dims[d]) {
                break;
            }
            at[d] = 0;
        }
    }
    return out;
}

constexpr std::uint64_t kMaxFlat = std::uint64_t{1} << 24U;

std::uint64_t stride_of(const Dims& dims, std::size_t axis) {
    std::uint64_t out = 1;
    for (std::size_t d = axis + 1; d < dims.size(); ++d) {
        out *= dims[d];
    }
    return out;
}

// Elements of x at flat positions (f32 [B,1], whole and in range).
Array gather_flat(Lowering& lowering, const Operand& x, const Value& positions, const Dims& dims) {
    const Value found = gather(lowering, column_of(lowering, x), lowering.graph().to_int(positions));
    return lowering.from_matrix(found, x->type, dims);
}

Outputs lower_gather_elements(Call& call) {
    Lowering& lowering = call.lowering();
    program::GraphBuilder& graph = call.graph();
    const Operand& x = call.in(0);
    const Operand& index = call.in(1);
    call.require_kind(1, Kind::kInteger, "indices");
    const std::uint32_t axis = call.axis_of(call.integer("axis", 0), x->dims.size());
    if (index->dims.size() != x->dims.size()) {
        refuse_invalid("indices of dimensions " + to_text(index->dims) + " for an array of " + to_text(x->dims));
    }
    for (std::size_t d = 0; d < x->dims.size(); ++d) {
        if (d != axis && index->dims[d] > x->dims[d]) {
            refuse_invalid("indices of dimensions " + to_text(index->dims) + " for an array of " + to_text(x->dims));
        }
    }
    if (index->is_empty()) {
        return {lowering.add_constant(Constant{x->type, index->dims, {}, {}})};
    }
    const std::uint64_t count = checked_elements(index->dims);
    if (checked_elements(x->dims) > kMaxFlat || count > kMaxConstant) {
        refuse_too_large("indices into an array of dimensions " + to_text(x->dims));
    }
    const auto rows = static_cast<std::uint32_t>(count);
    const Operand bases =
        lowering.add_constant(make_reals(ElementType::kFloat, {rows, 1}, flat_bases(x->dims, index->dims, axis)));
    const Value at = from_front(lowering, column_of(lowering, index), x->dims[axis]);
    const Value scaled = graph.scale(at, static_cast<float>(stride_of(x->dims, axis)));
    const Value positions = graph.add(scaled, lowering.array(bases).value);
    return {lowering.add_array(gather_flat(lowering, x, positions, index->dims))};
}

Outputs lower_gather_nd(Call& call) {
    Lowering& lowering = call.lowering();
    program::GraphBuilder& graph = call.graph();
    const Operand& x = call.in(0);
    const Operand& index = call.in(1);
    call.require_kind(1, Kind::kInteger, "indices");
    const std::int64_t batch_dims = call.integer("batch_dims", 0);
    const std::size_t depth = index->dims.empty() ? 0 : index->dims.back();
    if (batch_dims < 0 || depth == 0 ||
        batch_dims + static_cast<std::int64_t>(depth) > static_cast<std::int64_t>(x->dims.size()) ||
        batch_dims >= static_cast<std::int64_t>(index->dims.size())) {
        refuse_invalid("indices of dimensions " + to_text(index->dims) + " for an array of " + to_text(x->dims));
    }
    const auto batch = static_cast<std::ptrdiff_t>(batch_dims);
    if (!std::equal(x->dims.begin(), x->dims.begin() + batch, index->dims.begin())) {
        refuse_invalid("indices of dimensions " + to_text(index->dims) + " for an array of " + to_text(x->dims));
    }
    const auto cut = batch + static_cast<std::ptrdiff_t>(depth);
    const Dims outer(x->dims.begin(), x->dims.begin() + cut);
    const Dims inner(x->dims.begin() + cut, x->dims.end());
    Dims dims(index->dims.begin(), index->dims.end() - 1);
    dims.insert(dims.end(), inner.begin(), inner.end());
    if (checked_elements(dims) == 0) {
        return {lowering.add_constant(Constant{x->type, dims, {}, {}})};
    }
    const std::uint64_t table_rows = checked_elements(outer);
    const std::uint64_t rows = checked_elements(index->dims) / depth;
    if (table_rows > kMaxFlat || rows > kMaxConstant) {
        refuse_too_large("indices into an array of dimensions " + to_text(x->dims));
    }
    const Value columns =
        lowering.view_as(lowering.real(lowering.array(index)), checked_shape(rows, static_cast<std::uint64_t>(depth)));
    std::vector<double> bases(rows, 0.0);
    const std::uint64_t batches = checked_elements(Dims(x->dims.begin(), x->dims.begin() + batch));
    for (std::uint64_t row = 0; row < rows; ++row) {
        const std::uint64_t base_row = row / (rows / batches) * (table_rows / batches);
        bases[row] = static_cast<double>(base_row);
    }
    const Operand base =
        lowering.add_constant(make_reals(ElementType::kFloat, {static_cast<std::uint32_t>(rows), 1}, std::move(bases)));
    Value positions = lowering.whole(lowering.array(base), base->dims, false);
    for (std::size_t d = 0; d < depth; ++d) {
        const std::size_t axis = static_cast<std::size_t>(batch) + d;
        const Value at = graph.slice_cols(columns, static_cast<std::uint32_t>(d), 1);
        const Value front = from_front(lowering, at, outer[axis]);
        positions = graph.add(positions, graph.scale(front, static_cast<float>(stride_of(outer, axis))));
    }
    const Value table =
        lowering.view_as(lowering.real(lowering.array(x)), checked_shape(table_rows, checked_elements(inner)));
    const Value found = gather(lowering, table, graph.to_int(positions));
    return {lowering.add_array(lowering.from_matrix(found, x->type, dims))};
}

// As ONNX asks, an index below zero counts from the end.
Outputs lower_one_hot(Call& call) {
    Lowering& lowering = call.lowering();
    program::Tape& tape = call.tape();
    const Operand& index = call.in(0);
    const Operand& values = call.in(2);
    const std::int64_t depth = call.known_integer(1, "depth");
    if (depth < 1 || depth > std::int64_t{canonical::kMaxDimension} || checked_elements(values->dims) != 2) {
        refuse_invalid("depth " + std::to_string(depth) + " and values of dimensions " + to_text(values->dims));
    }
    const auto classes = static_cast<std::uint32_t>(depth);
    const std::size_t rank = index->dims.size() + 1;
    const std::uint32_t axis = call.axis_of(call.integer("axis", -1), rank);
    Dims last = index->dims;
    last.push_back(classes);
    if (checked_elements(last) == 0) {
        refuse_unsupported("there are no indices");
    }
    const Value hot = call.graph().one_hot(computed_column(lowering, index, classes), classes);
    const Value pair = lowering.view_as(lowering.real(lowering.array(values)), {1, 2});
    const Value off = lowering.view(pair, program::slice_view({1, 2}, 1, 0, 1), {1, 1});
    const Value on = lowering.view(pair, program::slice_view({1, 2}, 1, 1, 1), {1, 1});
    const Value cold = negated(lowering, hot);
    const Value both = tape.add(tape.mul(hot, on), tape.mul(cold, off));
    const Operand out = lowering.add_array(lowering.from_matrix(both, values->type, last));
    std::vector<std::uint32_t> order(rank);
    std::iota(order.begin(), order.end(), 0U);
    std::rotate(order.begin() + axis, order.end() - 1, order.end());
    return {lowering.permute(out, order)};
}

Outputs lower_compress(Call& call) {
    Lowering& lowering = call.lowering();
    Operand x = call.in(0);
    std::uint32_t axis = 0;
    if (call.has_attribute("axis")) {
        axis = call.axis_of(call.integer("axis"), x->dims.size());
    } else {
        x = lowering.reshape(x, {static_cast<std::uint32_t>(checked_elements(x->dims))});
    }
    std::vector<std::int64_t> picks;
    const std::vector<std::int64_t> condition = call.known_integers(1, "condition");
    for (std::size_t i = 0; i < condition.size() && i < x->dims[axis]; ++i) {
        if (condition[i] != 0) {
            picks.push_back(static_cast<std::int64_t>(i));
        }
    }
    return {pick(lowering, x, axis, picks)};
}

}  // namespace

std::vector<Operator> indexing_operators() {
    constexpr Derivative kExact = Derivative::kExact;
    return {
        {"Gather", 1, kExact, {"axis"}, lower_gather},
        {"GatherElements", 11, kExact, {"axis"}, lower_gather_elements},
        {"GatherND", 12, kExact, {"batch_dims"}, lower_gather_nd},
        {"OneHot", 9, kExact, {"axis"}, lower_one_hot},
        {"Compress", 9, kExact, {"axis"}, lower_compress},
    };
}

}  // namespace assay::onnx
