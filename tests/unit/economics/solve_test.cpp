// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/solve.hpp>

#include <doctest/doctest.h>

#include <algorithm>

#include <tools/economics/report.hpp>

#include <tests/unit/economics/fixture.hpp>

namespace assay::economics {
namespace {

bool all_hold(const std::vector<Constraint>& constraints) {
    return std::all_of(constraints.begin(), constraints.end(), [](const Constraint& c) { return c.holds(); });
}

TEST_CASE("economics: the solver's parameters satisfy every constraint, and cost no more than the chain's") {
    const Costs costs = modest_costs();
    const Solution solution = solve(chain_defaults(), costs, {});
    REQUIRE(solution.found);
    CHECK(all_hold(check(solution.parameters, costs)));
    CHECK(solution.feasible > 0);
    CHECK(solution.feasible < solution.candidates);
    REQUIRE(all_hold(check(for_dear_tasks(chain_defaults()), costs)));
    CHECK(solution.overhead <= overhead(chain_defaults(), costs));
}

TEST_CASE("economics: there are parameters that do for dear tasks too") {
    const Costs costs = default_costs();
    const Solution solution = solve(chain_defaults(), costs, {});
    REQUIRE(solution.found);
    CHECK(all_hold(check(solution.parameters, costs)));
    CHECK(refusals(solution.parameters, costs).empty());
    CHECK(costs.tasks.back().segment_seconds * costs.tasks.back().segments > 1e8);
}

TEST_CASE(
    "economics: the recommended parameters do at every value, for a larger coalition, more outages and slow replays"
) {
    Parameters p = for_dear_tasks(chain_defaults());
    p.solver_bond_bps = 10'000;
    p.verifier_bond_bps = p.challenger_bond_bps = 1'000;
    p.segments_checked_max = 5;
    p.verifiers_per_segment_max = 1;
    p.forced_error_bps = 1'000;
    p.tax_bps = 400;
    Costs costs = default_costs();
    CHECK(all_hold(check(p, costs)));
    costs.adversary.coalition_verifiers = costs.adversary.coalition_watchers = 10;
    CHECK(all_hold(check(p, costs)));
    costs = default_costs();
    costs.responder_failure = 0.1;
    CHECK(all_hold(check(p, costs)));
    costs = default_costs();
    costs.replay_ratio = 1.15;
    CHECK(all_hold(check(p, costs)));
    costs = default_costs();
    for (const double seconds : {1.0, 1e2, 1e4, 1e6, 1e8}) {
        costs.tasks = {{.name = "one", .segments = 100, .segment_seconds = seconds}};
        CAPTURE(seconds);
        CHECK(all_hold(check(p, costs)));
    }
}

TEST_CASE("economics: the chain's defaults hold for all that they admit, and refuse what is dearer") {
    const Costs costs = default_costs();
    CHECK(all_hold(check(chain_defaults(), costs)));
    std::vector<std::string> refused;
    for (const Refusal& refusal : refusals(chain_defaults(), costs)) {
        CAPTURE(refusal.task);
        refused.push_back(refusal.task);
        CHECK(refusal.value > chain_defaults().task_value_max);
        CHECK(refusal.admitting.task_value_max >= refusal.value);
        CHECK(all_hold(check(refusal.admitting, costs)));
    }
    CHECK(refused == std::vector<std::string>{"long segments", "large", "dear"});
}

TEST_CASE("economics: the default contributor bond protects a task worth the default limit with a quarter to spare") {
    const Parameters p = chain_defaults();
    Costs costs = default_costs();
    for (const std::uint32_t segments : {54U, 100U, 300U, 1'000U}) {
        CAPTURE(segments);
        costs.tasks = {{.name = "one", .segments = segments, .segment_seconds = 36'000.0 / segments}};
        REQUIRE(is_admitted(p, costs, costs.tasks[0]));
        const double needed = contributor_bond_needed(p, costs);
        CHECK(needed < 0.75 * to_asy(p.contributor_bond));
        CHECK(needed > 0.5 * to_asy(p.contributor_bond));
    }
}

TEST_CASE("economics: the contributors' bond has to do for the dearest task admitted, not for those asked about") {
    Costs costs = default_costs();
    costs.tasks.resize(2);
    Parameters p = chain_defaults();
    CHECK(all_hold(check(p, costs)));
    p.task_value_max = 2 * p.task_value_max;
    CHECK_FALSE(all_hold(check(p, costs)));
    p.task_value_max = p.task_value_max / 4;
    CHECK(refusals(p, costs).empty());
    const double half = contributor_bond_needed(p, costs);
    p.task_value_max = chain_defaults().task_value_max;
    CHECK(contributor_bond_needed(p, costs) == doctest::Approx(2.0 * half).epsilon(0.001));
}

TEST_CASE("economics: a task just below a step of what is checked may need the highest bond of those admitted") {
    Costs costs = default_costs();
    costs.tasks = {{.name = "one", .segments = 100, .segment_seconds = 360.0}};
    Parameters p = chain_defaults();
    const auto needed = [&](Grains limit) {
        p.task_value_max = limit * kGrainsPerAsy;
        return contributor_bond_needed(p, costs);
    };
    const double before = needed(999);  // three segments are checked
    CHECK(needed(1'100) == doctest::Approx(before).epsilon(0.001));
    CHECK(needed(1'900) > 1.2 * before);
    double last = 0.0;
    for (const Grains limit : {10, 500, 999, 1'500, 1'999, 2'500, 5'000, 100'000}) {
        CHECK(needed(limit) >= last);
        last = needed(limit);
    }
}

TEST_CASE("economics: what binds is tight: a tenth less of a bond or of the tax breaks a constraint") {
    const Costs costs = default_costs();
    const Parameters found = solve(chain_defaults(), costs, {}).parameters;
    const auto breaks = [&](const auto& change) {
        Parameters p = found;
        change(p);
        return !all_hold(check(p, costs));
    };
    const auto less = [](std::uint32_t bps) { return bps * 9 / 10; };
    CHECK(breaks([&](Parameters& p) { p.solver_bond_bps = less(p.solver_bond_bps); }));
    CHECK(breaks([&](Parameters& p) { p.verifier_bond_bps = less(p.verifier_bond_bps); }));
    CHECK(breaks([&](Parameters& p) { p.contributor_bond = p.contributor_bond / 10 * 9; }));
    CHECK(breaks([&](Parameters& p) { p.tax_bps -= 25; }));
    CHECK(breaks([&](Parameters& p) { p.segments_checked -= 1; }));
}

TEST_CASE("economics: each parameter's binding constraint is the one with the least slack") {
    const Costs costs = default_costs();
    const std::vector<Constraint> constraints = check(chain_defaults(), costs);
    for (const Binding& bound : binding_of(constraints)) {
        for (const Constraint& constraint : constraints) {
            if (constraint.parameter == bound.parameter) {
                CHECK(bound.constraint.slack() <= constraint.slack());
            }
        }
    }
}

TEST_CASE("economics: with a coalition of all verifiers no parameters do, and the failing constraint is the solver's") {
    Costs costs = default_costs();
    costs.adversary.careless_verifiers = 0;
    costs.adversary.coalition_verifiers = costs.adversary.verifiers;
    const Solution solution = solve(chain_defaults(), costs, {});
    CHECK_FALSE(solution.found);
    CHECK(solution.feasible == 0);
    const auto failed = std::find_if(solution.constraints.begin(), solution.constraints.end(), [](const Constraint& c) {
        return !c.holds() && c.role == "solver";
    });
    REQUIRE(failed != solution.constraints.end());
    CHECK(failed->help.find("coalition") != std::string::npos);
}

TEST_CASE("economics: more safety costs no less") {
    Costs costs = default_costs();
    costs.safety = 1.2;
    const Solution low = solve(chain_defaults(), costs, {});
    costs.safety = 2.5;
    const Solution high = solve(chain_defaults(), costs, {});
    REQUIRE(low.found);
    REQUIRE(high.found);
    CHECK(low.overhead <= high.overhead);
}

TEST_CASE("economics: at the chain's defaults a verifier's work for 100 checkpoints is below 1.1 percent of training") {
    bool seen = false;
    for (const Work& work : work_of(chain_defaults(), default_costs())) {
        if (work.segments == 100) {
            seen = true;
            CHECK(work.verifier < kMostVerifierWork);
            CHECK(work.verifier > 0.01);  // it replays a hundredth
        }
    }
    CHECK(seen);
}

TEST_CASE("economics: skipping never pays at the chain's defaults, and more of it is found out more often") {
    const Costs costs = modest_costs();
    for (const TaskCosts& task : costs.tasks) {
        const std::vector<Skipping> skipping = skipping_of(make_setting(chain_defaults(), costs, task), costs);
        REQUIRE(skipping.size() == 6);
        CHECK(skipping.front().skipped == 1);
        CHECK(skipping[1].skipped == (task.segments + 19) / 20);  // five per cent, rounded up
        CHECK(skipping[1].detection >= costs.least_detection);
        CHECK(skipping.back().skipped == task.segments);
        for (std::size_t i = 0; i < skipping.size(); ++i) {
            CHECK(skipping[i].gain < 0.0);
            CHECK((i == 0 || skipping[i].detection > skipping[i - 1].detection));
        }
    }
}

TEST_CASE("economics: a needless dispute costs its challenger more than the solver, who gains by it") {
    const Costs costs = modest_costs();
    for (const TaskCosts& task : costs.tasks) {
        const Griefing griefing = griefing_of(make_setting(chain_defaults(), costs, task));
        CHECK(griefing.attacker_loss > griefing.defender_cost);
        CHECK(griefing.defender_gain > 0.0);
    }
}

TEST_CASE("economics: tasks of fewer segments than the least one fail") {
    const Costs costs = modest_costs();
    const Parameters p = chain_defaults();
    TaskCosts task{.name = "usual", .segments = 100, .segment_seconds = 360.0};
    const std::uint32_t least = least_segments(p, costs, task);
    REQUIRE(least > 1);
    REQUIRE(least <= 100);
    const double seconds = task.segment_seconds * task.segments;
    task.segments = least;
    task.segment_seconds = seconds / least;
    CHECK(all_hold(check(p, costs, task)));
    task.segments = least - 1;
    task.segment_seconds = seconds / (least - 1);
    CHECK_FALSE(all_hold(check(p, costs, task)));
}

}  // namespace
}  // namespace assay::economics
