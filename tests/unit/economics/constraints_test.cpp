// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/constraints.hpp>

#include <doctest/doctest.h>

#include <algorithm>

#include <contracts/state/params.hpp>
#include <tools/economics/model.hpp>

namespace assay::economics {
namespace {

const TaskCosts kTask{.name = "usual", .segments = 100, .segment_seconds = 360.0};

Constraint named(const std::vector<Constraint>& all, const std::string& name) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const Constraint& c) { return c.name == name; });
    REQUIRE(at != all.end());
    return *at;
}

Constraint one(const std::string& name, const Parameters& p, const Costs& costs) {
    return named(check(p, costs, kTask), name);
}

TEST_CASE("economics: parameters start from what the chain starts with") {
    const contracts::Params chain;
    const Parameters p = chain_defaults();
    CHECK(p.solver_bond == static_cast<Grains>(chain.solver_bond.grains));
    CHECK(p.verifier_bond == static_cast<Grains>(chain.verifier_bond.grains));
    CHECK(p.challenger_bond == static_cast<Grains>(chain.challenger_bond.grains));
    CHECK(p.segments_checked == chain.segments_checked);
    CHECK(p.verifiers_per_segment == chain.verifiers_per_segment);
    CHECK(p.slash_to_winner_bps == chain.slash_to_winner_bps);
    CHECK(p.dispute_extension_blocks == chain.dispute_extension_blocks);
    CHECK(p.contributor_bond == static_cast<Grains>(chain.contributor_bond.grains));
    CHECK(p.task_value_max == static_cast<Grains>(chain.task_value_max.grains));
    CHECK(p.committee_seats == chain.committee_seats);
    CHECK(p.attest_fee == static_cast<Grains>(chain.attest_fee.grains));
    CHECK(p.work_price == static_cast<Grains>(chain.work_price));
    CHECK(p.replay_blocks_max == chain.replay_blocks_max);
    CHECK(p.deadline_slash_bps == chain.deadline_slash_bps);
    CHECK(p.draws_max == chain.draws_max);
    CHECK(p.redraws_max == chain.redraws_max);
    CHECK(p.room_price == static_cast<Grains>(chain.room_price.grains));
    CHECK(p.retention_price == static_cast<Grains>(chain.retention_price.grains));
    CHECK(p.attest_blocks == chain.attest_blocks);
    CHECK(p.block_ms == chain.block_ms);
    CHECK(p.decline_blocks == chain.decline_blocks);
    CHECK(p.draw_blocks == chain.draw_blocks);
    CHECK(p.redraw_blocks == chain.redraw_blocks);
    CHECK(p.accept_blocks == chain.accept_blocks);
    CHECK(p.commit_blocks == chain.commit_blocks);
    CHECK(p.publish_blocks == chain.publish_blocks);
    CHECK(p.challenge_blocks == chain.challenge_blocks);
    CHECK(p.disclose_blocks == chain.disclose_blocks);
    CHECK(p.dispute_clock_blocks == chain.dispute_clock_blocks);
    CHECK(p.contribute_blocks == chain.contribute_blocks);
    CHECK(p.gas_price_min == static_cast<Grains>(chain.gas_price_min.grains));
    CHECK(p.block_gas_max == chain.block_gas_max);
    CHECK(p.end_block_gas_max == chain.end_block_gas_max);
    CHECK(p.memory_default == chain.memory_default);
    CHECK(p.duty_gas_max == chain.duty_gas_max);
    CHECK(p.duty_wait_blocks == chain.duty_wait_blocks);
    CHECK(p.standstill_blocks == chain.standstill_blocks);
    CHECK(default_costs().compute_speed == 1e6 * static_cast<double>(chain.hardware_classes[1].least_score));
}

