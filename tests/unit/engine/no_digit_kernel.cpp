// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <core/base/assert.hpp>
#include <verifier/engine/fused/digit_kernel.hpp>

/// Takes the place of the engine's products on a matrix unit: what a CPU without one has, and so vectors multiply.
namespace assay::engine::fused {

bool DigitKernel::is_available() { return false; }

bool DigitKernel::fits(std::uint32_t, std::size_t) { return false; }

DigitKernel::DigitKernel(std::uint32_t) { ASSERT(false); }

std::size_t DigitKernel::packed_size(std::size_t, std::size_t) const { return digits_ + precision_; }

void DigitKernel::pack_left(const float*, std::size_t, std::size_t, std::size_t, std::int8_t*) const {}
void DigitKernel::pack_right(const float*, std::size_t, std::size_t, std::size_t, std::int8_t*) const {}
void DigitKernel::quantise_left(Extent, const float*, const Quantisation&, std::int8_t*) const {}
void DigitKernel::quantise_right(Extent, const float*, const Quantisation&, std::int8_t*) const {}

DigitKernel::Digits DigitKernel::part(const std::int8_t*, std::size_t, std::size_t, std::size_t) const { return {}; }

void DigitKernel::multiply(Digits, Digits, std::size_t, std::size_t, std::size_t, const ProductFinish&) const {}

}  // namespace assay::engine::fused
