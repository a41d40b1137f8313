// SPDX-License-Identifier: Apache-2.0
#include <core/canonical/transcendental.hpp>

#include <array>
#include <bit>
#include <cstdint>

#include <core/canonical/executor.hpp>
#include <core/canonical/kernels.hpp>

namespace assay::canonical {
namespace {

constexpr std::uint64_t kSign = std::uint64_t{1} << 63U;

template <std::size_t N>
double polynomial(const std::array<double, N>& terms, double x) {
    double p = terms[0];
    for (std::size_t i = 1; i < N; ++i) {
        p = p * x + terms[i];
    }
    return p;
}

// sin(x + quarters * pi / 2)
double sine(double x, std::int64_t quarters) {
    const double k = round_half_even(x * kTwoOverPi);
    const double r = ((x - k * kHalfPi[0]) - k * kHalfPi[1]) - k * kHalfPi[2];
    const double z = r * r;
    const double s = r * polynomial(kSinTerms, z);
    const double c = polynomial(kCosTerms, z);
    const auto q = static_cast<std::uint64_t>(static_cast<std::int64_t>(k) + quarters);
    const double magnitude = (q & 1U) == 0 ? s : c;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) ^ ((q & 2U) << 62U));
}

}  // namespace

// NUM-20
double exp_f64(double x) noexcept {
    double c = x;
    if (c < -kExpLimit) {
        c = -kExpLimit;
    }
    if (c > kExpLimit) {
        c = kExpLimit;
    }
    const double k = round_half_even(c * kLog2E);
    const double r = (c - k * kLn2High) - k * kLn2Low;
    return polynomial(kExpTerms, r) * power_of_two(static_cast<std::int64_t>(k));
}

// NUM-21
double log_f64(double x) noexcept {
    std::int64_t k = 0;
    if (x < 0x1.0p-1022) {
        x = x * 0x1.0p54;
        k = -54;
    }
    const auto bits = std::bit_cast<std::uint64_t>(x);
    k += static_cast<std::int64_t>((bits >> 52U) & 0x7ffU) - 1023;
    double m = std::bit_cast<double>((bits & 0x000fffffffffffffU) | 0x3ff0000000000000U);
    if (m >= kSqrt2) {
        m = m * 0.5;
        k += 1;
    }
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s;
    const auto kd = static_cast<double>(k);
    return kd * kLn2High + (kd * kLn2Low + (s + s) * polynomial(kLogTerms, z));
}

// NUM-25
double tanh_f64(double x) noexcept {
    const std::uint64_t sign = std::bit_cast<std::uint64_t>(x) & kSign;
    const double a = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) ^ sign);
    const double c = a > kTanhLimit ? kTanhLimit : a;
    const double large = 1.0 - 2.0 / (exp_f64(c + c) + 1.0);
    const double small = a - (a * (a * a)) * kThird;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(a < kTanhSmall ? small : large) | sign);
}

// NUM-26
double erf_f64(double x) noexcept {
    double c = x < -kErfLimit ? -kErfLimit : x;
    c = c > kErfLimit ? kErfLimit : c;
    return c * polynomial(kErfTerms, (c * c) * 0.125 - 1.0);
}

// NUM-27
double sin_f64(double x) noexcept { return sine(x, 0); }
double cos_f64(double x) noexcept { return sine(x, 1); }

bool floating_point_is_canonical() noexcept {
    // volatile: the question is what this thread does at run time, not what the compiler folds.
    volatile double one = 1.0;
    volatile double small = 0x1.0p-60;
    volatile double most_of_ulp = 0x1.8p-53;
    volatile double smallest_normal = 0x1.0p-1022;
    volatile double half = 0.5;
    volatile double scale = 0x1.0p1000;
    volatile float one_f = 1.0F;
    volatile float small_f = 0x1.0p-30F;
    volatile float smallest_normal_f = 0x1.0p-126F;
    volatile float half_f = 0.5F;
    const bool nearest = one + small == one && -one - small == -one && one + most_of_ulp != one &&
                         -one - most_of_ulp != -one && one_f + small_f == one_f && -one_f - small_f == -one_f;
    volatile double denormal = smallest_normal * half;
    volatile float denormal_f = smallest_normal_f * half_f;
    const bool gradual = std::bit_cast<std::uint64_t>(static_cast<double>(denormal)) != 0 &&
                         denormal * scale == 0x1.0p-23 &&
                         std::bit_cast<std::uint32_t>(static_cast<float>(denormal_f)) != 0 &&
                         static_cast<double>(denormal_f) == 0x1.0p-127;
    return nearest && gradual;
}

}  // namespace assay::canonical
