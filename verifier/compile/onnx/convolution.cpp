// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <verifier/compile/onnx/arithmetic.hpp>
#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>
#include <verifier/compile/onnx/products.hpp>
#include <verifier/compile/onnx/windows.hpp>

namespace assay::onnx {
namespace {

using canonical::Shape;
using canonical::View;
using program::Windows;

// A convolution as a product: every output position is a row of what its window reads.
struct ConvolutionProblem {
    Array x;  ///< channels last
    std::uint32_t groups = 1;
    std::uint32_t channels_in = 0;
    std::uint32_t channels_out = 0;
    std::uint64_t window = 1;  ///< positions of the kernel
    Dims dims;                 ///< of the result, channels last
    Value weight;              ///< [channels_out, window * channels_in / groups]
};

std::uint32_t group_count(const Call& call, std::uint32_t channels) {
    const std::int64_t groups = call.integer("group", 1);
    if (groups < 1 || groups > std::int64_t{channels} || channels % groups != 0) {
        refuse_invalid("group " + std::to_string(groups) + " for " + std::to_string(channels) + " channels");
    }
    return static_cast<std::uint32_t>(groups);
}

std::uint64_t positions_of(const Dims& dims) { return checked_elements(dims) / dims.back(); }

// As many groups at once as one matrix has rows for, and as keep its operands, padded to tiles, at 2^28 elements.
std::uint32_t groups_at_once(const ConvolutionProblem& problem, std::uint64_t positions) {
    constexpr std::uint64_t kMostElements = std::uint64_t{1} << 28U;
    const auto to_tile = [](std::uint64_t n) {
        return (n + canonical::kTileDim - 1) / canonical::kTileDim * canonical::kTileDim;
    };
    const std::uint64_t rows = to_tile(positions);
    const std::uint64_t depth = to_tile(problem.window * problem.channels_in / problem.groups);
    const std::uint64_t wide = std::max(depth, to_tile(problem.channels_out / problem.groups));
    const std::uint64_t most = std::min(canonical::kMaxDimension / rows, kMostElements / (rows * wide));
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(most, 1, problem.groups));
}

// What `count` groups from `first` on give: [positions, their output channels]. `rows` is what the windows of all read.
Value product_of_groups(
    Lowering& lowering, const ConvolutionProblem& problem, const Value& rows, std::uint32_t first, std::uint32_t count
) {
    const std::uint32_t per_group = problem.channels_in / problem.groups;
    const std::uint32_t outs = problem.channels_out / problem.groups;
    const std::uint32_t positions = rows.shape.rows;
    const auto window = static_cast<std::uint32_t>(problem.window);
    Value taken = rows;
    Value weight = problem.weight;
    if (count != problem.groups) {
        const Dims whole{positions, window, problem.groups, per_group};
        const Shape fewer = checked_shape(positions, std::uint64_t{window} * count * per_group);
        taken = lowering.view(rows, program::slice_view(whole, 2, first, count), fewer);
        weight = lowering.view(
            weight,
            program::slice_view({problem.channels_out, weight.shape.cols}, 0, std::int64_t{first} * outs, count * outs),
            Shape{count * outs, weight.shape.cols}
        );
    }
    const std::vector<std::uint32_t> groups_first{2, 0, 1, 3};
    const Shape split = checked_shape(std::uint64_t{positions} * count, problem.window * per_group);
    const Value grouped =
        lowering.view(taken, program::permute_view({positions, window, count, per_group}, groups_first), split);
    const Value product = grouped_product(lowering, grouped, weight, count);
    const std::vector<std::uint32_t> groups_behind{1, 0, 2};
    return lowering.view(
        product, program::permute_view({count, positions, outs}, groups_behind),
        checked_shape(positions, std::uint64_t{count} * outs)
    );
}

// [positions, window * channels] in the order of `windows`, group by group.
Value product_of(Lowering& lowering, const ConvolutionProblem& problem, const View& windows) {
    const std::uint64_t positions = positions_of(problem.dims);
    const Shape whole = checked_shape(positions, problem.window * problem.channels_in);
    const Value x = lowering.real(problem.x);
    const Value rows = lowering.view(x, windows, whole);
    if (problem.groups == 1) {
        return grouped_product(lowering, rows, problem.weight, 1);
    }
    const std::uint32_t at_once = groups_at_once(problem, positions);
    std::vector<Value> parts;
    std::vector<Dims> dims;
    for (std::uint32_t first = 0; first < problem.groups; first += at_once) {
        const std::uint32_t count = std::min(at_once, problem.groups - first);
        parts.push_back(product_of_groups(lowering, problem, rows, first, count));
        dims.push_back({parts.back().shape.rows, parts.back().shape.cols});
    }
    return parts.size() == 1 ? parts[0] : lowering.tape().concat(parts, dims, 1);
}

Operand with_bias(Call& call, const ConvolutionProblem& problem, Value value) {
    if (call.has(2)) {
        value = call.tape().add(value, call.lowering().fit(call.array(2), {1, problem.channels_out}, false));
    }
    return call.lowering().add_array({call.in(0)->type, channels_first_dims(problem.dims), value, true});
}

void require_bias(const Call& call, std::uint32_t channels) {
    if (call.has(2) && call.in(2)->dims != Dims{channels}) {
        refuse_invalid(
            "a bias of dimensions " + to_text(call.in(2)->dims) + " for " + std::to_string(channels) + " channels"
        );
    }
}

ConvolutionProblem problem_of(Call& call, const Dims& kernel) {
    ConvolutionProblem out;
    out.x = call.lowering().channels_last(call.array_any(0));
    out.channels_in = call.in(0)->dims[1];
    out.groups = group_count(call, out.channels_in);
    out.window = checked_elements(kernel);
    return out;
}

Outputs lower_conv(Call& call) {
    Lowering& lowering = call.lowering();
    const Operand& w = call.in(1);
    require_real(call.in(0));
    call.require_same_type(0, 1);
    const Dims spatial = spatial_dims(call.in(0));
    if (w->dims.size() != spatial.size() + 2 || w->is_empty()) {
        refuse_invalid("a weight of dimensions " + to_text(w->dims) + " for an input of " + to_text(call.in(0)->dims));
    }
    const Dims kernel(w->dims.begin() + 2, w->dims.end());
    if (kernel_of(call, kernel) != kernel) {
        refuse_invalid("kernel_shape does not agree with the weight's dimensions " + to_text(w->dims));
    }
    const Windows windows = windows_of(call, spatial, kernel);
    ConvolutionProblem problem = problem_of(call, kernel);
    problem.channels_out = w->dims[0];
    require_bias(call, problem.channels_out);
    if (std::uint64_t{w->dims[1]} * problem.groups != problem.channels_in ||
        problem.channels_out % problem.groups != 0) {
        refuse_invalid(
            "a weight of dimensions " + to_text(w->dims) + " for " + std::to_string(problem.groups) + " groups"
        );
    }
    const Dims stored = permuted(call.in(0)->dims, to_channels_last(call.rank(0)));
    problem.dims = program::window_dims(stored, windows);
    problem.dims.back() = problem.channels_out;
    const std::uint64_t width = problem.window * w->dims[1];
    problem.weight = lowering.matrix(
        lowering.array(w), to_channels_last(w->dims.size()), checked_shape(problem.channels_out, width)
    );
    if (problem.groups != 1) {
        return {with_bias(call, problem, product_of(lowering, problem, program::windows_view(stored, windows)))};
    }
    checked_shape(positions_of(problem.dims), width);
    const Value bias = call.has(2) ? lowering.fit(call.array(2), {1, problem.channels_out}, false)
                                   : call.graph().fill({1, problem.channels_out}, 0.0F);
    const Value value = call.tape().conv(lowering.real(problem.x), stored, windows, problem.weight, bias);
    return {lowering.add_array({call.in(0)->type, channels_first_dims(problem.dims), value, true})};
}

// One spatial axis of a transposed convolution.
struct Spread {
    std::int64_t size = 0;  ///< of the output
    std::int64_t before = 0;
};

Spread spread_of(
    const Call& call, std::size_t axis, std::int64_t size, std::int64_t reach, std::int64_t stride, std::size_t axes
) {
    const std::int64_t more = per_axis(call, "output_padding", axes, 0)[axis];
    const std::int64_t full = stride * (size - 1) + more + reach;
    const std::string auto_pad = call.text("auto_pad", "NOTSET");
    const std::vector<std::int64_t> shape = call.integers("output_shape");
    const bool is_same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
    if (!is_same && auto_pad != "NOTSET" && auto_pad != "VALID") {
        call.unsupported_attribute("auto_pad", "'" + auto_pad + "'");
    }
    if (!shape.empty() || is_same) {
        const std::int64_t wanted = shape.empty() ? size * stride : per_axis(call, "output_shape", axes, 0)[axis];
        const std::int64_t total = std::max<std::int64_t>(full - wanted, 0);
        return {wanted, auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2};
    }
    const auto pads =
        auto_pad == "VALID" ? std::vector<std::int64_t>(2 * axes, 0) : per_axis(call, "pads", 2 * axes, 0);
    return {full - pads[axis] - pads[axes + axis], pads[axis]};
}

// Output position o reads input position (o + before - dilation * k) / stride through position k of the kernel.
Outputs lower_conv_transpose(Call& call) {
    Lowering& lowering = call.lowering();
    const Operand& w = call.in(1);
    require_real(call.in(0));
    call.require_same_type(0, 1);
    const Dims spatial = spatial_dims(call.in(0));
    const std::size_t axes = spatial.size();
    if (w->dims.size() != axes + 2 || w->is_empty() || w->dims[0] != call.in(0)->dims[1]) {
        refuse_invalid("a weight of dimensions " + to_text(w->dims) + " for an input of " + to_text(call.in(0)->dims));
    }
    const Dims kernel(w->dims.begin() + 2, w->dims.end());
    ConvolutionProblem problem = problem_of(call, kernel);
    problem.channels_out = w->dims[1] * problem.groups;
    require_bias(call, problem.channels_out);
    const auto strides = per_axis(call, "strides", axes, 1);
    const auto dilations = per_axis(call, "dilations", axes, 1);
    View windows;
    windows.axes.push_back({.size = call.in(0)->dims[0], .offset = 0, .divisor = 1, .strides = {}});
    problem.dims = {call.in(0)->dims[0]};
    for (std::size_t i = 0; i < axes; ++i) {
        if (strides[i] < 1 || dilations[i] < 1 || strides[i] > 0x10000 || dilations[i] > 0x10000) {
            refuse_invalid("strides or dilations are out of range");
        }
        const std::int64_t reach = dilations[i] * (kernel[i] - 1) + 1;
        const Spread spread = spread_of(call, i, spatial[i], reach, strides[i], axes);
        if (spread.size < 1 || spread.size > canonical::kMaxDimension ||
            std::abs(spread.before) > canonical::kMaxDimension) {
            refuse_invalid("the output has a dimension of " + std::to_string(spread.size));
        }
        problem.dims.push_back(static_cast<std::uint32_t>(spread.size));
        windows.axes.push_back(
            {.size = spatial[i],
             .offset = static_cast<std::int32_t>(spread.before),
             .divisor = static_cast<std::uint32_t>(strides[i]),
             .strides = {}}
        );
    }
    windows.axes.push_back({.size = problem.channels_in, .offset = 0, .divisor = 1, .strides = {}});
    windows.dims = problem.dims;
    windows.dims.insert(windows.dims.end(), kernel.begin(), kernel.end());
    windows.dims.push_back(problem.channels_in);
    for (std::size_t axis = 0; axis < windows.axes.size(); ++axis) {
        windows.axes[axis].strides.assign(windows.dims.size(), 0);
        windows.axes[axis].strides[axis == axes + 1 ? windows.dims.size() - 1 : axis] = 1;
        if (axis >= 1 && axis <= axes) {
            windows.axes[axis].strides[axes + axis] = -static_cast<std::int32_t>(dilations[axis - 1]);
        }
    }
    problem.dims.push_back(problem.channels_out);
    // [C, M/g, k...] as [g, C/g, M/g, k], then output channels first and input channels last.
    const auto positions = static_cast<std::uint32_t>(problem.window);
    const std::uint32_t per_group = problem.channels_in / problem.groups;
    const Operand cut = lowering.reshape(w, {problem.groups, per_group, w->dims[1], positions});
    const std::vector<std::uint32_t> order{0, 2, 3, 1};
    problem.weight =
        lowering.matrix(lowering.array(cut), order, checked_shape(problem.channels_out, problem.window * per_group));
    return {with_bias(call, problem, product_of(lowering, problem, windows))};
}

}  // namespace

std::vector<Operator> convolution_operators() {
    constexpr Derivative kExact = Derivative::kExact;
    return {
        {"Conv", 1, kExact, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}, lower_conv},
        {"ConvTranspose",
         1,
         kExact,
         {"auto_pad", "dilations", "group", "kernel_shape", "output_padding", "output_shape", "pads", "strides"},
         lower_conv_transpose},
    };
}

}  // namespace assay::onnx
