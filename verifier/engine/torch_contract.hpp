// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <verifier/engine/torch_math.hpp>

/// Inside engine only: kContract over libtorch, on any device (NUM-16, NUM-17).
namespace assay::engine {

/// How the sum of a chunk's products is computed. All are exact where they are allowed, so the choice is one of speed.
enum class ProductKind : std::uint8_t {
    kBytes,       ///< int8 operands within +-127 and int32 sums; accelerators only
    kFloats,      ///< as many columns at a time as sum up within 24 bits
    kDoubles,     ///< a whole chunk within 53 bits
    kTwoDoubles,  ///< the right operand in two parts of 12 bits, each within 53 bits
    kWords,       ///< integers modulo 2^64, for operands that nothing bounds
};
ProductKind choose_product(const canonical::Node& contract, bool is_bounded, at::Device device);

/// qa, ea, qb, eb as the node has them.
at::Tensor contract(
    const DeviceMath& math, const canonical::Node& node, ProductKind kind, const std::array<at::Tensor, 4>& operands
);

}  // namespace assay::engine
