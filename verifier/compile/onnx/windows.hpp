// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verifier/compile/onnx/call.hpp>

/// Inside onnx only: what convolutions and poolings have in common.
namespace assay::onnx {

/// kernel, strides, dilations, pads, auto_pad and ceil_mode of the node over `spatial` axes, checked: every window fits
/// at least once.
program::Windows windows_of(const Call& call, const Dims& spatial, const Dims& kernel);
/// One number for each spatial axis: attribute `name`, or `otherwise` everywhere.
std::vector<std::int64_t> per_axis(
    const Call& call, const std::string& name, std::size_t count, std::int64_t otherwise
);
/// The axes behind batch and channels; refuses fewer than one and more than three.
Dims spatial_dims(const Operand& x);
/// Attribute kernel_shape; what `otherwise` says when there is none.
Dims kernel_of(const Call& call, const Dims& otherwise);
/// [N, C, spatial...] out of [N, spatial..., C].
Dims channels_first_dims(const Dims& stored);

}  // namespace assay::onnx
