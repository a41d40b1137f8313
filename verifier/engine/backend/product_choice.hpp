// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include <core/canonical/node.hpp>
#include <verifier/engine/backend/options.hpp>

/// Internal to the engine: selects the exact multiplication method for each contraction.
namespace assay::engine {

/// How the sum of a chunk's products is computed. All methods are exact where they are allowed, so only speed differs.
enum class ProductKind : std::uint8_t {
    kFloats,      ///< f32, as many columns at a time as sum up within 24 bits
    kDoubles,     ///< f64, a whole chunk within 53 bits
    kTwoDoubles,  ///< f64, right operand split in two, the low part of 12 bits; each sum within 53 bits
    kResidues,    ///< int8 with int32 sums, modulo several moduli; byte operands need no moduli
    kWords,       ///< integers modulo 2^64, for unbounded operands
};

/// Returns the exact methods, never empty; the first is the default without a measurement. kWords is included if only
/// kResidues is exact otherwise, and is the only one for unbounded operands.
std::vector<ProductKind> exact_products(const canonical::Node& contract, bool is_bounded);

/// Returns the methods of exact_products that `choice` allows: only one, unless they are to be measured.
std::vector<ProductKind> candidates(
    const canonical::Node& contract, bool is_bounded, ProductChoice choice, bool is_accelerator
);

/// Caches measured choices. Contractions with the same sizes and profile share a choice.
class ProductChooser {
  public:
    /// Returns the time of a method in seconds.
    using Measure = std::function<double(ProductKind)>;

    /// Returns the fastest of `kinds`, the first one on ties. Calls `measure` for each if the sizes are new and there
    /// is more than one. Exceptions of `measure` propagate and nothing is cached.
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
