// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

/// Constants of the canonical algorithms (NUM-20, NUM-21, NUM-25 to NUM-27), in the order in which they are used. Every
/// operation is one IEEE 754 double operation, rounded on its own; `rint` rounds to nearest, ties to even.
namespace assay::canonical {

/// exp(x): c = min(max(x, -kExpLimit), kExpLimit); k = rint(c * kLog2E); r = (c - k * kLn2High) - k * kLn2Low;
/// p = kExpTerms[0]; for each next term t: p = p * r + t; the result is p * 2^k.
inline constexpr double kExpLimit = 700.0;
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
/// The last 21 bits of the high part are zero, so k * kLn2High is exact.
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

/// tanh(x): a = |x|; c = min(a, kTanhLimit); large = 1 - 2 / (exp(c + c) + 1); small = a - (a * (a * a)) * kThird;
/// the result is small where a < kTanhSmall, else large, with the sign of x.
inline constexpr double kTanhLimit = 22.0;
inline constexpr double kTanhSmall = 0x1.0p-12;
inline constexpr double kThird = 0x1.5555555555555p-2;

/// erf(x): c = min(max(x, -kErfLimit), kErfLimit); z = (c * c) * 0.125 - 1; p = kErfTerms[0]; for each next term t:
/// p = p * z + t; the result is c * p.
inline constexpr double kErfLimit = 4.0;
/// erf(sqrt(u)) / sqrt(u) over 0 <= u <= 16 as a polynomial in z = u / 8 - 1, with a relative error below 2^-41.
inline constexpr std::array<double, 23> kErfTerms{
    0x1.99998a5c917c1p-20, -0x1.33fa49e9ee9b1p-18, 0x1.465d0dbfebee8p-18, -0x1.a77aba462325dp-17,
    0x1.abdee84424152p-15, -0x1.0958b34b5e98ep-13, 0x1.1da9fde26ad63p-12, -0x1.3d19cf9d714f6p-11,
    0x1.53603b08b5002p-10, -0x1.5291244c4f336p-9,  0x1.3e06b4eb1096bp-8,  -0x1.19f278d228511p-7,
    0x1.d6372c79e2aaep-7,  -0x1.7036ee74abbd7p-6,  0x1.0ed5153179f5fp-5,  -0x1.76e83ebf92ec5p-5,
    0x1.ea97f3acee70bp-5,  -0x1.3215da4dbe7f0p-4,  0x1.717efc67db63ap-4,  -0x1.b92e95b1dbde1p-4,
    0x1.0dabaf0640271p-3,  -0x1.69a0ccda54eb0p-3,  0x1.6a040781a4860p-2,
};

/// sin(x), cos(x), |x| <= kTrigLimit: k = rint(x * kTwoOverPi); r = ((x - k * kHalfPi[0]) - k * kHalfPi[1]) - k *
/// kHalfPi[2]; z = r * r; p = kSinTerms[0]; for each next term t: p = p * z + t; s = r * p; c is computed like p with
/// kCosTerms, without the multiplication by r. With q = k for sin and q = k + 1 for cos: s if q is even, else c,
/// negated if q modulo 4 is 2 or 3.
inline constexpr double kTrigLimit = 0x1.0p30;
inline constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
/// pi / 2 in three parts; the first two have 23 bits, so their products with k are exact.
inline constexpr std::array<double, 3> kHalfPi{0x1.921fb40000000p+0, 0x1.4442d00000000p-24, 0x1.8469898cc5170p-48};
/// 1/13!, -1/11!, ..., -1/3!, 1.
inline constexpr std::array<double, 7> kSinTerms{
    0x1.6124613a86d09p-33, -0x1.ae64567f544e4p-26, 0x1.71de3a556c734p-19, -0x1.a01a01a01a01ap-13,
    0x1.1111111111111p-7,  -0x1.5555555555555p-3,  0x1.0000000000000p+0,
};
/// -1/14!, 1/12!, ..., -1/2!, 1.
inline constexpr std::array<double, 8> kCosTerms{
    -0x1.93974a8c07c9dp-37, 0x1.1eed8eff8d898p-29, -0x1.27e4fb7789f5cp-22, 0x1.a01a01a01a01ap-16,
    -0x1.6c16c16c16c17p-10, 0x1.5555555555555p-5,  -0x1.0000000000000p-1,  0x1.0000000000000p+0,
};

/// 1.5 * 2^52: for |x| <= 2^51, (x + kRoundingBias) - kRoundingBias is rint(x).
inline constexpr double kRoundingBias = 0x1.8p52;

}  // namespace assay::canonical
