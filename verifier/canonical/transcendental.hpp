// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

/// The constants of the canonical exp and log chains (NUM-20, NUM-21), in the order in which they are used. Every
/// step of a chain is one IEEE 754 double operation, rounded on its own; `rint` is to the nearest, ties to even.
namespace assay::canonical {

/// exp(x): c = min(max(x, -kExpLimit), kExpLimit); k = rint(c * kLog2E); r = (c - k * kLn2High) - k * kLn2Low;
/// p = kExpTerms[0]; for each next term t: p = p * r + t; the result is p * 2^k.
inline constexpr double kExpLimit = 700.0;
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
/// The high part has 21 zero bits at its end, so k * kLn2High is exact.
inline constexpr double kLn2High = 0x1.62e42fee00000p-1;
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
/// 1/13!, 1/12!, ..., 1/1!, 1/0!.
inline constexpr std::array<double, 14> kExpTerms{
    0x1.6124613a86d09p-33, 0x1.1eed8eff8d898p-29, 0x1.ae64567f544e4p-26, 0x1.27e4fb7789f5cp-22, 0x1.71de3a556c734p-19,
    0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-13, 0x1.6c16c16c16c17p-10, 0x1.1111111111111p-7,  0x1.5555555555555p-5,
    0x1.5555555555555p-3,  0x1.0000000000000p-1,  0x1.0000000000000p+0,  0x1.0000000000000p+0,
};

/// log(x): x = m * 2^k, m in [1,2), by the bits of x; where m >= kSqrt2,
/// m = m * 0.5 and k = k + 1; s = (m - 1) / (m + 1); z = s * s; p = kLogTerms[0]; for each next term t: p = p * z + t;
/// the result is k * kLn2High + (k * kLn2Low + (s + s) * p).
inline constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0;
/// 1/23, 1/21, ..., 1/3, 1.
inline constexpr std::array<double, 12> kLogTerms{
    0x1.642c8590b2164p-5, 0x1.8618618618618p-5, 0x1.af286bca1af28p-5, 0x1.e1e1e1e1e1e1ep-5,
    0x1.1111111111111p-4, 0x1.3b13b13b13b14p-4, 0x1.745d1745d1746p-4, 0x1.c71c71c71c71cp-4,
    0x1.2492492492492p-3, 0x1.999999999999ap-3, 0x1.5555555555555p-2, 0x1.0000000000000p+0,
};

/// 1.5 * 2^52: for |x| <= 2^51, (x + kRoundingBias) - kRoundingBias is rint(x).
inline constexpr double kRoundingBias = 0x1.8p52;

}  // namespace assay::canonical
