// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <string>

#include <verifier/compile/onnx/host_tensor.hpp>
#include <verifier/compile/onnx/refusal.hpp>

/// Internal to the importer: checks that a model's sizes fit a graph. Code further down only asserts them.
namespace assay::onnx {

/// A view's strides are i32.
inline constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 31U;

/// Returns the number of elements of `dims`, which may contain zeros. Throws Refusal beyond kMaxElements or 8 axes.
std::uint64_t checked_elements(const program::Dims& dims);
/// Throws Refusal unless an array of `dims` can be a tensor of a graph: no zeros, and a matrix within kMaxDimension.
void require_array(const program::Dims& dims);
/// Returns the shape. Throws Refusal unless such a matrix can be a tensor of a graph.
canonical::Shape checked_shape(std::uint64_t rows, std::uint64_t cols);

/// Returns the tensor word for an integer or bool. Throws Refusal for an integer outside i32.
inline std::uint32_t word_of(std::int64_t value, Kind kind) {
    if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max()) {
        refuse_too_large("integer " + std::to_string(value) + " is beyond int32, which tensors of a graph hold");
    }
    return kind == Kind::kTruth ? std::bit_cast<std::uint32_t>(value != 0 ? 1.0F : 0.0F)
                                : static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
}

}  // namespace assay::onnx
