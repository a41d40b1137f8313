// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <utility>

#include <core/base/assert.hpp>
#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/lowering.hpp>

namespace assay::onnx {

using canonical::DType;
using canonical::Shape;
using canonical::View;

namespace {

// A run of equally spaced positions.
struct Run {
    std::int64_t first = 0;
    std::int64_t step = 1;
    std::uint32_t count = 1;
};
constexpr std::size_t kMaxRuns = 16;

std::vector<Run> runs_of(std::span<const std::int64_t> indices) {
    std::vector<Run> out;
    for (const std::int64_t index : indices) {
        if (!out.empty() && out.back().count == 1) {
            out.back().step = index - out.back().first;
            ++out.back().count;
        } else if (!out.empty() && index == out.back().first + out.back().step * out.back().count) {
            ++out.back().count;
        } else {
            out.push_back({index, 1, 1});
        }
    }
    return out;
}

// slice_view that may also stand still.
View run_view(const Dims& dims, std::uint32_t axis, const Run& run) {
    View out = program::slice_view(dims, axis, run.first, 1, 1);
    out.dims[axis] = run.count;
    out.axes[axis].strides[axis] = static_cast<std::int32_t>(run.step);
    return out;
}

bool is_identity(std::span<const std::uint32_t> order) {
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (order[i] != i) {
            return false;
        }
    }
    return true;
}

Dims padded_rank(const Dims& dims, std::size_t rank) {
    Dims out(rank - dims.size(), 1);
    out.insert(out.end(), dims.begin(), dims.end());
    return out;
}

}  // namespace

Dims broadcast_dims(std::span<const Dims> shapes) {
    Dims out;
    for (const Dims& shape : shapes) {
        if (shape.size() > out.size()) {
            out = padded_rank(out, shape.size());
        }
        for (std::size_t i = 0; i < shape.size(); ++i) {
            std::uint32_t& size = out[out.size() - shape.size() + i];
            if (size == 1) {
                size = shape[i];
            } else if (shape[i] != 1 && shape[i] != size) {
                refuse_invalid("dimensions " + to_text(shape) + " do not broadcast to " + to_text(out));
            }
        }
    }
    return out;
}

Dims broadcast_dims(const Dims& a, const Dims& b) {
    const std::vector<Dims> both{a, b};
    return broadcast_dims(both);
}

std::vector<std::uint32_t> to_channels_last(std::size_t rank) {
    std::vector<std::uint32_t> out{0};
    for (std::uint32_t axis = 2; axis < rank; ++axis) {
        out.push_back(axis);
    }
    out.push_back(1);
    return out;
}

std::vector<std::uint32_t> inverse(std::span<const std::uint32_t> order) {
    std::vector<std::uint32_t> out(order.size(), 0);
    for (std::uint32_t i = 0; i < order.size(); ++i) {
        out[order[i]] = i;
    }
    return out;
}

std::vector<std::uint32_t> to_channels_first(std::size_t rank) { return inverse(to_channels_last(rank)); }

Dims permuted(const Dims& dims, std::span<const std::uint32_t> order) {
    Dims out;
    for (const std::uint32_t axis : order) {
        out.push_back(dims[axis]);
    }
    return out;
}

Value Lowering::view(const Value& x, const View& view, Shape shape, double fill) {
    checked_shape(shape.rows, shape.cols);
    const Value out = graph_.view(x, view, shape, static_cast<float>(fill));
    // Views that undo each other end at a weight, which the tape must not take for something computed.
    if (x.dtype != DType::kF32 || out.source == canonical::Source::kState) {
        return out;
    }
    return tape_.view(x, view, shape, static_cast<float>(fill));
}

Value Lowering::transpose(const Value& x, std::uint32_t groups) {
    const Value out = graph_.transpose(x, groups);
    return out.source == canonical::Source::kState ? out : tape_.transpose(x, groups);
}

Operand Lowering::apply(const Operand& x, const View& view, double fill) {
    const std::uint64_t count = checked_elements(view.dims);
    if (x->constant && count <= kMaxConstant) {
        return add_constant(view_constant(*x->constant, view, fill));
    }
    require_array(view.dims);
    Array from = array(x);
    if (fill != 0.0) {
        from.value = real(from);
    }
    const Value value = this->view(from.value, view, program::matrix_shape(view.dims), fill);
    return add_array({x->type, view.dims, value, false});
}

Operand Lowering::reshape(const Operand& x, const Dims& dims) {
    if (checked_elements(dims) != checked_elements(x->dims)) {
        refuse_invalid("dimensions " + to_text(x->dims) + " do not reshape to " + to_text(dims));
    }
    if (dims == x->dims) {
        return x;
    }
    if (x->constant) {
        Constant same = *x->constant;
        same.dims = dims;
        return add_constant(std::move(same));
    }
    return add_array(from_matrix(array(x).value, x->type, dims));
}

