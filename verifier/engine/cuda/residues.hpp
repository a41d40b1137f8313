// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <verifier/engine/cuda/host_device.hpp>

/// Internal to the engine: integers as byte-sized residues, so that int8 products with int32 sums give exact sums of up
/// to 63 bits (NUM-16). All functions are exact, on the host and on a device.
namespace assay::engine {

/// Odd and pairwise coprime. Residues lie in -(m-1)/2 .. (m-1)/2, so within +-127, and the residue of -x is the negated
/// residue of x.
inline constexpr std::array<std::int32_t, 8> kModuli{255, 253, 251, 247, 241, 239, 233, 229};
constexpr std::size_t kMaxModuli = kModuli.size();

/// Number of columns whose products of values within +-127 sum up within an int32.
constexpr std::int64_t kResidueColumns = 65'536;

constexpr std::int64_t gcd(std::int64_t a, std::int64_t b) {
    while (b != 0) {
        const std::int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

constexpr bool are_coprime() {
    for (std::size_t i = 0; i < kMaxModuli; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (gcd(kModuli[i], kModuli[j]) != 1) {
                return false;
            }
        }
    }
    return true;
}
static_assert(are_coprime());
static_assert(kResidueColumns * 127 * 127 <= std::numeric_limits<std::int32_t>::max());

/// The product of the first `count` moduli.
constexpr std::uint64_t modulus_of(std::size_t count) {
    std::uint64_t out = 1;
    for (std::size_t i = 0; i < count; ++i) {
        out *= static_cast<std::uint64_t>(kModuli[i]);
    }
    return out;
}
static_assert(modulus_of(kMaxModuli) / 2 >= std::uint64_t{1} << 62U, "a contraction's sum has at most 62 bits (PRG-3)");

/// Returns 1 if the operands fit a byte and their sums an int32, so that no reduction is needed. Otherwise the number
/// of moduli that represent sums of `depth` products of magnitudes up to `limit` uniquely.
constexpr std::size_t residue_count(std::int64_t limit, std::int64_t depth) {
    const std::uint64_t most =
        static_cast<std::uint64_t>(limit) * static_cast<std::uint64_t>(limit) * static_cast<std::uint64_t>(depth);
    if (limit <= 127 && depth <= kResidueColumns) {
        return 1;
    }
    std::size_t count = 2;
    while (modulus_of(count) / 2 < most) {
        ++count;
    }
    return count;
}

constexpr std::int32_t inverse(std::int32_t x, std::int32_t modulus) {
    std::int32_t out = 1;
    while (std::int64_t{out} * x % modulus != 1) {
        ++out;
    }
    return out;
}

/// Tables for converting residues to mixed-radix digits, whose place values are products of moduli.
struct ResidueTables {
    std::array<std::array<std::int32_t, kMaxModuli>, kMaxModuli> place{};  ///< [j][i]: place value j modulo kModuli[i]
    std::array<std::int32_t, kMaxModuli> inverse{};  ///< inverse of place value i modulo kModuli[i]
};

constexpr ResidueTables make_residue_tables() {
    ResidueTables out;
    for (std::size_t i = 0; i < kMaxModuli; ++i) {
        const auto m = static_cast<std::uint64_t>(kModuli[i]);
        for (std::size_t j = 0; j < kMaxModuli; ++j) {
            out.place[j][i] = static_cast<std::int32_t>(modulus_of(j) % m);
        }
        out.inverse[i] = inverse(out.place[i][i], kModuli[i]);
    }
    return out;
}
inline constexpr ResidueTables kResidueTables = make_residue_tables();

/// Returns the residue of x nearest to zero; `modulus` must be odd.
ASSAY_HOST_DEVICE constexpr std::int32_t centred_residue(std::int32_t x, std::int32_t modulus) {
    const std::int32_t half = modulus / 2;
    const std::int32_t r = x % modulus;
    return r > half ? r - modulus : (r < -half ? r + modulus : r);
}

/// Returns the number nearest to zero that is congruent to sums[i] modulo kModuli[i] for all i < kCount (Garner's
/// algorithm). The sums need not be reduced: magnitudes up to 2^31 - 2^19 are allowed.
template <std::size_t kCount>
ASSAY_HOST_DEVICE constexpr std::int64_t from_residues(const std::array<std::int32_t, kCount>& sums) {
    constexpr auto kM = kModuli;
    constexpr auto kTables = kResidueTables;
    std::array<std::int32_t, kCount> digit{};
    for (std::size_t i = 0; i < kCount; ++i) {
        std::int32_t rest = sums[i];
        for (std::size_t j = 0; j < i; ++j) {
            rest -= digit[j] * kTables.place[j][i];
        }
        digit[i] = centred_residue(centred_residue(rest, kM[i]) * kTables.inverse[i], kM[i]);
    }
    std::int64_t out = 0;
    for (std::size_t i = kCount; i-- > 0;) {
        out = out * kM[i] + digit[i];
    }
    return out;
}

}  // namespace assay::engine
