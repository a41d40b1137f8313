// SPDX-License-Identifier: Apache-2.0
#include <core/dispute/tolerance.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

using namespace assay;
using namespace assay::dispute;

namespace {

std::uint32_t bits(double x) { return std::bit_cast<std::uint32_t>(static_cast<float>(x)); }

GroupMeasurement group(double drift2, double update2) {
    GroupMeasurement g;
    g.drift2 = bits(drift2);
    g.update2 = bits(update2);
    return g;
}

// A segment whose drift is `direction` times `length`, seen under eight signs.
GroupMeasurement drifting(double length, const std::array<double, 8>& direction) {
    GroupMeasurement g = group(length * length, 1.0);
    for (std::size_t k = 0; k < 8; ++k) {
        g.sketch[k] = bits(length * direction[k]);
    }
    return g;
}

}  // namespace

TEST_CASE("TOL-6: a bound is compared exactly, to the last bit") {
    // 9/16 is (3/4)^2 to the bit.
    CHECK_FALSE(exceeds(group(9.0, 16.0), {3, 4}));
    CHECK(exceeds(group(std::nextafter(9.0F, 10.0F), 16.0), {3, 4}));
    CHECK_FALSE(exceeds(group(9.0, std::nextafter(16.0F, 17.0F)), {3, 4}));
    CHECK(exceeds(group(0x1p-149, 0.0), {1'000'000, 1}));
    CHECK_FALSE(exceeds(group(0.0, 0.0), {0, 1}));
    CHECK_FALSE(exceeds(group(0x1p-149, 0x1p-149), {1, 1}));
    CHECK(exceeds(group(0x1p-148, 0x1p-149), {1, 1}));
    const double largest = static_cast<double>(std::numeric_limits<float>::max());
    CHECK(exceeds(group(largest, 1.0), {4'000'000'000U, 1}));
    CHECK(exceeds(group(largest, 0x1p-149), {4'294'967'295U, 1}));
    CHECK_FALSE(exceeds(group(0x1p-149, largest), {1, 4'294'967'295U}));
    std::mt19937_64 random(3);
    for (int i = 0; i < 2000; ++i) {
        const double d = std::ldexp(static_cast<double>(random() % (1U << 24U)), static_cast<int>(random() % 20) - 40);
        const double u = std::ldexp(static_cast<double>(random() % (1U << 24U)), static_cast<int>(random() % 20) - 40);
        const Ratio bound{static_cast<std::uint32_t>(random() % 4096), static_cast<std::uint32_t>(random() % 4095 + 1)};
        // 24 + 24 bits: exact in doubles.
        CHECK(
            exceeds(group(d, u), bound) ==
            (d * bound.denominator * bound.denominator > u * bound.numerator * bound.numerator)
        );
    }
}

TEST_CASE("TOL-5: an element that is not finite or an integer that differs exceeds any bound") {
    GroupMeasurement g = group(0.0, 1.0);
    CHECK_FALSE(exceeds(g, {0, 1}));
    g.not_finite = bits(1.0);
    CHECK(exceeds(g, {4'000'000'000U, 1}));
    CHECK(relative_drift(g) == kMaxRelative);
    g = group(0.0, 1.0);
    g.integers = bits(1.0);
    CHECK(exceeds(g, {4'000'000'000U, 1}));
    CHECK(relative_drift(g) == kMaxRelative);
}

TEST_CASE("TOL-2: a measurement that no execution writes is told apart") {
    Measurement m{.parameters = group(1.0, 2.0), .other = group(0.0, 0.0)};
    CHECK(is_possible(m));
    m.parameters.dot = bits(-1.0);
    m.other.sketch[7] = bits(-1.0);
    CHECK(is_possible(m));
    for (const std::uint32_t hostile : {bits(-1.0), 0x7f800000U, 0x7fc00000U, 0xffffffffU}) {
        for (std::uint32_t GroupMeasurement::*field :
             {&GroupMeasurement::drift2, &GroupMeasurement::update2, &GroupMeasurement::claimed2,
              &GroupMeasurement::drift_max, &GroupMeasurement::update_max, &GroupMeasurement::not_finite,
              &GroupMeasurement::integers}) {
            Measurement wrong = m;
            wrong.other.*field = hostile;
            CHECK_FALSE(is_possible(wrong));
        }
    }
    m.parameters.sketch[0] = 0x7f800000U;
    CHECK_FALSE(is_possible(m));
}

TEST_CASE("TOL-6: relative drift is the square root in billionths, rounded down") {
    CHECK(relative_drift(group(0.0, 0.0)) == 0);
    CHECK(relative_drift(group(0.0, 1.0)) == 0);
    CHECK(relative_drift(group(1.0, 1.0)) == 1'000'000'000);
    CHECK(relative_drift(group(0.25, 1.0)) == 500'000'000);
    CHECK(relative_drift(group(2.0, 1.0)) == 1'414'213'562);
    CHECK(relative_drift(group(1.0, 0.0)) == kMaxRelative);
    CHECK(relative_drift(group(1e38, 1e-38)) == kMaxRelative);
    CHECK(relative_drift(group(1e-38, 1e38)) == 0);
    GroupMeasurement still = group(1.0, 1.0);
    CHECK(relative_update(still) == 0);
    still.claimed2 = bits(0.01);
    CHECK(relative_update(still) == 99'999'998);  // the f32 lies below 0.01
}

TEST_CASE("TOL-7: independent drifts grow like a walk, the same drift in a line") {
    std::mt19937_64 random(17);
    constexpr std::size_t kSegments = 400;
    std::vector<GroupMeasurement> walk;
    std::vector<GroupMeasurement> line;
    double mean = 0.0;
    for (int trial = 0; trial < 20; ++trial) {
        walk.clear();
        for (std::size_t i = 0; i < kSegments; ++i) {
            std::array<double, 8> direction{};
            for (double& x : direction) {
                x = random() % 2 == 0 ? 1.0 : -1.0;
            }
            walk.push_back(drifting(1e-4, direction));
        }
        mean += static_cast<double>(growth(walk)) / 20.0;
    }
    CHECK(mean > 700.0);
    CHECK(mean < 1300.0);
    line.assign(kSegments, drifting(3e-20, {1, -1, 1, 1, -1, 1, 1, 1}));
    CHECK(growth(line) == doctest::Approx(1000.0 * kSegments).epsilon(1e-3));
    CHECK(growth({}) == 0);
    const std::vector<GroupMeasurement> still(5, group(0.0, 1.0));
    CHECK(growth(still) == 0);
    // Huge and tiny drifts in one sum: the tiny ones do not matter, and nothing overflows.
    const double largest = static_cast<double>(std::numeric_limits<float>::max());
    GroupMeasurement huge = group(largest, 1.0);
    huge.sketch.fill(bits(largest));
    const std::vector<GroupMeasurement> mixed{huge, line.front(), huge};
    CHECK(growth(mixed) == std::uint64_t{1} << 32U);
}

TEST_CASE("TOL-8: a threshold needs as many samples as its quantile and confidence say") {
    ThresholdRule rule{.quantile_ppm = 990'000, .confidence_ppm = 950'000, .margin = {3, 2}, .separation = 10};
    CHECK(samples_needed(rule) == 299U);  // the smallest n with 0.99^n <= 0.05
    rule.quantile_ppm = 500'000;
    rule.confidence_ppm = 750'000;
    CHECK(samples_needed(rule) == 2U);
    const std::vector<Relative> samples{100, 333, 7};
    CHECK(threshold_from(samples, 1'000'009, rule).value() == 100'000);  // a tenth, rounded down
    CHECK(threshold_from(std::vector<Relative>{5}, 1'000'000, rule).error() == ThresholdError::kTooFew);
    CHECK(threshold_from(samples, 5'000, rule).value() == 500);  // 333 * 3/2 = 499.5
    CHECK(threshold_from(samples, 4'999, rule).error() == ThresholdError::kNotSeparated);
    CHECK(threshold_from(samples, kMaxRelative, rule).value() == 100'000'000);  // d_ref counts as at most 1
    const std::vector<Relative> broken{1, kMaxRelative};
    CHECK(threshold_from(broken, kMaxRelative, rule).error() == ThresholdError::kNotSeparated);
    rule.quantile_ppm = 999'999;
    rule.confidence_ppm = 999'999;
    CHECK_FALSE(samples_needed(rule).has_value());
    CHECK(threshold_from(samples, 1'000'000, rule).error() == ThresholdError::kTooFew);
}

TEST_CASE("TOL-8: a rule that makes no sense is refused") {
    const std::vector<Relative> samples(400, 1);
    const ThresholdRule good{};
    REQUIRE(threshold_from(samples, 1'000'000, good).has_value());
    const auto error = [&](auto change) {
        ThresholdRule rule = good;
        change(rule);
        return threshold_from(samples, 1'000'000, rule).error();
    };
    CHECK(error([](ThresholdRule& r) { r.quantile_ppm = 0; }) == ThresholdError::kRule);
    CHECK(error([](ThresholdRule& r) { r.quantile_ppm = 1'000'000; }) == ThresholdError::kRule);
    CHECK(error([](ThresholdRule& r) { r.confidence_ppm = 1'000'000; }) == ThresholdError::kRule);
    CHECK(error([](ThresholdRule& r) { r.margin = {1, 2}; }) == ThresholdError::kRule);
    CHECK(error([](ThresholdRule& r) { r.margin = {1, 0}; }) == ThresholdError::kRule);
    CHECK(error([](ThresholdRule& r) { r.separation = 0; }) == ThresholdError::kRule);
}