Operand Lowering::permute(const Operand& x, std::span<const std::uint32_t> order) {
    const Dims dims = permuted(x->dims, order);
    if (is_identity(order)) {
        return x;
    }
    if (x->is_empty() || dims.empty()) {
        return reshape(x, dims);
    }
    if (x->array && x->array->channels_last) {
        // Back to front is what the matrix holds already.
        const auto last = to_channels_last(dims.size());
        if (std::equal(order.begin(), order.end(), last.begin(), last.end())) {
            return add_array({x->type, dims, x->array->value, false});
        }
    }
    return apply(x, program::permute_view(x->dims, order));
}

Operand Lowering::slice(
    const Operand& x, std::uint32_t axis, std::int64_t first, std::uint32_t count, std::int32_t step
) {
    Dims dims = x->dims;
    dims[axis] = count;
    if (checked_elements(dims) == 0) {
        return add_constant(Constant{x->type, dims, {}, {}});
    }
    return dims == x->dims && step == 1 ? x : apply(x, program::slice_view(x->dims, axis, first, count, step));
}

Operand Lowering::pad(
    const Operand& x, std::span<const std::int32_t> before, std::span<const std::int32_t> after, double fill
) {
    Dims dims = x->dims;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        const std::int64_t size = std::int64_t{dims[i]} + before[i] + after[i];
        if (size < 0 || size > std::int64_t{canonical::kMaxViewSize}) {
            refuse_invalid("padding makes a dimension of " + std::to_string(size));
        }
        dims[i] = static_cast<std::uint32_t>(size);
    }
    const std::uint64_t count = checked_elements(dims);
    if (x->is_empty() || count == 0) {
        return add_constant(count == 0 ? Constant{x->type, dims, {}, {}} : make_uniform(x->type, dims, fill));
    }
    return dims.empty() ? x : apply(x, program::pad_view(x->dims, before, after), fill);
}

Operand Lowering::expand(const Operand& x, const Dims& dims) {
    if (broadcast_dims(x->dims, dims) != dims) {
        refuse_invalid("dimensions " + to_text(x->dims) + " do not expand to " + to_text(dims));
    }
    if (x->constant && (x->constant->is_uniform() || checked_elements(dims) == 0)) {
        Constant same = *x->constant;
        same.dims = dims;
        if (checked_elements(dims) == 0) {
            same.reals.clear();
            same.integers.clear();
        }
        return add_constant(std::move(same));
    }
    if (checked_elements(dims) == 0) {
        return add_constant(Constant{x->type, dims, {}, {}});
    }
    return dims == x->dims ? x : apply(x, program::expand_view(x->dims, dims));
}

Operand Lowering::concat(std::span<const Operand> parts, std::uint32_t axis) {
    std::vector<Operand> used;
    std::uint64_t size = 0;
    for (const Operand& part : parts) {
        size += part->dims[axis];
        if (!part->is_empty()) {
            used.push_back(part);
        }
    }
    Dims dims = parts[0]->dims;
    dims[axis] = static_cast<std::uint32_t>(std::min<std::uint64_t>(size, canonical::kMaxViewSize));
    const std::uint64_t count = checked_elements(dims);
    if (used.empty()) {
        return add_constant(Constant{parts[0]->type, dims, {}, {}});
    }
    const auto is_known = [](const Operand& part) { return part->constant.has_value(); };
    if (count <= kMaxConstant && std::all_of(used.begin(), used.end(), is_known)) {
        std::vector<const Constant*> constants;
        constants.reserve(used.size());
        for (const Operand& part : used) {
            constants.push_back(&*part->constant);
        }
        return add_constant(concat_constants(constants, axis, dims));
    }
    if (used.size() == 1) {
        return used[0];
    }
    require_array(dims);
    std::vector<Value> values;
    std::vector<Dims> shapes;
    for (const Operand& part : used) {
        values.push_back(real(array(part)));
        shapes.push_back(part->dims);
    }
    join(values, shapes, axis);
    return add_array(from_matrix(values[0], parts[0]->type, dims));
}

// Neighbours two by two, so that many parts are not each padded to the whole.
void Lowering::join(std::vector<Value>& values, std::vector<Dims>& shapes, std::uint32_t axis) {
    while (values.size() > 1) {
        std::vector<Value> joined;
        std::vector<Dims> wider;
        for (std::size_t i = 0; i < values.size(); i += 2) {
            const std::size_t count = std::min<std::size_t>(2, values.size() - i);
            Dims dims = shapes[i];
            dims[axis] += count == 2 ? shapes[i + 1][axis] : 0;
            joined.push_back(
                count == 2 ? tape_.concat(std::span(values).subspan(i, 2), std::span(shapes).subspan(i, 2), axis)
                           : values[i]
            );
            wider.push_back(std::move(dims));
        }
        values = std::move(joined);
        shapes = std::move(wider);
    }
}

