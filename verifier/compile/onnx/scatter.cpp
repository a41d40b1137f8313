// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <verifier/compile/onnx/arithmetic.hpp>
#include <verifier/compile/onnx/gathering.hpp>
#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>
#include <verifier/compile/onnx/rows.hpp>

namespace assay::onnx {
namespace {

// With the indices known, a scatter is a choice: each element of the result is one of the data or one of the updates.
Operand chosen(Call& call, const Operand& data, const Operand& updates, const std::vector<std::int64_t>& choice) {
    Lowering& lowering = call.lowering();
    const auto count = static_cast<std::uint32_t>(checked_elements(data->dims));
    const auto more = static_cast<std::uint32_t>(checked_elements(updates->dims));
    const std::vector<Operand> parts{lowering.reshape(data, {count}), lowering.reshape(updates, {more})};
    return lowering.reshape(pick(lowering, lowering.concat(parts, 0), 0, choice), data->dims);
}

std::vector<std::int64_t> all_data(const Operand& data) {
    const std::uint64_t count = checked_elements(data->dims);
    if (count > kMaxConstant) {
        refuse_too_large("a scatter into an array of dimensions " + to_text(data->dims));
    }
    std::vector<std::int64_t> out(count);
    std::iota(out.begin(), out.end(), 0);
    return out;
}

void require_replacement(const Call& call) {
    const std::string reduction = call.text("reduction", "none");
    if (reduction != "none") {
        call.unsupported_attribute("reduction", "'" + reduction + "'");
    }
}

std::int64_t from_start(std::int64_t index, std::int64_t size) {
    const std::int64_t out = index < 0 ? index + size : index;
    if (out < 0 || out >= size) {
        refuse_invalid("index " + std::to_string(index) + " is out of range for " + std::to_string(size) + " elements");
    }
    return out;
}

// Indices that a step computes: each of a row's updates replaces, or is added to, what is at its index. What has an
// index out of range is left out.
Outputs scatter_computed(Call& call, std::uint32_t axis) {
    Lowering& lowering = call.lowering();
    program::GraphBuilder& graph = call.graph();
    program::Tape& tape = call.tape();
    const Operand& data = call.in(0);
    const Operand& index = call.in(1);
    const Operand& updates = call.in(2);
    Dims like = data->dims;
    like[axis] = index->dims[axis];
    if (index->dims != like || kind_of(data->type) == Kind::kInteger || data->is_empty() || index->is_empty()) {
        refuse_unsupported(
            "indices that are computed have to cover " + to_text(data->dims) + " but for axis " + std::to_string(axis) +
            ", and what is scattered must be real or bool"
        );
    }
    const bool adds = call.text("reduction", "none") == "add";
    const Rows rows = rows_along(lowering, data, one_axis(axis));
    const Rows more = rows_along(lowering, updates, one_axis(axis));
    const Array places{index->type, index->dims, lowering.real(lowering.array(index)), false};
    const Rows at = rows_along(lowering, lowering.add_array(places), one_axis(axis));
    const Dims dims{at.shape.rows, at.shape.cols};
    Value out = rows.value;
    for (std::uint32_t i = 0; i < at.shape.cols; ++i) {
        const Value place = graph.to_int(from_front(lowering, graph.slice_cols(at.value, i, 1), rows.shape.cols));
        const Value hot = graph.one_hot(place, rows.shape.cols);
        const Value update = lowering.view(more.value, program::slice_view(dims, 1, i, 1), {dims[0], 1});
        out = adds ? tape.add(out, tape.mul(hot, update)) : tape.select(out, negated(lowering, hot), update);
    }
    return {from_rows(lowering, data, rows, out)};
}

// The last of several updates of one element wins.
Outputs lower_scatter_elements(Call& call) {
    if (!call.in(1)->constant) {
        const std::string reduction = call.text("reduction", "none");
        if (reduction != "none" && reduction != "add") {
            call.unsupported_attribute("reduction", "'" + reduction + "'");
        }
        call.require_kind(1, Kind::kInteger, "indices");
        call.require_same_type(0, 2);
        if (call.rank(1) != call.rank(0) || call.in(2)->dims != call.in(1)->dims) {
            refuse_invalid("indices " + to_text(call.in(1)->dims) + " and updates " + to_text(call.in(2)->dims));
        }
        return scatter_computed(call, call.axis_of(call.integer("axis", 0), call.rank(0)));
    }
    require_replacement(call);
    call.require_same_type(0, 2);
    const Operand& data = call.in(0);
    const Operand& updates = call.in(2);
    const std::size_t rank = data->dims.size();
    const std::uint32_t axis = call.axis_of(call.integer("axis", 0), rank);
    const std::vector<std::int64_t> indices = call.known_integers(1, "indices");
    const Dims& dims = call.in(1)->dims;
    if (dims.size() != rank || updates->dims != dims) {
        refuse_invalid(
            "indices " + to_text(dims) + " and updates " + to_text(updates->dims) + " for " + to_text(data->dims)
        );
    }
    std::vector<std::int64_t> choice = all_data(data);
    const auto count = static_cast<std::int64_t>(choice.size());
    for (std::size_t i = 0; i < indices.size(); ++i) {
        std::int64_t flat = 0;
        std::size_t rest = i;
        std::size_t block = indices.size();
        for (std::size_t d = 0; d < rank; ++d) {
            block /= dims[d];
            const auto at = static_cast<std::int64_t>(rest / block);
            rest %= block;
            flat = flat * data->dims[d] + from_start(d == axis ? indices[i] : at, data->dims[d]);
        }
        choice[static_cast<std::size_t>(flat)] = count + static_cast<std::int64_t>(i);
    }
    return {indices.empty() ? data : chosen(call, data, updates, choice)};
}

Outputs lower_scatter_nd(Call& call) {
    require_replacement(call);
    call.require_same_type(0, 2);
    const Operand& data = call.in(0);
    const Operand& updates = call.in(2);
    const Dims& dims = call.in(1)->dims;
    const std::vector<std::int64_t> indices = call.known_integers(1, "indices");
    const std::size_t depth = dims.empty() ? 0 : dims.back();
    if (depth == 0 || depth > data->dims.size()) {
        refuse_invalid("indices of dimensions " + to_text(dims) + " for an array of " + to_text(data->dims));
    }
    const auto cut = static_cast<std::ptrdiff_t>(depth);
    const Dims inner(data->dims.begin() + cut, data->dims.end());
    Dims expected(dims.begin(), dims.end() - 1);
    expected.insert(expected.end(), inner.begin(), inner.end());
    if (updates->dims != expected) {
        refuse_invalid("updates of dimensions " + to_text(updates->dims) + ", not " + to_text(expected));
    }
    std::vector<std::int64_t> choice = all_data(data);
    const auto count = static_cast<std::int64_t>(choice.size());
    const std::uint64_t slice = checked_elements(inner);
    for (std::size_t i = 0; i < indices.size() / depth; ++i) {
        std::int64_t flat = 0;
        for (std::size_t d = 0; d < depth; ++d) {
            flat = flat * data->dims[d] + from_start(indices[i * depth + d], data->dims[d]);
        }
        const auto first = choice.begin() + flat * static_cast<std::int64_t>(slice);
        std::iota(first, first + static_cast<std::int64_t>(slice), count + static_cast<std::int64_t>(i * slice));
    }
    return {indices.empty() || slice == 0 ? data : chosen(call, data, updates, choice)};
}

}  // namespace

std::vector<Operator> scatter_operators() {
    constexpr Derivative kExact = Derivative::kExact;
    return {
        {"Scatter", 9, kExact, {"axis"}, lower_scatter_elements},
        {"ScatterElements", 11, kExact, {"axis", "reduction"}, lower_scatter_elements},
        {"ScatterND", 11, kExact, {"reduction"}, lower_scatter_nd},
    };
}

}  // namespace assay::onnx
