// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/onnx/windows.hpp>

#include <algorithm>

#include <verifier/compile/onnx/limits.hpp>

namespace assay::onnx {
namespace {

constexpr std::int64_t kMaxReach = 1 << 24;

std::int64_t checked_range(std::int64_t value, std::int64_t low, const std::string& name) {
    if (value < low || value > kMaxReach) {
        refuse_invalid(name + " of " + std::to_string(value));
    }
    return value;
}

// What SAME_UPPER and SAME_LOWER mean: as many windows as strides, the odd element at the end or at the beginning.
void same_pads(program::Windows& windows, const Dims& spatial, bool upper) {
    for (std::size_t i = 0; i < spatial.size(); ++i) {
        const std::int64_t size = spatial[i];
        const std::int64_t stride = windows.stride[i];
        const std::int64_t reach = std::int64_t{windows.dilation[i]} * (windows.kernel[i] - 1) + 1;
        const std::int64_t count = (size + stride - 1) / stride;
        const auto total = static_cast<std::int32_t>(std::max<std::int64_t>((count - 1) * stride + reach - size, 0));
        windows.pad_before.push_back(upper ? total / 2 : total - total / 2);
        windows.pad_after.push_back(upper ? total - total / 2 : total / 2);
    }
}

}  // namespace

std::vector<std::int64_t> per_axis(
    const Call& call, const std::string& name, std::size_t count, std::int64_t otherwise
) {
    std::vector<std::int64_t> out = call.integers(name);
    if (out.empty()) {
        out.assign(count, otherwise);
    }
    if (out.size() != count) {
        refuse_invalid(
            name + " has " + std::to_string(out.size()) + " numbers where " + std::to_string(count) + " are needed"
        );
    }
    return out;
}

Dims spatial_dims(const Operand& x) {
    if (x->dims.size() < 3 || x->dims.size() > 5) {
        refuse_unsupported("an input of dimensions " + to_text(x->dims) + ": one to three spatial axes are supported");
    }
    if (x->is_empty()) {
        refuse_unsupported("the input has no elements");
    }
    return Dims(x->dims.begin() + 2, x->dims.end());
}

Dims kernel_of(const Call& call, const Dims& otherwise) {
    Dims out;
    for (const std::int64_t size : call.integers("kernel_shape")) {
        out.push_back(static_cast<std::uint32_t>(checked_range(size, 1, "kernel_shape")));
    }
    return out.empty() ? otherwise : out;
}

program::Windows windows_of(const Call& call, const Dims& spatial, const Dims& kernel) {
    if (kernel.size() != spatial.size()) {
        refuse_invalid("a kernel of " + to_text(kernel) + " over " + std::to_string(spatial.size()) + " axes");
    }
    program::Windows out;
    out.kernel = kernel;
    out.rounds_up = call.integer("ceil_mode", 0) != 0;
    for (const std::int64_t stride : per_axis(call, "strides", spatial.size(), 1)) {
        out.stride.push_back(static_cast<std::uint32_t>(checked_range(stride, 1, "strides")));
    }
    for (const std::int64_t dilation : per_axis(call, "dilations", spatial.size(), 1)) {
        out.dilation.push_back(static_cast<std::uint32_t>(checked_range(dilation, 1, "dilations")));
    }
    const std::string auto_pad = call.text("auto_pad", "NOTSET");
    if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
        same_pads(out, spatial, auto_pad == "SAME_UPPER");
    } else if (auto_pad == "NOTSET" || auto_pad == "VALID") {
        const auto pads = auto_pad == "VALID" ? std::vector<std::int64_t>(2 * spatial.size(), 0)
                                              : per_axis(call, "pads", 2 * spatial.size(), 0);
        for (std::size_t i = 0; i < pads.size(); ++i) {
            const auto pad = static_cast<std::int32_t>(checked_range(pads[i], 0, "pads"));
            (i < spatial.size() ? out.pad_before : out.pad_after).push_back(pad);
        }
    } else {
        call.unsupported_attribute("auto_pad", "'" + auto_pad + "'");
    }
    for (std::size_t i = 0; i < spatial.size(); ++i) {
        const std::int64_t reach = std::int64_t{out.dilation[i]} * (out.kernel[i] - 1) + 1;
        if (reach > std::int64_t{spatial[i]} + out.pad_before[i] + out.pad_after[i] || reach > kMaxReach) {
            refuse_invalid("the kernel " + to_text(kernel) + " is larger than the input " + to_text(spatial));
        }
    }
    return out;
}

Dims channels_first_dims(const Dims& stored) { return permuted(stored, to_channels_first(stored.size())); }

}  // namespace assay::onnx