Operand Lowering::take(const Operand& x, std::uint32_t axis, std::span<const std::int64_t> indices) {
    Dims dims = x->dims;
    dims[axis] = static_cast<std::uint32_t>(indices.size());
    if (checked_elements(dims) == 0) {
        return add_constant(Constant{x->type, dims, {}, {}});
    }
    if (x->constant && checked_elements(dims) <= kMaxConstant) {
        return add_constant(take_constant(*x->constant, axis, indices));
    }
    const std::vector<Run> runs = runs_of(indices);
    if (runs.size() <= kMaxRuns) {
        std::vector<Operand> parts;
        parts.reserve(runs.size());
        for (const Run& run : runs) {
            parts.push_back(apply(x, run_view(x->dims, axis, run)));
        }
        return concat(parts, axis);
    }
    return nullptr;
}

Array Lowering::channels_last(const Array& x) {
    if (x.channels_last || x.dims.size() <= 2) {
        return x;
    }
    const auto order = to_channels_last(x.dims.size());
    const Dims dims = permuted(x.dims, order);
    Array out = x;
    out.value = view(x.value, program::permute_view(x.dims, order), program::matrix_shape(dims), 0.0);
    out.channels_last = true;
    return out;
}

Array Lowering::channels_first(const Array& x) {
    if (!x.channels_last) {
        return x;
    }
    const Dims stored = permuted(x.dims, to_channels_last(x.dims.size()));
    const auto order = to_channels_first(x.dims.size());
    Array out = x;
    out.value = view(x.value, program::permute_view(stored, order), program::matrix_shape(x.dims), 0.0);
    out.channels_last = false;
    return out;
}

Value Lowering::view_as(const Value& x, Shape shape) {
    ASSERT(shape.element_count() == x.shape.element_count());
    if (x.shape == shape) {
        return x;
    }
    const auto same = program::try_reshape_view({x.shape.rows, x.shape.cols}, {shape.rows, shape.cols});
    if (!same) {
        refuse_too_large(
            "no view makes a matrix of " + std::to_string(shape.rows) + " by " + std::to_string(shape.cols) +
            " of one of " + std::to_string(x.shape.rows) + " by " + std::to_string(x.shape.cols) +
            ": what their rows have in common leaves more than 2^28 elements (PRG-7)"
        );
    }
    return view(x, *same, shape, 0.0);
}

Value Lowering::matrix(const Array& x, std::span<const std::uint32_t> order, Shape shape) {
    const Array plain = channels_first(x);
    if (is_identity(order)) {
        return view_as(real(plain), shape);
    }
    return view(real(plain), program::permute_view(plain.dims, order), shape, 0.0);
}

Array Lowering::from_matrix(const Value& value, ElementType type, const Dims& dims) {
    require_array(dims);
    return {type, dims, view_as(value, program::matrix_shape(dims)), false};
}

Value Lowering::fit(const Array& x, const Dims& to, bool channels_last) {
    const Dims padded = padded_rank(x.dims, to.size());
    if (!channels_last) {
        const Array plain = channels_first(x);
        const Value value = real(plain);
        const Shape shape = program::matrix_shape(to);
        const Shape small = program::matrix_shape(padded);
        const bool repeats_rows = small.rows == 1 && (small.cols == shape.cols || small.cols == 1);
        const bool repeats_cols = small.rows == shape.rows && (small.cols == 1 || small.cols == shape.cols);
        if (value.shape == small && (repeats_rows || repeats_cols)) {
            return value;
        }
        return view(value, program::expand_view(x.dims, to), shape, 0.0);
    }
    // The same question about the stored order.
    const auto order = to_channels_last(to.size());
    Array stored = x;
    if (!x.channels_last) {
        stored = from_matrix(channels_first(x).value, x.type, padded);
        stored = this->channels_last(stored);
    }
    stored.dims = permuted(padded, order);
    stored.channels_last = false;
    const Shape shape = program::matrix_shape(stored.dims);
    ASSERT(stored.value.shape == shape);
    return fit(stored, permuted(to, order), false);
}

Value Lowering::whole(const Array& x, const Dims& to, bool channels_last) {
    const Value value = fit(x, to, channels_last);
    const Shape shape = program::matrix_shape(channels_last ? permuted(to, to_channels_last(to.size())) : to);
    if (value.shape == shape) {
        return value;
    }
    return view(
        value, program::expand_view({value.shape.rows, value.shape.cols}, {shape.rows, shape.cols}), shape, 0.0
    );
}

}  // namespace assay::onnx
