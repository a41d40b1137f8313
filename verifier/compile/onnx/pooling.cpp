// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <verifier/compile/onnx/arithmetic.hpp>
#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>
#include <verifier/compile/onnx/rows.hpp>
#include <verifier/compile/onnx/windows.hpp>

namespace assay::onnx {
namespace {

using program::Windows;

constexpr std::uint64_t kMaxPlaces = 256;

struct Pooling {
    Array x;      ///< channels last
    Dims stored;  ///< its dimensions
    Windows windows;
    Dims dims;  ///< of the result, channels first
};

Pooling pooling_of(Call& call) {
    const Dims spatial = spatial_dims(call.in(0));
    const Dims kernel = kernel_of(call, {});
    Pooling out;
    out.windows = windows_of(call, spatial, kernel);
    out.stored = permuted(call.in(0)->dims, to_channels_last(call.rank(0)));
    const Dims found = program::window_dims(out.stored, out.windows);
    out.dims = channels_first_dims(found);
    // Windows are the rows of a matrix, or where these are too many, each place of the kernel is an array of its own.
    const std::uint64_t window = checked_elements(kernel);
    require_array(found);
    if (std::max(checked_elements(found), checked_elements(out.stored)) > canonical::kMaxDimension) {
        if (window > kMaxPlaces) {
            refuse_too_large(
                "windows of " + std::to_string(window) + " elements over an array of dimensions " +
                to_text(call.in(0)->dims) + ": above 2^24 elements a window has at most " + std::to_string(kMaxPlaces) +
                "; a smaller batch has fewer"
            );
        }
    } else {
        checked_shape(std::max(checked_elements(found), checked_elements(out.stored)), window);
    }
    out.x = call.lowering().channels_last(call.array_any(0));
    return out;
}

Outputs lower_max_pool(Call& call) {
    const Pooling pooling = pooling_of(call);
    const Value value = call.tape().max_pool(call.lowering().real(pooling.x), pooling.stored, pooling.windows);
    return {call.lowering().add_array({call.in(0)->type, pooling.dims, value, true})};
}

// For each output position along one axis, how many elements of its window count.
std::vector<double> counts_along(const Pooling& pooling, std::size_t axis, bool includes_padding) {
    const Windows& windows = pooling.windows;
    const std::int64_t size = pooling.stored[axis + 1];
    const std::int64_t low = includes_padding ? -std::int64_t{windows.pad_before[axis]} : 0;
    const std::int64_t high = includes_padding ? size + windows.pad_after[axis] : size;
    std::vector<double> out;
    for (std::uint32_t i = 0; i < pooling.dims[axis + 2]; ++i) {
        const std::int64_t first = std::int64_t{i} * windows.stride[axis] - windows.pad_before[axis];
        double count = 0.0;
        for (std::uint32_t k = 0; k < windows.kernel[axis]; ++k) {
            const std::int64_t at = first + std::int64_t{k} * windows.dilation[axis];
            count += at >= low && at < high ? 1.0 : 0.0;
        }
        out.push_back(count);
    }
    return out;
}

// What turns a mean over the whole kernel into one over what counts: [1, 1, spatial...].
Constant corrections(const Pooling& pooling, bool includes_padding) {
    Dims dims{1, 1};
    dims.insert(dims.end(), pooling.dims.begin() + 2, pooling.dims.end());
    if (checked_elements(dims) > kMaxConstant) {
        refuse_too_large("pooling over an input of dimensions " + to_text(pooling.stored));
    }
    std::vector<double> factors(checked_elements(dims), 1.0);
    std::uint64_t inner = factors.size();
    for (std::size_t axis = 0; axis < pooling.windows.kernel.size(); ++axis) {
        const std::vector<double> counts = counts_along(pooling, axis, includes_padding);
        inner /= counts.size();
        for (std::size_t i = 0; i < factors.size(); ++i) {
            factors[i] *= pooling.windows.kernel[axis] / counts[i / inner % counts.size()];
        }
    }
    for (double& factor : factors) {
        factor = rounded(ElementType::kFloat, factor);
    }
    return make_reals(ElementType::kFloat, dims, std::move(factors));
}

Outputs lower_average_pool(Call& call) {
    Lowering& lowering = call.lowering();
    require_real(call.in(0));
    const Pooling pooling = pooling_of(call);
    const Value value = call.tape().avg_pool(lowering.real(pooling.x), pooling.stored, pooling.windows);
    const Operand mean = lowering.add_array({call.in(0)->type, pooling.dims, value, true});
    Constant factors = corrections(pooling, call.integer("count_include_pad", 0) != 0);
    factors.type = mean->type;
    if (factors.is_uniform() && factors.real(0) == 1.0) {
        return {mean};
    }
    return {arithmetic(lowering, Arithmetic::kMul, mean, lowering.add_constant(std::move(factors)))};
}

template <bool kMax>
Outputs lower_global_pool(Call& call) {
    Lowering& lowering = call.lowering();
    const Operand& x = call.in(0);
    require_real(x);
    if (x->dims.size() < 3 || x->is_empty()) {
        refuse_invalid("an input of dimensions " + to_text(x->dims));
    }
    const Rows rows = rows_along(lowering, x, axes_between(2, x->dims.size()));
    const Value value = kMax ? call.tape().row_max(rows.value) : call.tape().row_mean(rows.value);
    Dims dims(x->dims.size(), 1);
    std::copy(rows.kept.begin(), rows.kept.end(), dims.begin());
    return {lowering.add_array(lowering.from_matrix(value, x->type, dims))};
}

}  // namespace

std::vector<Operator> pooling_operators() {
    constexpr Derivative kExact = Derivative::kExact;
    return {
        {"MaxPool",
         1,
         kExact,
         {"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "storage_order", "strides"},
         lower_max_pool},
        {"AveragePool",
         1,
         kExact,
         {"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"},
         lower_average_pool},
        {"GlobalAveragePool", 1, kExact, {}, lower_global_pool<false>},
        {"GlobalMaxPool", 1, kExact, {}, lower_global_pool<true>},
    };
}

}  // namespace assay::onnx