TEST_CASE("economics: bonds and checks follow the value up to their maxima") {
    Parameters p = chain_defaults();
    p.solver_bond_bps = 10'000;
    p.verifier_bond_bps = 1'000;
    p.segments_checked = 3;
    p.verifiers_per_segment = 1;
    p.value_per_check = 1'000 * kGrainsPerAsy;
    p.value_per_verifier = 10'000 * kGrainsPerAsy;
    p.segments_checked_max = 63;
    p.verifiers_per_segment_max = 4;
    const Costs costs = default_costs();
    TaskCosts task = kTask;
    task.reward = 2'500 * kGrainsPerAsy;
    task.fee = 500 * kGrainsPerAsy;
    const Setting s = make_setting(p, costs, task);
    CHECK(s.solver_bond == 3'000 * kGrainsPerAsy);
    CHECK(s.verifier_bond == 300 * kGrainsPerAsy);
    CHECK(s.checked == 6);
    CHECK(s.per_segment == 1);
    task.reward = 1'000'000 * kGrainsPerAsy;
    CHECK(make_setting(p, costs, task).checked == 63);
    CHECK(make_setting(p, costs, task).per_segment == 4);
    task.segments = 10;
    CHECK(make_setting(p, costs, task).checked == 11);
    task.reward = task.fee = 1;
    CHECK(make_setting(p, costs, task).solver_bond == p.solver_bond);
}

TEST_CASE("economics: an open reward and fee pay for honest work with the margin") {
    const Costs costs = default_costs();
    for (const std::uint32_t tax : {0U, 300U, 5'000U}) {
        Parameters p = chain_defaults();
        p.tax_bps = tax;
        const Setting s = make_setting(p, costs, kTask);
        const Model model(s, costs);
        CHECK(model.honest_solver() == doctest::Approx(costs.margin * to_asy(s.training_cost())).epsilon(0.02));
        CHECK(model.honest_verifier() > 0.0);
        CHECK(model.honest_watcher() > 0.0);
        CHECK(s.net_reward() + s.reward_tax == s.reward);
    }
}

TEST_CASE("economics: conviction grows with skipped segments, checks and verifiers, and falls with the coalition") {
    Costs costs = default_costs();
    Parameters p = chain_defaults();
    const auto conviction = [&](std::uint32_t wrong) {
        const Setting s = make_setting(p, costs, kTask);
        return Model(s, costs).conviction({.wrong = wrong});
    };
    for (std::uint32_t wrong = 1; wrong <= 100; ++wrong) {
        CHECK(conviction(wrong) >= conviction(wrong - 1));
    }
    const double base = conviction(10);
    p.segments_checked = 4;
    CHECK(conviction(10) > base);
    p = chain_defaults();
    p.verifiers_per_segment = 2;
    CHECK(conviction(10) > base);
    p = chain_defaults();
    costs.adversary.coalition_verifiers += 10;
    CHECK(conviction(10) < base);
}

TEST_CASE("economics: a solver's expected gain falls with its bond and rises with the winner's share") {
    const Costs costs = default_costs();
    Parameters p = chain_defaults();
    const auto gain = [&] {
        const Setting s = make_setting(p, costs, kTask);
        const Model model(s, costs);
        return model.solver(model.worst_skip({.self_challenge = true})).gain;
    };
    const double base = gain();
    p.solver_bond_bps = 20'000;
    CHECK(gain() < base);
    p = chain_defaults();
    p.slash_to_winner_bps = 9'000;
    CHECK(gain() > base);
}

TEST_CASE("economics: a lazy verifier's gain falls with watchers and bond, and is all it saves when nobody watches") {
    Costs costs = default_costs();
    Parameters p = chain_defaults();
    const auto gain = [&] {
        const Setting s = make_setting(p, costs, kTask);
        return Model(s, costs).lazy(true).gain;
    };
    const double base = gain();
    CHECK(base < 0.0);
    p.verifier_bond_bps = 2'000;
    CHECK(gain() < base);
    p = chain_defaults();
    p.watchers_per_verdict = 2;
    CHECK(gain() < base);
    p.watchers_per_verdict = 0;
    const Setting s = make_setting(p, costs, kTask);
    CHECK(gain() == doctest::Approx(to_asy(s.verify_cost)));
}

TEST_CASE("economics: what pays for one watcher does not pay for two, who share") {
    const Costs costs = default_costs();
    Parameters p = chain_defaults();
    TaskCosts task = kTask;
    task.fee = make_setting(p, costs, kTask).fee;  // what pays for one watcher
    const auto active = [&] { return named(check(p, costs, task), "watcher.active"); };
    CHECK(active().holds());
    p.watchers_per_verdict = 2;
    CHECK_FALSE(active().holds());
}

TEST_CASE("economics: each constraint fails when what it stands on is taken away") {
    const Costs costs = default_costs();
    const auto fails = [&](const std::string& name, const auto& change) {
        Parameters p = chain_defaults();
        Costs changed = costs;
        CHECK_MESSAGE(one(name, p, changed).holds(), name);
        change(p, changed);
        const Constraint after = one(name, p, changed);
        CHECK_MESSAGE(!after.holds(), name);
        CHECK(after.slack() < 1.0);
        CHECK_FALSE(after.help.empty());
    };
    const auto bonds = [](Parameters& p, Costs&) {
        p.solver_bond = p.verifier_bond = p.challenger_bond = 1;
        p.solver_bond_bps = p.verifier_bond_bps = p.challenger_bond_bps = 0;
    };
    for (const char* const name :
         {"solver.honest", "solver.entry", "verifier.lazy", "verifier.copy", "dispute.pays", "watcher.dispute_pays",
          "defence.pays", "committee.cheap", "committee.withheld"}) {
        fails(name, bonds);
    }
    fails("verifier.false_rejection", [&](Parameters& p, Costs&) { p.challenger_bond = 1, p.challenger_bond_bps = 0; });
    fails("solver.detection", [](Parameters& p, Costs&) { p.segments_checked = 1; });
    fails("watcher.active", [](Parameters& p, Costs&) { p.forced_error_bps = 0; });
    fails("treasury.sustains", [](Parameters& p, Costs&) { p.tax_bps = 0; });
    fails("beacon.draws", [](Parameters& p, Costs&) { p.contributor_bond = 10 * kGrainsPerAsy; });
    fails("beacon.watching", [](Parameters& p, Costs&) { p.contributor_bond = kGrainsPerAsy; });
    fails("beacon.rounds", [](Parameters& p, Costs&) { p.draw_price /= 2; });
    fails("committee.attests", [](Parameters& p, Costs&) { p.attest_fee = 1; });
    fails("committee.silent", [](Parameters& p, Costs&) { p.attest_fee = 1; });
    fails("committee.paid", [](Parameters& p, Costs&) { p.attest_fee /= 3; });
    fails("committee.paid", [](Parameters&, Costs& c) { c.fetch_share *= 3; });
    fails("committee.cheap", [](Parameters& p, Costs&) { p.attest_fee *= 3; });
    fails("committee.rare", [](Parameters& p, Costs&) { p.committee_seats = 11; });
    fails("committee.withheld", [](Parameters&, Costs& c) {
        c.adversary.coalition_verifiers = c.adversary.verifiers / 2;
    });
    fails("work.price", [](Parameters& p, Costs&) { p.work_price /= 2; });
    fails("work.longest", [](Parameters& p, Costs&) { p.replay_blocks_max = 300; });
    fails("deadline.costs", [](Parameters& p, Costs&) { p.deadline_slash_bps = 10; });
    fails("draws.solver", [](Parameters& p, Costs&) { p.draws_max = 4; });
    fails("draws.verifiers", [](Parameters& p, Costs&) { p.redraws_max = 3; });
    fails("retention.pays", [](Parameters& p, Costs&) { p.retention_price = 41'000; });
    fails("room.pays", [](Parameters& p, Costs& c) { p.room_price = 1, c.validators = 10'000; });
    fails("committee.time", [](Parameters& p, Costs& c) { p.attest_blocks = 1, c.fetch_share = 0.7; });
    fails("work.blocks", [](Parameters&, Costs& c) { c.block_seconds = 0.5; });
    fails("slash.burns", [](Parameters& p, Costs&) { p.slash_to_winner_bps = 10'000; });
    fails("clock.last_second", [](Parameters& p, Costs&) { p.dispute_extension_blocks = 12; });
    fails("solver.participation", [](Parameters&, Costs& c) { c.false_rejection = 0.9; });
    fails("collusion.empty_task", [](Parameters& p, Costs& c) {
        p.tax_bps = 0;
        c.adversary.coalition_verifiers = c.adversary.verifiers;
        c.adversary.coalition_watchers = c.adversary.watchers;
        c.adversary.careless_verifiers = c.adversary.idle_watchers = 0;
    });
}

TEST_CASE("economics: a fee or reward below cost fails participation") {
    const Costs costs = default_costs();
    const Parameters p = chain_defaults();
    TaskCosts task = kTask;
    task.fee = task.reward = kGrainsPerAsy / 100;
    const auto found = check(p, costs, task);
    CHECK_FALSE(named(found, "solver.participation").holds());
    CHECK_FALSE(named(found, "verifier.participation").holds());
}

}  // namespace
}  // namespace assay::economics
