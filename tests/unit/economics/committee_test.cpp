// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include <contracts/chain/gas.hpp>
#include <contracts/params/params.hpp>
#include <contracts/params/rules.hpp>
#include <tools/economics/committee.hpp>
#include <tools/economics/constraints.hpp>

namespace assay::economics {
namespace {

/// By counting: how probable more than half of the seats are for `share`.
double counted(std::uint32_t seats, double share) {
    double out = 0.0;
    for (std::uint32_t taken = 0; taken < 1U << seats; ++taken) {
        const int hits = std::popcount(taken);
        if (2 * hits > static_cast<int>(seats)) {
            out += std::pow(share, hits) * std::pow(1.0 - share, static_cast<int>(seats) - hits);
        }
    }
    return out;
}

TEST_CASE("AVL-4: a majority of seats is as probable as counting says, with odd and even numbers of seats") {
    for (const std::uint32_t seats : {1U, 2U, 5U, 8U, 11U}) {
        for (const double share : {0.0, 0.1, 0.25, 0.5, 0.9, 1.0}) {
            INFO(seats, " seats, a share of ", share);
            CHECK(majority(seats, share) == doctest::Approx(counted(seats, share)).epsilon(1e-9));
            // Half of the seats are not enough to attest.
            CHECK(found_withheld(seats, {.coalition = share}) ==
                  doctest::Approx(1.0 - counted(seats, 1.0 - share)).epsilon(1e-9));
        }
    }
}

TEST_CASE("AVL-5: the page's figures") {
    CHECK(found_withheld(21, {.coalition = 0.2, .failing = 0.1}) == doctest::Approx(0.0157).epsilon(0.01));
    CHECK(convicted_falsely(21, {.coalition = 0.2, .failing = 0.1}) == doctest::Approx(3.9e-6).epsilon(0.01));
    CHECK(convicted_falsely(21, {.coalition = 0.25, .failing = 0.1}) == doctest::Approx(0.000103).epsilon(0.01));
    CHECK(attested_falsely(21, 0.2) == doctest::Approx(0.0029).epsilon(0.01));
    CHECK(attested_falsely(21, 0.25) == doctest::Approx(0.0191).epsilon(0.01));
    CHECK(least_seats({.coalition = 0.25, .failing = 0.1}, 1e-3) == 13);
    CHECK(least_seats({.coalition = 0.5, .failing = 0.1}, 1e-3) == 0);
}

TEST_CASE("AVL-8: who is silent loses as much as it takes, but for the chance of a conviction") {
    Setting setting;
    setting.assignments = 3;
    setting.verifier_bond = 1'240'000'000;
    setting.solver_bond = 12'400'000'000;
    setting.reward = 12'000'000'000;
    const SilenceLoss quarter = loss_by_silence(setting, 21, {.coalition = 0.25, .failing = 0.1});
    CHECK(quarter.own == doctest::Approx(0.093).epsilon(0.001));
    CHECK(quarter.matched == quarter.own);
    CHECK(quarter.ratio() == doctest::Approx(1.012).epsilon(0.001));
    CHECK(loss_by_silence(setting, 21, {.coalition = 0.2, .failing = 0.1}).ratio() == doctest::Approx(1.0).epsilon(0.001));
    CHECK(loss_by_silence(setting, 21, {}).ratio() == 0.0);
}

TEST_CASE("PAR-10: a chain takes the parameters of a committee exactly where the constraint of its price holds") {
    const Costs costs = default_costs();
    contracts::Params params;
    REQUIRE(contracts::are_valid(params));
    const std::uint64_t most = params.verifier_bond.grains / 10 / params.committee_seats;
    for (const std::uint64_t fee : {std::uint64_t{0}, most, most + 1}) {
        INFO("a fee of ", fee);
        params.attest_fee = Amount{fee};
        Parameters same = chain_defaults();
        same.attest_fee = static_cast<Grains>(fee);
        const std::vector<Constraint> found = check(same, costs, costs.tasks.front());
        const auto cheap =
            std::find_if(found.begin(), found.end(), [](const Constraint& c) { return c.name == "committee.cheap"; });
        REQUIRE(cheap != found.end());
        CHECK(cheap->holds() == contracts::are_valid(params));
    }
}

TEST_CASE("GAS-1: what an attestation is taken to cost is its gas at half more than the least price") {
    const contracts::Params params;
    const contracts::Tx tx{{"", {}, 0, {}, contracts::AttestAvailability{}}, {}};
    const std::uint64_t gas = contracts::gas_of(tx, 5'200, params);  // a tile of f32, and its paths
    CHECK(static_cast<double>(Costs{}.attestation_fees) ==
          doctest::Approx(1.5 * static_cast<double>(gas * params.gas_price_min.grains)).epsilon(0.02));
}

}  // namespace
}  // namespace assay::economics
