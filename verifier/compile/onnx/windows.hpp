// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verifier/compile/onnx/call.hpp>

/// Internal to the importer: shared by convolutions and poolings.
namespace assay::onnx {

/// Reads kernel, strides, dilations, pads, auto_pad and ceil_mode of the node for the `spatial` axes. Throws Refusal
/// unless every window fits at least once.
program::Windows windows_of(const Call& call, const Dims& spatial, const Dims& kernel);
/// Returns attribute `name`, one number for each of `count` spatial axes; `otherwise` for all if it is absent.
std::vector<std::int64_t> per_axis(
    const Call& call, const std::string& name, std::size_t count, std::int64_t otherwise
);
/// Returns the axes after batch and channels. Throws Refusal unless there are one to three.
Dims spatial_dims(const Operand& x);
/// Returns attribute kernel_shape, or `otherwise` if it is absent.
Dims kernel_of(const Call& call, const Dims& otherwise);
/// Converts [N, spatial..., C] to [N, C, spatial...].
Dims channels_first_dims(const Dims& stored);

}  // namespace assay::onnx
