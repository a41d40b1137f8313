// SPDX-License-Identifier: Apache-2.0
#include <core/canonical/transcendental.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
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

using Chain = double (*)(double) noexcept;
using Libm = long double (*)(long double);

// The largest error over a million values below `most`: half of them of any magnitude, half within `usual`.
long double worst_of(Chain chain, Libm exact, float usual, float most, std::uint64_t seed) {
    test::Random random(seed);
    long double worst = 0;
    for (int i = 0; i < 1'000'000;) {
        const float x = i % 2 == 0 ? std::bit_cast<float>(random.next_u32()) : random.unit() * usual;
        if (!(std::fabs(x) <= most)) {
            continue;
        }
        ++i;
        const auto got = static_cast<float>(chain(double{x}));
        worst = std::max(worst, ulps(got, exact(static_cast<long double>(x))));
    }
    return worst;
}

void check_odd(Chain chain, float most) {
    test::Random random(1);
    for (int i = 0; i < 10'000; ++i) {
        const float x = i % 2 == 0 ? std::bit_cast<float>(random.next_u32()) : random.unit() * 5.0F;
        if (std::fabs(x) <= most) {
            REQUIRE(chain(double{-x}) == -chain(double{x}));
        }
    }
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

TEST_CASE("NUM-25: tanh is within 0.51 units of the last place after rounding") {
    CHECK(worst_of(tanh_f64, std::tanh, 12.0F, std::numeric_limits<float>::max(), 25) < 0.51L);
}

TEST_CASE("NUM-26: erf is within 0.51 units of the last place after rounding") {
    CHECK(worst_of(erf_f64, std::erf, 4.5F, std::numeric_limits<float>::max(), 26) < 0.51L);
}

TEST_CASE("NUM-27: sin and cos are within 0.51 units of the last place after rounding") {
    CHECK(worst_of(sin_f64, std::sin, 20.0F, 0x1p30F, 27) < 0.51L);
    CHECK(worst_of(cos_f64, std::cos, 20.0F, 0x1p30F, 28) < 0.51L);
}

TEST_CASE("NUM-25: tanh is odd, keeps what is tiny and saturates") {
    check_odd(tanh_f64, std::numeric_limits<float>::max());
    CHECK(std::bit_cast<std::uint64_t>(tanh_f64(-0.0)) == std::bit_cast<std::uint64_t>(-0.0));
    CHECK(tanh_f64(0x1p-149) == 0x1p-149);
    CHECK(static_cast<float>(tanh_f64(0x1.fffffep-13)) == std::tanh(0x1.fffffep-13F));
    CHECK(static_cast<float>(tanh_f64(0x1p-12)) == std::tanh(0x1p-12F));
    CHECK(static_cast<float>(tanh_f64(9.0)) < 1.0F);
    CHECK(static_cast<float>(tanh_f64(9.1)) == 1.0F);
    CHECK(tanh_f64(22.0) == tanh_f64(1e300));
    CHECK(static_cast<float>(tanh_f64(-std::numeric_limits<double>::infinity())) == -1.0F);
}

TEST_CASE("NUM-26: erf is odd, keeps what is tiny and saturates") {
    check_odd(erf_f64, std::numeric_limits<float>::max());
    CHECK(std::bit_cast<std::uint64_t>(erf_f64(-0.0)) == std::bit_cast<std::uint64_t>(-0.0));
    CHECK(static_cast<float>(erf_f64(0x1p-149)) == 0x1p-149F);
    CHECK(static_cast<float>(erf_f64(3.91)) < 1.0F);
    CHECK(static_cast<float>(erf_f64(3.92)) == 1.0F);
    CHECK(erf_f64(4.0) == erf_f64(1e300));
    CHECK(static_cast<float>(erf_f64(-std::numeric_limits<double>::infinity())) == -1.0F);
}

TEST_CASE("NUM-27: sin is odd, cos is even, and both are reduced exactly up to the limit") {
    check_odd(sin_f64, 0x1p30F);
    test::Random random(272);
    for (int i = 0; i < 10'000; ++i) {
        const double x{random.unit() * 0x1p30F};
        REQUIRE(cos_f64(-x) == cos_f64(x));
    }
    CHECK(sin_f64(0x1p-149) == 0x1p-149);
    CHECK(cos_f64(0.0) == 1.0);
    // The f32 nearest to multiples of pi / 2, where the reduction cancels most.
    for (std::int64_t k = 1; k < (std::int64_t{1} << 29U); k += 1 + k / 64) {
        const auto x = static_cast<float>(static_cast<long double>(k) * 1.57079632679489661923132169163975144L);
        REQUIRE(ulps(static_cast<float>(sin_f64(double{x})), std::sin(static_cast<long double>(x))) < 0.51L);
        REQUIRE(ulps(static_cast<float>(cos_f64(double{x})), std::cos(static_cast<long double>(x))) < 0.51L);
    }
    for (const double x : {0x1p30, 0x1.fffffep29, -0x1p30}) {
        CHECK(static_cast<float>(sin_f64(x)) == static_cast<float>(std::sin(static_cast<long double>(x))));
        CHECK(static_cast<float>(cos_f64(x)) == static_cast<float>(std::cos(static_cast<long double>(x))));
    }
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
