// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <client/referee/curve.hpp>

/// What a signature needs beyond the arithmetic of the referee, likewise for secrets: no branch and no address depends
/// on the values.
namespace assay::signer {

using referee::curve::Number;

/// Modulo the order of the group, of numbers below it.
Number add_scalars(const Number& a, const Number& b);
Number multiply_scalars(const Number& a, const Number& b);
Number negate_scalar(const Number& a);

/// The affine point of a multiple of the generator.
struct AffinePoint {
    Number x;
    std::uint32_t y_is_odd = 0;  ///< a mask
};
/// `scalar` is from 1 to the order less 1.
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
