// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include <contracts/params/by_value.hpp>
#include <contracts/params/gas.hpp>
#include <contracts/state/params.hpp>
#include <contracts/governance/params_rules.hpp>
#include <contracts/transaction/transaction.hpp>
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
            CHECK(
                found_withheld(seats, {.coalition = share}) ==
                doctest::Approx(1.0 - counted(seats, 1.0 - share)).epsilon(1e-9)
            );
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

/// A task of 12 ASY, and committees as by default.
Setting twelve() {
    Setting out;
    out.assignments = 3;
    out.verifier_bond = 1'240'000'000;
    out.solver_bond = 12'400'000'000;
    out.reward = 12'000'000'000;
    out.fetch_cost = 1'000'000;
    return out;
}

constexpr MembersPay kPay{.seats = 21, .fee = 0.00372, .transaction = 0.000064, .download = 0.001, .verifiers = 50};

TEST_CASE("AVL-6: the model pays what the chain pays for an attestation, whatever the task is worth") {
    const contracts::Params chain;
    for (const double seconds : {1.0, 360.0, 758.0, 3'600.0, 6'000.0, 3.6e6}) {
        INFO("segments of ", seconds, " s");
        const TaskCosts task{.name = "one", .segments = 100, .segment_seconds = seconds};
        const Setting setting = make_setting(chain_defaults(), default_costs(), task);
        const auto value = static_cast<std::uint64_t>(setting.value());
        CHECK(
            attestation_fee(chain_defaults(), setting) ==
            static_cast<Grains>(contracts::attestation_fee(chain, {value}).grains)
        );
    }
}

TEST_CASE("AVL-8: a silent verifier's solver loses as much, and more with the chance of a conviction") {
    const Setting setting = twelve();
    const SharedLoss one = loss_by_silence(setting, kPay, {.coalition = 0.25, .failing = 0.1}, 1);
    CHECK(one.own == doctest::Approx(0.124).epsilon(0.001));
    CHECK(one.matched == one.own);
    CHECK(one.convicted == doctest::Approx(0.000103 * 18.2).epsilon(0.01));
    CHECK(one.alone() == doctest::Approx(1.015).epsilon(0.001));
    CHECK(
        loss_by_silence(setting, kPay, {.coalition = 0.2, .failing = 0.1}, 1).alone() ==
        doctest::Approx(1.001).epsilon(0.001)
    );
    CHECK(loss_by_silence(setting, kPay, {.coalition = 0.25, .failing = 0.1}, 0).ratio() == 0.0);
}

TEST_CASE("AVL-6: all honest accounts together lose less than a coalition that is silent, as their members are paid") {
    const Setting setting = twelve();
    double last = 0.0;
    for (const std::uint32_t segments : {1U, 2U, 3U}) {
        const SharedLoss loss = loss_by_silence(setting, kPay, {.coalition = 0.25, .failing = 0.1}, segments);
        INFO(segments, " segments");
        CHECK(loss.earned == doctest::Approx(0.0316).epsilon(0.01));
        CHECK(loss.ratio() < 1.0);
        CHECK(loss.ratio() > last);  // so the row is about all segments
        last = loss.ratio();
    }
    // What members are paid has to be more than what attesting costs them, or it is a loss as well.
    MembersPay unpaid = kPay;
    unpaid.fee = 0.0;
    const SharedLoss loss = loss_by_silence(setting, unpaid, {.coalition = 0.25, .failing = 0.1}, 1);
    CHECK(loss.earned < 0.0);
    CHECK(loss.ratio() > loss.alone());
}

TEST_CASE("AVL-6: the page's figures of what the honest lose, together and alone") {
    struct Row {
        double share, failing, silent, silent_alone, attesting, attesting_alone;
    };
    for (const Row& row :
         {Row{0.1, 0.1, 0.90, 1.000, 0.92, 1.07}, Row{0.2, 0.0, 0.90, 1.000, 0.94, 1.14},
          Row{0.2, 0.1, 0.91, 1.001, 0.95, 1.14}, Row{0.25, 0.0, 0.91, 1.000, 0.96, 1.18},
          Row{0.25, 0.1, 0.92, 1.015, 0.96, 1.18}, Row{1.0 / 3.0, 0.0, 0.93, 1.025, 0.99, 1.26}}) {
        INFO("shares of ", row.share, " and ", row.failing);
        const Setting setting = twelve();
        const Silence silence{.coalition = row.share, .failing = row.failing};
        CHECK(std::abs(loss_by_silence(setting, kPay, silence, 3).ratio() - row.silent) < 0.005);
        CHECK(std::abs(loss_by_silence(setting, kPay, silence, 1).alone() - row.silent_alone) < 0.0005);
        CHECK(std::abs(loss_while_attesting(setting, kPay, silence, 3).ratio() - row.attesting) < 0.005);
        CHECK(std::abs(loss_while_attesting(setting, kPay, silence, 1).alone() - row.attesting_alone) < 0.005);
    }
    CHECK(1.0 / convicted_falsely(21, {.coalition = 0.25, .failing = 0.1}) == doctest::Approx(9'750.0).epsilon(0.01));
}

TEST_CASE("AVL-6: a coalition whose members attest gets back a part of what it costs the honest, and they more") {
    const Setting setting = twelve();
    for (const double share : {0.1, 0.2, 0.25}) {
        INFO("a share of ", share);
        const SharedLoss one = loss_while_attesting(setting, kPay, {.coalition = share, .failing = 0.1}, 1);
        CHECK(one.own == doctest::Approx(0.124 - share * 21 * 0.003656));
        CHECK(one.ratio() < 1.0);
        CHECK(one.alone() > 1.0);
    }
    const SharedLoss quarter = loss_while_attesting(setting, kPay, {.coalition = 0.25, .failing = 0.1}, 1);
    CHECK(quarter.alone() == doctest::Approx(1.18).epsilon(0.01));
    // By counting: 37.5 accounts, and each seat is one of theirs, and attested, with probability 0.675.
    const double members = 37.5 * (1.0 - std::pow(1.0 - 0.675 / 37.5, 21));
    CHECK(quarter.earned == doctest::Approx(members * 0.002656).epsilon(1e-6));
}

TEST_CASE("TRM-3, AVL-7: the page's figures of consent that is withdrawn") {
    // Half of the stake consents, a quarter of all withdraws and is silent, a tenth of the others fails.
    CHECK(1.0 / nobody_consents(21, (0.5 - 0.25) * 0.9) == doctest::Approx(210.0).epsilon(0.01));
    CHECK(nobody_consents(21, 0.5 - 0.5) == 1.0);
    const Setting setting = twelve();
    const SharedLoss one = loss_by_silence(setting, kPay, {.coalition = 0.25, .failing = 0.1}, 1);
    const double unpaid = nobody_consents(21, (0.5 - 0.25) * 0.9) * to_asy(setting.net_reward());
    CHECK(one.ratio() + unpaid / one.own == doctest::Approx(1.22).epsilon(0.005));
    const contracts::Params params;
    const contracts::Tx tx{{"", {}, 0, {}, contracts::RegisterTerms{}}, {}};
    CHECK(1.5 * static_cast<double>(contracts::gas_of(tx, 200, params) * params.gas_price_min.grains) == 8'100.0);
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
    CHECK(
        static_cast<double>(Costs{}.attestation_fees) ==
        doctest::Approx(1.5 * static_cast<double>(gas * params.gas_price_min.grains)).epsilon(0.02)
    );
}

}  // namespace
}  // namespace assay::economics
