// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <core/canonical/transcendental.hpp>
#include <verifier/engine/fused/vectorised.hpp>

/// The canonical operation sequences for one element, in the order that the rules define (NUM-7, NUM-20 ff.), with
/// selects instead of branches, so that loops over them are vectorised.
namespace assay::engine::fused {

inline constexpr std::uint32_t kCanonicalNan = 0x7fc00000;
inline constexpr std::uint32_t kInfinity = 0x7f800000;
inline constexpr std::uint32_t kMagnitude = 0x7fffffff;
inline constexpr std::uint64_t kSign = std::uint64_t{1} << 63U;
inline constexpr double kRoundingBias = canonical::kRoundingBias;

ASSAY_INLINE float canonical_f32(float x) { return x != x ? std::bit_cast<float>(kCanonicalNan) : x + 0.0F; }
ASSAY_INLINE double rint_f64(double x) { return (x + kRoundingBias) - kRoundingBias; }
/// 2^k for an integer k from -1000 to 1000, held in a double as rint_f64 leaves it.
ASSAY_INLINE double power_of_whole(double k) {
    const auto biased = std::bit_cast<std::uint64_t>(k + kRoundingBias);
    return std::bit_cast<double>((biased + 1023U) << 52U);
}

template <std::size_t kTerms>
ASSAY_INLINE double polynomial(const std::array<double, kTerms>& terms, double x) {
    double p = terms[0];
#pragma GCC unroll 32
    for (std::size_t i = 1; i < kTerms; ++i) {
        p = p * x + terms[i];
    }
    return p;
}

/// exp in f64 (NUM-20).
ASSAY_INLINE double exp_chain(double x) {
    double c = x < -canonical::kExpLimit ? -canonical::kExpLimit : x;
    c = c > canonical::kExpLimit ? canonical::kExpLimit : c;
    const double k = rint_f64(c * canonical::kLog2E);
    const double r = (c - k * canonical::kLn2High) - k * canonical::kLn2Low;
    return polynomial(canonical::kExpTerms, r) * power_of_whole(k);
}

ASSAY_INLINE float exp_lane(float x) { return canonical_f32(static_cast<float>(exp_chain(static_cast<double>(x)))); }

/// log (NUM-21). An f32 is never denormal as a double, so the definition's scaling of small operands is not needed.
ASSAY_INLINE float log_lane(float x) {
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(x));
    // The exponent as a double: its bits become the mantissa of 2^52, without an integer conversion.
    const std::uint64_t exponent = (bits >> 52U) & 0x7ffU;
    double k = std::bit_cast<double>(exponent | 0x4330000000000000U) - (0x1.0p52 + 1023.0);
    double m = std::bit_cast<double>((bits & 0x000fffffffffffffU) | 0x3ff0000000000000U);
    const bool is_large = m >= canonical::kSqrt2;
    m = is_large ? m * 0.5 : m;
    k = is_large ? k + 1.0 : k;
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s;
    const double p = polynomial(canonical::kLogTerms, z);
    float y = static_cast<float>(k * canonical::kLn2High + (k * canonical::kLn2Low + (s + s) * p));
    y = x == 0.0F ? -std::numeric_limits<float>::infinity() : y;
    y = x > std::numeric_limits<float>::max() ? x : y;
    return canonical_f32(x >= 0.0F ? y : std::bit_cast<float>(kCanonicalNan));
}

ASSAY_INLINE float rint_lane(float x) {
    const bool is_whole = !(x < 0x1.0p23F && x > -0x1.0p23F);  // or NaN
    const double whole = rint_f64(is_whole ? 0.0 : static_cast<double>(x));
    return canonical_f32(is_whole ? x : static_cast<float>(whole));
}

ASSAY_INLINE float floor_lane(float x) {
    const float nearest = rint_lane(x);
    return canonical_f32(nearest > x ? nearest - 1.0F : nearest);
}

/// tanh (NUM-25).
ASSAY_INLINE float tanh_lane(float x) {
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(x));
    const std::uint64_t sign = bits & kSign;
    const double a = std::bit_cast<double>(bits ^ sign);
    const double c = a > canonical::kTanhLimit ? canonical::kTanhLimit : a;
    const double large = 1.0 - 2.0 / (exp_chain(c + c) + 1.0);
    const double small = a - (a * (a * a)) * canonical::kThird;
    const double magnitude = a < canonical::kTanhSmall ? small : large;
    const float y = static_cast<float>(std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) | sign));
    return canonical_f32(x != x ? x : y);
}

/// erf (NUM-26).
ASSAY_INLINE float erf_lane(float x) {
    double c = static_cast<double>(x);
    c = c < -canonical::kErfLimit ? -canonical::kErfLimit : c;
    c = c > canonical::kErfLimit ? canonical::kErfLimit : c;
    return canonical_f32(static_cast<float>(c * polynomial(canonical::kErfTerms, (c * c) * 0.125 - 1.0)));
}

/// sin(x + quarters * pi / 2) (NUM-27).
ASSAY_INLINE float sine_lane(float x, std::uint64_t quarters) {
    const double wide = static_cast<double>(x);
    const bool is_defined = wide >= -canonical::kTrigLimit && wide <= canonical::kTrigLimit;
    const double a = is_defined ? wide : 0.0;
    const double k = rint_f64(a * canonical::kTwoOverPi);
    const double r = ((a - k * canonical::kHalfPi[0]) - k * canonical::kHalfPi[1]) - k * canonical::kHalfPi[2];
    const double z = r * r;
    const double s = r * polynomial(canonical::kSinTerms, z);
    const double c = polynomial(canonical::kCosTerms, z);
    const std::uint64_t q = std::bit_cast<std::uint64_t>(k + kRoundingBias) + quarters;
    const double magnitude = (q & 1U) == 0 ? s : c;
    const double y = std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) ^ ((q & 2U) << 62U));
    return canonical_f32(is_defined ? static_cast<float>(y) : std::bit_cast<float>(kCanonicalNan));
}
ASSAY_INLINE float sin_lane(float x) { return sine_lane(x, 0); }
ASSAY_INLINE float cos_lane(float x) { return sine_lane(x, 1); }

}  // namespace assay::engine::fused
