// SPDX-License-Identifier: Apache-2.0
#include <verifier/canonical/transcendental.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <tests/unit/canonical/samples.hpp>

using namespace assay;
using namespace assay::canonical;

namespace {

// The error of `got` against `exact`, in units of the last place of f32 at `exact`.
long double ulps(float got, long double exact) {
    int exponent = 0;
    std::frexp(exact, &exponent);
    const long double ulp = std::ldexp(1.0L, std::max(exponent - 24, -149));
    return std::fabs(static_cast<long double>(got) - exact) / ulp;
}

}  // namespace

TEST_CASE("NUM-20: exp is within 0.51 units of the last place after rounding") {
    test::Random random(20);
    long double worst = 0;
    for (int i = 0; i < 100'000; ++i) {
        const float x = random.unit() * (i % 2 == 0 ? 88.0F : 2.0F);
        worst = std::max(worst, ulps(static_cast<float>(exp_f64(double{x})), std::exp(static_cast<long double>(x))));
    }
    CHECK(worst < 0.51L);
}

TEST_CASE("NUM-20: exp is exact at zero, overflows to infinity and underflows to zero") {
    CHECK(exp_f64(0.0) == 1.0);
    CHECK(std::isinf(static_cast<float>(exp_f64(1e30))));
    CHECK(static_cast<float>(exp_f64(-1e30)) == 0.0F);
    CHECK(exp_f64(700.0) == exp_f64(701.0));
    CHECK(static_cast<float>(exp_f64(-100.0)) == std::exp(-100.0F));
}

TEST_CASE("NUM-21: log is within 0.51 units of the last place after rounding") {
    test::Random random(21);
    long double worst = 0;
    for (int i = 0; i < 100'000; ++i) {
        const std::uint32_t bits = random.below(0x7f800000U - 1) + 1;
        const float x = i % 2 == 0 ? std::bit_cast<float>(bits) : 1.0F + 0.3F * random.unit();
        worst = std::max(worst, ulps(static_cast<float>(log_f64(double{x})), std::log(static_cast<long double>(x))));
    }
    CHECK(worst < 0.51L);
}

TEST_CASE("NUM-21: log is exact at one and covers the denormal doubles") {
    CHECK(log_f64(1.0) == 0.0);
    CHECK(log_f64(0x1p-1074) == doctest::Approx(-744.4400719213812));
    CHECK(log_f64(0x1.fffffffffffffp1023) == doctest::Approx(709.782712893384));
    CHECK(log_f64(0x1.6a09e667f3bcdp+0) == doctest::Approx(0.34657359027997264));
}

TEST_CASE("NUM-3: a thread that flushes to zero or rounds otherwise is recognised") {
    CHECK(floating_point_is_canonical());
#if defined(__SSE2__)
    const unsigned int before = _mm_getcsr();
    for (const unsigned int bits : {0x8000U, 0x0040U, 0x2000U, 0x4000U, 0x6000U}) {
        _mm_setcsr(before | bits);
        const bool canonical = floating_point_is_canonical();
        _mm_setcsr(before);
        CAPTURE(bits);
        CHECK_FALSE(canonical);
    }
#endif
    CHECK(floating_point_is_canonical());
}
