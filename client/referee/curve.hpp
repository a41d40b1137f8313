// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <core/base/bytes.hpp>

/// Arithmetic of secp256k1 without a library, for the builds for browsers: the referee verifies with it and the signer
/// signs. It handles secrets: no branch and no address depends on the values, only on their number of words. The node
/// uses libsecp256k1 (core/crypto).
namespace assay::referee::curve {

inline constexpr std::size_t kWords = 8;
inline constexpr std::size_t kBits = 32 * kWords;
/// A number below 2^256; the word of the least weight first.
using Number = std::array<std::uint32_t, kWords>;

/// The order of the group, and the prime of the field.
extern const Number kOrder;
extern const Number kPrime;

Number decode(ByteView big_endian);  ///< of 32 bytes
std::array<std::uint8_t, 4 * kWords> encode(const Number& a);

/// All ones for 1 and nothing for 0. The compiler may not see where it comes from, and so makes no branch of it.
std::uint32_t mask_of(std::uint32_t bit);
/// All ones if the condition holds, else 0.
std::uint32_t is_zero(const Number& a);
std::uint32_t is_below(const Number& a, const Number& b);
/// The bit of this weight, 0 or 1.
inline std::uint32_t bit_of(const Number& a, std::size_t weight) { return a[weight / 32] >> (weight % 32) & 1U; }
/// Returns `yes` if the mask is all ones, `no` if it is 0.
Number choose(std::uint32_t mask, const Number& yes, const Number& no);
/// The sum modulo `modulus`, of numbers below it, which is at least 2^255.
Number add_modulo(const Number& a, const Number& b, const Number& modulus);
/// The difference modulo 2^256.
Number subtract(const Number& a, const Number& b);
/// A number below 2^256 modulo the order.
Number to_scalar(const Number& a);

/// An element of the field. Always below the prime.
struct Element {
    Number value{};
    bool operator==(const Element&) const = default;  ///< of public elements
};
Element operator+(const Element& a, const Element& b);
Element operator-(const Element& a, const Element& b);
Element operator*(const Element& a, const Element& b);
/// The exponent is public.
Element power(const Element& base, const Number& exponent);
/// 0 for 0.
Element invert(const Element& a);

/// A point of y^2 = x^3 + 7 in projective coordinates: x / z, y / z. The default is the neutral element.
struct Point {
    Element x;
    Element y{Number{1}};
    Element z;
};
extern const Point kGenerator;

Point add(const Point& p, const Point& q);
Point choose(std::uint32_t mask, const Point& yes, const Point& no);

}  // namespace assay::referee::curve
