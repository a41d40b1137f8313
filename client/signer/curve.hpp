// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <core/base/bytes.hpp>

/// Arithmetic of secp256k1 for secrets, without a library, for the build for browsers: no branch and no address depends
/// on the values, only on their number of words.
namespace assay::signer {

inline constexpr std::size_t kWords = 8;
/// A number below 2^256; the word of the least weight first.
using Number = std::array<std::uint32_t, kWords>;

/// The order of the group.
extern const Number kOrder;

Number decode(ByteView big_endian);  ///< of 32 bytes
std::array<std::uint8_t, 4 * kWords> encode(const Number& a);
/// All ones if the condition holds, else 0.
std::uint32_t is_zero(const Number& a);
std::uint32_t is_below(const Number& a, const Number& b);
/// Returns `yes` if the mask is all ones, `no` if it is 0.
Number choose(std::uint32_t mask, const Number& yes, const Number& no);
/// Modulo kOrder, of numbers below it.
Number add_scalars(const Number& a, const Number& b);
Number multiply_scalars(const Number& a, const Number& b);
Number negate_scalar(const Number& a);
/// A number below 2^256 modulo kOrder.
Number to_scalar(const Number& a);

/// The affine point of a multiple of the generator.
struct AffinePoint {
    Number x;
    std::uint32_t y_is_odd = 0;  ///< a mask
};
/// `scalar` is from 1 to kOrder - 1.
AffinePoint multiply_generator(const Number& scalar);

/// Overwrites a secret; the compiler does not leave it out.
template <class T>
void wipe(T& secret) {
    auto* bytes = reinterpret_cast<volatile std::uint8_t*>(&secret);
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        bytes[i] = 0;
    }
}

}  // namespace assay::signer
