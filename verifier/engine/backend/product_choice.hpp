// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include <core/canonical/node.hpp>
#include <verifier/engine/backend/options.hpp>

/// Inside engine only: which of the exact ways to multiply is used for which contraction.
namespace assay::engine {

/// How the sum of a chunk's products is computed. All are exact where they are allowed, so the choice is one of speed.
enum class ProductKind : std::uint8_t {
    kFloats,      ///< as many columns at a time as sum up within 24 bits
    kDoubles,     ///< a whole chunk within 53 bits
    kTwoDoubles,  ///< the right operand in two parts, the low one of 12 bits, each sum within 53 bits
    kResidues,    ///< int8 with sums of int32, modulo as many numbers as are needed; one of bytes as they are
    kWords,       ///< integers modulo 2^64, for operands that nothing bounds
};

/// The first is the one to use without a measurement; never empty. kWords is there where nothing but kResidues is
/// exact, and alone for operands that nothing bounds.
std::vector<ProductKind> exact_products(const canonical::Node& contract, bool is_bounded);

/// Those of exact_products that `choice` leaves; one of them unless they are to be measured.
std::vector<ProductKind> candidates(
    const canonical::Node& contract, bool is_bounded, ProductChoice choice, bool is_accelerator
);

/// Remembers what was measured. Contractions of the same sizes and profile share a choice.
class ProductChooser {
  public:
    /// Seconds that a way took.
    using Measure = std::function<double(ProductKind)>;

    /// The fastest of `kinds`, the first of them among equals; `measure` is called for each when the sizes are new and
    /// there is more than one. What it throws passes through and nothing is remembered.
    ProductKind choose(const canonical::Node& contract, const std::vector<ProductKind>& kinds, const Measure& measure);

  private:
    struct Key {
        std::uint32_t rows = 0;
        std::uint32_t cols = 0;
        std::uint32_t depth = 0;
        std::uint32_t groups = 0;
        std::uint32_t precision = 0;
        std::uint32_t chunk = 0;
        std::strong_ordering operator<=>(const Key&) const = default;
    };
    std::map<Key, ProductKind> chosen_;
};

}  // namespace assay::engine
