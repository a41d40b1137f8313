// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/torch/view.hpp>

#include <algorithm>
#include <bit>
#include <limits>

#include <verifier/engine/torch/math.hpp>

namespace assay::engine {

using canonical::DType;
using canonical::Node;
using canonical::View;
using canonical::ViewAxis;

namespace {

/// How much larger than what a view reads and writes the laid out input may be.
constexpr std::int64_t kMaxGrowth = 4;

// The fill is a computed f32, so canon (NUM-34).
std::int64_t fill_word(const Node& node) {
    const std::uint32_t bits = node.attributes[0];
    if (node.dtype != DType::kF32) {
        return std::bit_cast<std::int32_t>(bits);
    }
    const auto x = std::bit_cast<float>(bits);
    return std::bit_cast<std::int32_t>(x != x ? 0x7fc00000U : std::bit_cast<std::uint32_t>(x + 0.0F));
}

bool moves_both_ways(const ViewAxis& axis) {
    const auto is_forward = [](std::int32_t stride) { return stride > 0; };
    const auto is_backward = [](std::int32_t stride) { return stride < 0; };
    return std::any_of(axis.strides.begin(), axis.strides.end(), is_forward) &&
           std::any_of(axis.strides.begin(), axis.strides.end(), is_backward);
}

}  // namespace

DeviceView::DeviceView(const Node& node, at::Device device) : shape_(sizes_of(node.shape)), fill_(fill_word(node)) {
    const View& view = *node.view;
    dims_.assign(view.dims.begin(), view.dims.end());
    is_linear_ = std::none_of(view.axes.begin(), view.axes.end(), [&](const ViewAxis& axis) {
        // A stride along a dimension of one element moves nothing.
        ViewAxis moving = axis;
        for (std::size_t k = 0; k < view.dims.size(); ++k) {
            moving.strides[k] = view.dims[k] == 1 ? 0 : axis.strides[k];
        }
        return moves_both_ways(moving);
    });
    if (is_linear_) {
        plan_axes(view);
    }
    if (!is_linear_) {
        plan_table(view, device);
    }
}

void DeviceView::plan_axes(const View& view) {
    std::int64_t input_size = 1;
    std::int64_t output_size = 1;
    for (const ViewAxis& axis : view.axes) {
        input_size *= axis.size;
    }
    for (const std::int64_t size : dims_) {
        output_size *= size;
    }
    const std::int64_t most = kMaxGrowth * (input_size + output_size);
    std::vector<std::int64_t> starts;
    std::vector<std::vector<std::int64_t>> steps;
    for (const ViewAxis& from : view.axes) {
        Axis axis{.size = from.size, .divisor = from.divisor};
        std::int64_t offset = from.offset;
        std::int64_t reach = 0;
        std::vector<std::int64_t> step(dims_.size(), 0);
        for (std::size_t k = 0; k < dims_.size(); ++k) {
            step[k] = dims_[k] == 1 ? 0 : from.strides[k];
            reach += step[k] * (dims_[k] - 1);
        }
        const std::int64_t last = (axis.size - 1) * axis.divisor;
        axis.is_flipped = reach < 0;
        if (axis.is_flipped) {
            // Read from the other end, coordinate c is coordinate last - c.
            offset = last - offset;
            reach = -reach;
            std::transform(step.begin(), step.end(), step.begin(), [](std::int64_t s) { return -s; });
        }
        axis.below = std::max<std::int64_t>(0, -offset);
        axis.length = axis.below + std::max(last, offset + reach) + 1;
        is_filled_ = is_filled_ || axis.is_flipped || axis.divisor != 1 || axis.length != axis.size;
        starts.push_back(offset + axis.below);
        steps.push_back(std::move(step));
        axes_.push_back(axis);
    }
    strides_.assign(dims_.size(), 0);
    std::int64_t weight = 1;
    for (std::size_t a = axes_.size(); a-- > 0;) {
        if (axes_[a].length > most / weight) {
            is_linear_ = false;
            return;
        }
        start_ += starts[a] * weight;
        for (std::size_t k = 0; k < dims_.size(); ++k) {
            strides_[k] += steps[a][k] * weight;
        }
        weight *= axes_[a].length;
    }
}

void DeviceView::plan_table(const View& view, at::Device device) {
    const auto options = at::TensorOptions(device).dtype(at::kLong);
    const auto rank = static_cast<std::int64_t>(dims_.size());
    at::Tensor address = at::zeros(std::vector<std::int64_t>(dims_.size(), 1), options);
    at::Tensor is_inside = address.eq(0);
    for (const ViewAxis& axis : view.axes) {
        at::Tensor coordinate = at::full({1}, std::int64_t{axis.offset}, options);
        for (std::int64_t k = 0; k < rank; ++k) {
            const auto at = static_cast<std::size_t>(k);
            std::vector<std::int64_t> along(dims_.size(), 1);
            along[at] = dims_[at];
            if (axis.strides[at] != 0) {
                coordinate = coordinate + at::arange(dims_[at], options).view(along) * std::int64_t{axis.strides[at]};
            }
        }
        const std::int64_t divisor = axis.divisor;
        const at::Tensor limit = at::full({1}, divisor * axis.size, options);
        at::Tensor inside = coordinate.ge(0).logical_and(coordinate.lt(limit));
        coordinate = coordinate * inside.to(at::kLong);
        if (divisor != 1) {
            inside = inside.logical_and(coordinate.remainder(divisor).eq(0));
            coordinate = at::div(coordinate, at::full({1}, divisor, options), "floor");
        }
        is_inside = is_inside.logical_and(inside);
        address = address * std::int64_t{axis.size} + coordinate;
    }
    const at::Tensor flat = (address * is_inside.to(at::kLong)).expand(dims_).reshape({-1});
    const bool is_small = flat.numel() < std::numeric_limits<std::int32_t>::max();
    table_ = is_small ? flat.to(at::kInt) : flat;
    is_inside_ = is_inside.expand(dims_).reshape({-1});
}

at::Tensor DeviceView::lay_out(const at::Tensor& words) const {
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> lengths;
    std::vector<std::int64_t> flipped;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
        sizes.push_back(axes_[a].size);
        lengths.push_back(axes_[a].length);
        if (axes_[a].is_flipped) {
            flipped.push_back(static_cast<std::int64_t>(a));
        }
    }
    at::Tensor from = words.view(sizes);
    if (!flipped.empty()) {
        from = from.flip(flipped);
    }
    if (sizes == lengths) {
        return from.contiguous();
    }
    at::Tensor out = at::full(lengths, fill_, words.options());
    at::Tensor inner = out;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
        const Axis& axis = axes_[a];
        const std::int64_t end = axis.below + (axis.size - 1) * axis.divisor + 1;
        inner = inner.slice(static_cast<std::int64_t>(a), axis.below, end, axis.divisor);
    }
    inner.copy_(from);
    return out;
}

at::Tensor DeviceView::apply(const at::Tensor& x) const {
    const bool is_float = x.scalar_type() == at::kFloat;
    const at::Tensor words = is_float ? x.view(at::kInt) : x;
    at::Tensor out;
    if (is_linear_) {
        const at::Tensor from = is_filled_ ? lay_out(words) : words;
        out = from.as_strided(dims_, strides_, from.storage_offset() + start_);
    } else {
        const at::Tensor fill = at::full({}, fill_, words.options());
        out = at::where(is_inside_, words.reshape({-1}).index_select(0, table_), fill);
    }
    out = out.reshape(shape_);
    return is_float ? out.view(at::kFloat) : out;
}

}  // namespace assay::engine
