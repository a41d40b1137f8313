// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include <doctest/doctest.h>

#include <tests/unit/schedule/scenarios.hpp>

using namespace assay::schedule;

namespace {

double rounded(double seconds) { return std::round(seconds * 100.0) / 100.0; }

double cost_of_search(int number) {
    const Scenario setting = scenario(number);
    const Crossing crossing = scenario_crossing();
    const double cost =
        cost_of(setting.network, crossing, search(setting.network, crossing, kScenarioGrid, {})).total();
    MESSAGE(setting.name << ": " << cost << " s");
    return cost;
}

double cost_of_random(int number) {
    constexpr int kTimes = 50;
    const Scenario setting = scenario(number);
    const Crossing crossing = scenario_crossing();
    double sum = 0.0;
    for (int seed = 1; seed <= kTimes; ++seed) {
        const Arrangement random =
            random_arrangement(setting.network.size(), kScenarioGrid, static_cast<std::uint64_t>(seed));
        const Arrangement ordered = put_in_order(setting.network, crossing, random);
        sum += cost_of(setting.network, crossing, ordered).total();
    }
    return sum / kTimes;
}

}  // namespace

TEST_SUITE_BEGIN("full");

TEST_CASE("the search finds the authors' cost in the data centre" * doctest::test_suite("unsanitized")) {
    CHECK(rounded(cost_of_search(0)) <= 3.44);
}
TEST_CASE("the search finds the authors' cost on spot instances" * doctest::test_suite("unsanitized")) {
    CHECK(rounded(cost_of_search(1)) <= 49.50);
}
TEST_CASE("the search finds the authors' cost in two universities" * doctest::test_suite("unsanitized")) {
    CHECK(rounded(cost_of_search(2)) <= 16.09);
}
TEST_CASE("the search finds the authors' cost in four regions" * doctest::test_suite("unsanitized")) {
    CHECK(rounded(cost_of_search(3)) <= 34.80);
}
TEST_CASE("the search finds the authors' cost in eight cities" * doctest::test_suite("unsanitized")) {
    CHECK(rounded(cost_of_search(4)) <= 49.22);
}

TEST_SUITE_END();

TEST_CASE("a random arrangement costs more than what the search finds") {
    struct Row {
        int number;
        double found_s;
        double least_ratio;
    };
    for (const Row& row : std::array<Row, 4>{{{0, 3.44, 5.0}, {2, 16.09, 2.0}, {3, 34.80, 1.5}, {4, 49.22, 1.8}}}) {
        const double ratio = cost_of_random(row.number) / row.found_s;
        MESSAGE("scenario " << row.number << ": " << ratio);
        CHECK(ratio > row.least_ratio);
    }
}
