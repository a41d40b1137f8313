// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <verifier/compile/onnx/import.hpp>

/// Internal to the importer: properties of element types, and access to elements in ONNX's storage format.
namespace assay::onnx {

enum class Kind : std::uint8_t { kReal, kInteger, kTruth };

bool is_element_type(ElementType type) noexcept;
Kind kind_of(ElementType type) noexcept;
/// Size of an element in bytes.
std::size_t size_of(ElementType type) noexcept;
/// Number of bits of an integer type; 0 for other types.
std::uint32_t integer_bits(ElementType type) noexcept;
bool is_signed(ElementType type) noexcept;

std::size_t count_of(const HostTensor& tensor) noexcept;
/// Element `i` of a tensor of real numbers.
double real_at(const HostTensor& tensor, std::size_t i) noexcept;
/// Element `i` of a tensor of integers or bools. Throws Refusal for an integer outside i64.
std::int64_t integer_at(const HostTensor& tensor, std::size_t i);

/// Returns the type of the state tensor that holds an array. Throws Refusal if none can.
canonical::TensorType state_type_of(ElementType type, const program::Dims& dims);
/// Like to_state_tensor, but throws Refusal.
canonical::Tensor state_tensor_of(const HostTensor& tensor);

}  // namespace assay::onnx
