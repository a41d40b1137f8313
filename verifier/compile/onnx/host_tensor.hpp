// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <verifier/compile/onnx/import.hpp>

/// Inside onnx only: what element types are, and elements of arrays as models store them.
namespace assay::onnx {

enum class Kind : std::uint8_t { kReal, kInteger, kTruth };

bool is_element_type(ElementType type) noexcept;
Kind kind_of(ElementType type) noexcept;
/// In bytes.
std::size_t size_of(ElementType type) noexcept;
/// Bits of an integer type; 0 for others.
std::uint32_t integer_bits(ElementType type) noexcept;
bool is_signed(ElementType type) noexcept;

std::size_t count_of(const HostTensor& tensor) noexcept;
/// Element `i` of real numbers.
double real_at(const HostTensor& tensor, std::size_t i) noexcept;
/// Element `i` of integers or bools. Throws Refusal for an integer beyond i64.
std::int64_t integer_at(const HostTensor& tensor, std::size_t i);

/// The tensor that holds an array in a graph's state. Throws Refusal when none can.
canonical::TensorType state_type_of(ElementType type, const program::Dims& dims);
/// to_state_tensor, throwing Refusal.
canonical::Tensor state_tensor_of(const HostTensor& tensor);

}  // namespace assay::onnx
