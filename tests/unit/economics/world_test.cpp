// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/world.hpp>

#include <doctest/doctest.h>

#include <algorithm>

#include <tools/economics/model.hpp>

namespace assay::economics {
namespace {

constexpr Grains kRich = 1'000'000 * kGrainsPerAsy;
const TaskCosts kTask{.name = "usual", .segments = 20, .segment_seconds = 360.0};

Ledger honest_world() {
    Ledger ledger;
    ledger.add(Role::kSubmitter, Strategy::kHonest, kRich);
    ledger.add(Role::kSolver, Strategy::kHonest, kRich);
    ledger.add(Role::kVerifier, Strategy::kHonest, kRich, 10);
    ledger.add(Role::kWatcher, Strategy::kHonest, kRich, 10);
    return ledger;
}

TEST_CASE("economics: an honest task pays the reward, the fee and the tax, and slashes nobody") {
    const Costs costs = [] {
        Costs out = default_costs();
        out.responder_failure = 0.0;
        return out;
    }();
    Parameters p = chain_defaults();
    p.forced_error_bps = 0;
    const Setting s = make_setting(p, costs, kTask);
    Ledger ledger = honest_world();
    Random random(1);
    const Outcome outcome = play(ledger, s, costs, {}, random);
    CHECK_FALSE(outcome.convicted);
    CHECK(outcome.forced == 0);
    CHECK(ledger.burned == 0);
    CHECK(ledger.escrow == 0);
    CHECK(ledger.total() == ledger.supply);
    const Agent& submitter = ledger.agents[0];
    CHECK(submitter.start - submitter.balance == s.value() + s.transaction_fee);
    const Agent& solver = ledger.agents[1];
    CHECK(
        solver.balance - solver.start == s.net_reward() - s.training_cost() - s.transaction_fee * s.solver_transactions
    );
    const Grains fees = s.transaction_fee * (1 + s.solver_transactions + 3 * s.assignments);
    const Grains dust = (s.fee - s.fee_tax) % s.assignments;
    CHECK(ledger.treasury == s.reward_tax + s.fee_tax + dust + fees);
}

TEST_CASE("economics: a solver that is caught loses bond and reward, and half of the bond is burned") {
    Costs costs = default_costs();
    costs.responder_failure = 0.0;
    Parameters p = chain_defaults();
    p.forced_error_bps = 0;
    const Setting s = make_setting(p, costs, kTask);
    Ledger ledger = honest_world();
    Random random(1);
    Round round;
    round.work = SolverWork{.wrong = s.segments, .wrong_initialisation = true};
    const Outcome outcome = play(ledger, s, costs, round, random);
    CHECK(outcome.convicted);
    CHECK(ledger.burned == s.solver_bond - s.winners_share(s.solver_bond));
    const Agent& solver = ledger.agents[1];
    CHECK(solver.start - solver.balance == s.solver_bond + s.transaction_fee * s.solver_transactions);
    const Agent& submitter = ledger.agents[0];
    // Rejecting verifiers earn their shares; the rest comes back.
    const Grains paid = s.fee_share * s.assignments + s.fee_tax;
    CHECK(submitter.start - submitter.balance == paid + s.transaction_fee);
    CHECK(ledger.total() == ledger.supply);
}

TEST_CASE("economics: a jackpot is at most a third of the treasury, and k winners take J over 2 to the k-1 each") {
    const Costs costs = default_costs();
    Parameters p = chain_defaults();
    p.forced_error_bps = 10'000;
    p.segments_checked = 1;
    for (const std::uint32_t watchers : {1U, 2U, 3U}) {
        p.watchers_per_verdict = watchers;
        const Setting s = make_setting(p, costs, kTask);
        for (const Grains treasury : {Grains{1'000}, 1'000 * s.jackpot}) {
            for (std::uint64_t seed = 1; seed <= 20; ++seed) {
                Ledger ledger = honest_world();
                ledger.endow(treasury);
                Random random(seed);
                const Outcome outcome = play(ledger, s, costs, {}, random);
                if (outcome.forced == 0) {
                    continue;  // the initialisation was drawn
                }
                const Grains before = treasury + s.transaction_fee * (1 + s.solver_transactions + 3 + watchers);
                const Grains jackpot = std::min(before / 3, s.jackpot);
                CHECK(outcome.paid_in_jackpots == (jackpot >> (watchers - 1)) * watchers);
            }
        }
    }
}

TEST_CASE("economics: a treasury whose third is below the fee's jackpot comes to rest where income equals jackpots") {
    Costs costs = default_costs();
    costs.adversary.idle_watchers = costs.adversary.coalition_watchers = 0;
    Parameters p = chain_defaults();
    p.tax_bps = 50;
    const Setting s = make_setting(p, costs, kTask);
    const Model model(s, costs);
    REQUIRE(model.treasury_at_rest() < 2.0 * to_asy(s.jackpot));
    Ledger ledger = honest_world();
    Random random(3);
    double sum = 0.0;
    constexpr int kTasks = 10'000;
    for (int i = 0; i < kTasks + 200; ++i) {
        play(ledger, s, costs, {}, random);
        sum += i < 200 ? 0.0 : to_asy(ledger.treasury);
    }
    CHECK(sum / kTasks == doctest::Approx(model.treasury_at_rest()).epsilon(0.1));
}

TEST_CASE("economics: nobody is drawn for a bond that it cannot pay") {
    const Costs costs = default_costs();
    const Setting s = make_setting(chain_defaults(), costs, kTask);
    Ledger ledger;
    ledger.add(Role::kSubmitter, Strategy::kHonest, kRich);
    ledger.add(Role::kSolver, Strategy::kHonest, s.solver_bond - 1);
    Random random(1);
    play(ledger, s, costs, {}, random);
    CHECK(ledger.agents[0].balance == kRich);
    CHECK(ledger.agents[1].balance == s.solver_bond - 1);
    CHECK(ledger.total() == ledger.supply);
}

TEST_CASE("economics: money is conserved and nobody ends below zero, whoever plays") {
    const Costs costs = default_costs();
    Parameters p = chain_defaults();
    p.watchers_per_verdict = 3;
    p.verifiers_per_segment = 2;
    p.forced_error_bps = 2'000;
    const Setting s = make_setting(p, costs, kTask);
    Ledger ledger;
    ledger.add(Role::kSubmitter, Strategy::kHonest, kRich * 100);
    const Grains start = 2'000 * kGrainsPerAsy;
    for (const Strategy strategy : {Strategy::kHonest, Strategy::kSkipping, Strategy::kFaking, Strategy::kCoalition}) {
        ledger.add(Role::kSolver, strategy, start, 3);
    }
    for (const Strategy strategy :
         {Strategy::kHonest, Strategy::kLazy, Strategy::kCopying, Strategy::kRejecting, Strategy::kCoalition}) {
        ledger.add(Role::kVerifier, strategy, start, 3);
    }
    for (const Strategy strategy :
         {Strategy::kHonest, Strategy::kIdle, Strategy::kBlind, Strategy::kFollowing, Strategy::kCoalition}) {
        ledger.add(Role::kWatcher, strategy, start, 3);
    }
    ledger.add(Role::kSybil, Strategy::kFlooding, start);
    Random random(5);
    std::uint32_t convicted = 0;
    for (int i = 0; i < 2'000; ++i) {
        Round round;
        round.floods = i % 5 == 0 ? 2 : 0;
        convicted += play(ledger, s, costs, round, random).convicted ? 1U : 0U;
        REQUIRE(ledger.total() == ledger.supply);
        REQUIRE(ledger.treasury >= 0);
        for (const Agent& agent : ledger.agents) {
            REQUIRE(agent.balance >= 0);
        }
    }
    CHECK(convicted > 0);
    CHECK(ledger.burned > 0);
}

}  // namespace
}  // namespace assay::economics
