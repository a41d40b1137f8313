// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <core/canonical/transcendental.hpp>
#include <verifier/engine/cuda/host_device.hpp>

/// Internal to the engine: the protocol's arithmetic on one element, compiled from the same source for host and device.
/// Each operation must round separately (NUM-2), so compile this without floating-point contraction.
namespace assay::engine::cuda {

inline constexpr std::uint32_t kNan = 0x7fc00000;
inline constexpr std::uint32_t kInfinity = 0x7f800000;

ASSAY_HOST_DEVICE inline float as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
ASSAY_HOST_DEVICE inline std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

/// Canonical f32 (NUM-7): -0 becomes +0, NaN the canonical NaN.
ASSAY_HOST_DEVICE inline float canon(float x) { return x != x ? as_float(kNan) : x + 0.0F; }

/// 2^k (NUM-10).
ASSAY_HOST_DEVICE inline double power_of_two(std::int64_t k) {
    const std::int64_t limited = k < -1000 ? -1000 : (k > 1000 ? 1000 : k);
    return std::bit_cast<double>((limited + 1023) << 52);
}

/// Nearest integer, ties to even (NUM-11).
ASSAY_HOST_DEVICE inline double rint_of(double x) { return (x + canonical::kRoundingBias) - canonical::kRoundingBias; }

/// The bf16 with the upper half of these bits plus the dither (NUM-39); a NaN has no bits but the canonical ones.
ASSAY_HOST_DEVICE inline std::uint16_t upper_half(std::uint32_t bits, std::uint32_t dither) {
    const std::uint32_t half = (bits + dither) >> 16U;
    return static_cast<std::uint16_t>(half == 0x8000U ? 0U : half);
}
ASSAY_HOST_DEVICE inline std::uint16_t narrow_of(float x) {
    const std::uint32_t bits = bits_of(canon(x));
    return bits == kNan ? static_cast<std::uint16_t>(kNan >> 16U) : upper_half(bits, 0x7fffU + (bits >> 16U & 1U));
}
ASSAY_HOST_DEVICE inline std::uint16_t narrow_of(float x, float u) {
    const std::uint32_t bits = bits_of(canon(x));
    if ((bits & kInfinity) == kInfinity) {
        return static_cast<std::uint16_t>(bits >> 16U);
    }
    double dither = static_cast<double>(u) * 65536.0 + 32768.0;
    dither = dither > 0.0 ? dither : 0.0;
    dither = dither < 65535.0 ? dither : 65535.0;
    return upper_half(bits, static_cast<std::uint32_t>(dither));
}
ASSAY_HOST_DEVICE inline std::int8_t narrow_of(std::int32_t x) {
    const std::int32_t low = x < -128 ? -128 : x;
    return static_cast<std::int8_t>(low > 127 ? 127 : low);
}
/// NUM-40
ASSAY_HOST_DEVICE inline float widen_of(std::uint16_t half) { return canon(as_float(std::uint32_t{half} << 16U)); }

/// The exponent of NUM-13, from the bits of the largest finite magnitude.
ASSAY_HOST_DEVICE inline std::int32_t exponent_of(std::uint32_t magnitude) {
    if (magnitude == 0) {
        return 0;
    }
    const auto biased = static_cast<std::int32_t>(magnitude >> 23U);
    // A denormal's bits are an integer below 2^23, which a float represents exactly.
    const auto width = static_cast<std::int32_t>(bits_of(static_cast<float>(magnitude)) >> 23U) - 126;
    return biased != 0 ? biased - 126 : width - 149;
}

/// The bits of |x|; 0 if x is not finite.
ASSAY_HOST_DEVICE inline std::uint32_t finite_magnitude(float x) {
    const std::uint32_t bits = bits_of(x) & 0x7fffffffU;
    return bits < kInfinity ? bits : 0;
}

/// Quantises one value (NUM-14); `limit` is the largest resulting magnitude.
ASSAY_HOST_DEVICE inline std::int32_t quantise_one(float x, double scale, double limit) {
    if ((bits_of(x) & kInfinity) == kInfinity) {
        return 0;
    }
    double scaled = static_cast<double>(x) * scale;
    scaled = scaled > limit ? limit : scaled;
    scaled = scaled < -limit ? -limit : scaled;
    return static_cast<std::int32_t>(rint_of(scaled));
}

/// POLY of the rules: Horner's scheme, multiplication and addition rounded separately.
template <std::size_t kTerms>
ASSAY_HOST_DEVICE inline double polynomial(const std::array<double, kTerms>& terms, double x) {
    double p = terms[0];
    for (std::size_t i = 1; i < kTerms; ++i) {
        p = p * x + terms[i];
    }
    return p;
}

/// exp in f64 (NUM-20).
ASSAY_HOST_DEVICE inline double exp_chain(double x) {
    constexpr auto kTerms = canonical::kExpTerms;
    const double above = x < -canonical::kExpLimit ? -canonical::kExpLimit : x;
    const double c = above > canonical::kExpLimit ? canonical::kExpLimit : above;
    const double k = rint_of(c * canonical::kLog2E);
    const double r = (c - k * canonical::kLn2High) - k * canonical::kLn2Low;
    return polynomial(kTerms, r) * power_of_two(static_cast<std::int64_t>(k));
}

ASSAY_HOST_DEVICE inline float exp_of(float x) {
    return x != x ? x : static_cast<float>(exp_chain(static_cast<double>(x)));
}

/// log (NUM-21); an f32 is never denormal as a double.
ASSAY_HOST_DEVICE inline float log_of(float x) {
    if (x != x || x < 0.0F) {
        return as_float(kNan);
    }
    if (x == 0.0F) {
        return as_float(0xff800000U);
    }
    if (bits_of(x) == kInfinity) {
        return x;
    }
    constexpr auto kTerms = canonical::kLogTerms;
    const auto word = std::bit_cast<std::uint64_t>(static_cast<double>(x));
    auto exponent = static_cast<std::int32_t>(word >> 52U) - 1023;
    double m = std::bit_cast<double>((word & 0x000fffffffffffffU) | 0x3ff0000000000000U);
    if (m >= canonical::kSqrt2) {
        m = m * 0.5;
        ++exponent;
    }
    const double k = exponent;
    const double s = (m - 1.0) / (m + 1.0);
    const double low = k * canonical::kLn2Low + (s + s) * polynomial(kTerms, s * s);
    return static_cast<float>(k * canonical::kLn2High + low);
}

/// tanh (NUM-25).
ASSAY_HOST_DEVICE inline float tanh_of(float x) {
    if (x != x) {
        return x;
    }
    const double wide = static_cast<double>(x);
    const double a = wide < 0.0 ? -wide : wide;
    const double c = a > canonical::kTanhLimit ? canonical::kTanhLimit : a;
    const double magnitude =
        a < canonical::kTanhSmall ? a - (a * (a * a)) * canonical::kThird : 1.0 - 2.0 / (exp_chain(c + c) + 1.0);
    return static_cast<float>(wide < 0.0 ? -magnitude : magnitude);
}

/// erf (NUM-26).
ASSAY_HOST_DEVICE inline float erf_of(float x) {
    if (x != x) {
        return x;
    }
    constexpr auto kTerms = canonical::kErfTerms;
    const double wide = static_cast<double>(x);
    const double above = wide < -canonical::kErfLimit ? -canonical::kErfLimit : wide;
    const double c = above > canonical::kErfLimit ? canonical::kErfLimit : above;
    return static_cast<float>(c * polynomial(kTerms, (c * c) * 0.125 - 1.0));
}

/// sin(x + quarters * pi / 2) (NUM-27).
ASSAY_HOST_DEVICE inline float trig_of(float x, std::int64_t quarters) {
    const double wide = static_cast<double>(x);
    if (!(wide >= -canonical::kTrigLimit && wide <= canonical::kTrigLimit)) {
        return as_float(kNan);
    }
    constexpr auto kHalfPi = canonical::kHalfPi;
    constexpr auto kSin = canonical::kSinTerms;
    constexpr auto kCos = canonical::kCosTerms;
    const double k = rint_of(wide * canonical::kTwoOverPi);
    const double r = ((wide - k * kHalfPi[0]) - k * kHalfPi[1]) - k * kHalfPi[2];
    const double z = r * r;
    const std::int64_t q = static_cast<std::int64_t>(k) + quarters;
    const double y = (q & 1) == 0 ? r * polynomial(kSin, z) : polynomial(kCos, z);
    return static_cast<float>((q & 2) == 0 ? y : -y);
}

ASSAY_HOST_DEVICE inline float nearest_of(float x) {
    constexpr float kWhole = 0x1.0p23F;
    const bool is_small = x > -kWhole && x < kWhole;
    return is_small ? static_cast<float>(rint_of(static_cast<double>(x))) : x;
}

ASSAY_HOST_DEVICE inline float floor_of(float x) {
    const float rounded = nearest_of(x);
    return rounded > x ? rounded - 1.0F : rounded;
}

/// Converts to i32, saturating and truncating towards zero; NaN gives 0 (NUM-37).
ASSAY_HOST_DEVICE inline std::int32_t to_int(float x) {
    if (x != x) {
        return 0;
    }
    if (x >= 0x1.0p31F) {
        return std::numeric_limits<std::int32_t>::max();
    }
    return x < -0x1.0p31F ? std::numeric_limits<std::int32_t>::min() : static_cast<std::int32_t>(x);
}

/// Where a kernel reads the seed and the step, so that a step that was recorded can be repeated as another one.
struct Clock {
    std::uint64_t seed = 0;
    std::uint64_t step = 0;
};

/// NUM-30: key and counter inputs of Philox. The counter is (block, tensor, step low, step high) and gives four words.
struct PhiloxNumbers {
    std::uint32_t tensor = 0;
    std::uint64_t step = 0;
    std::uint64_t seed = 0;
};

ASSAY_HOST_DEVICE inline std::uint32_t high_word(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); }
ASSAY_HOST_DEVICE inline std::uint32_t low_word(std::uint64_t x) { return static_cast<std::uint32_t>(x); }

ASSAY_HOST_DEVICE inline std::array<std::uint32_t, 4> philox(std::uint32_t block, const PhiloxNumbers& numbers) {
    std::uint32_t c0 = block;
    std::uint32_t c1 = numbers.tensor;
    std::uint32_t c2 = low_word(numbers.step);
    std::uint32_t c3 = high_word(numbers.step);
    std::uint32_t k0 = low_word(numbers.seed);
    std::uint32_t k1 = high_word(numbers.seed);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53U} * c0;
        const std::uint64_t b = std::uint64_t{0xCD9E8D57U} * c2;
        c0 = high_word(b) ^ c1 ^ k0;
        c2 = high_word(a) ^ c3 ^ k1;
        c1 = low_word(b);
        c3 = low_word(a);
        k0 += 0x9E3779B9U;
        k1 += 0xBB67AE85U;
    }
    return {c0, c1, c2, c3};
}

}  // namespace assay::engine::cuda
