// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/populations.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include <tools/economics/model.hpp>
#include <tools/economics/svg.hpp>

namespace assay::economics {
namespace {

const TaskCosts kTask{.name = "usual", .segments = 100, .segment_seconds = 360.0};

const Wealth& of(const PopulationResult& population, Role role, Strategy strategy) {
    for (const Wealth& wealth : population.wealth) {
        if (wealth.role == role && wealth.strategy == strategy) {
            return wealth;
        }
    }
    FAIL("no such strategy");
    return population.wealth.front();
}

struct Played {
    Costs costs = default_costs();
    Setting setting = make_setting(chain_defaults(), costs, kTask);
    std::vector<PopulationResult> results =
        run_populations(setting, costs, {.tasks = 4'000, .seed = 2, .progress = {}});
};
const Played& played() {
    static const Played kPlayed;
    return kPlayed;
}

TEST_CASE("economics: among the honest nobody is convicted or slashed, and every role earns") {
    const PopulationResult& honest = played().results[0];
    CHECK(honest.wrong == 0);
    CHECK(honest.convicted == 0);
    CHECK(honest.burned == 0.0);
    CHECK(of(honest, Role::kSolver, Strategy::kHonest).change.back() > 0.0);
    CHECK(of(honest, Role::kVerifier, Strategy::kHonest).change.back() > 0.0);
    CHECK(of(honest, Role::kWatcher, Strategy::kHonest).change.back() > 0.0);
}

TEST_CASE("economics: with every strategy at once honesty earns most in each role") {
    const PopulationResult& mixed = played().results[1];
    for (const Role role : {Role::kSolver, Role::kVerifier, Role::kWatcher}) {
        const double honest = of(mixed, role, Strategy::kHonest).change.back();
        CHECK(honest > 0.0);
        for (const Wealth& wealth : mixed.wealth) {
            if (wealth.role == role && wealth.strategy != Strategy::kHonest &&
                wealth.strategy != Strategy::kCoalition) {
                CAPTURE(to_string(wealth.strategy));
                CHECK(wealth.change.back() < honest);
            }
        }
    }
}

TEST_CASE("economics: without watchers lazy verifiers earn more than honest ones") {
    const PopulationResult& unwatched = played().results[2];
    CHECK(
        of(unwatched, Role::kVerifier, Strategy::kLazy).change.back() >
        of(unwatched, Role::kVerifier, Strategy::kHonest).change.back()
    );
}

TEST_CASE("economics: when nearly all verifiers are lazy, solvers that train nothing earn more than honest ones") {
    const PopulationResult& careless = played().results[3];
    CHECK(
        of(careless, Role::kSolver, Strategy::kFaking).change.back() >
        of(careless, Role::kSolver, Strategy::kHonest).change.back()
    );
}

TEST_CASE("economics: among the honest, income and treasury are those of the formulas") {
    const Played& p = played();
    const PopulationResult& honest = p.results[0];
    Costs all_honest = p.costs;
    all_honest.adversary.coalition_watchers = all_honest.adversary.idle_watchers = 0;
    const Model model(p.setting, all_honest);
    const double tasks = honest.tasks;
    CHECK(
        of(honest, Role::kSolver, Strategy::kHonest).change.back() ==
        doctest::Approx(model.honest_solver() * tasks / 20.0).epsilon(1e-6)
    );
    // The initialisation costs a verifier nothing but earns the same.
    const double per_task =
        p.setting.assignments * (to_asy(p.setting.fee_share) - 3.0 * to_asy(p.setting.transaction_fee)) -
        model.probed_assignments() * to_asy(p.setting.verify_cost);
    CHECK(
        of(honest, Role::kVerifier, Strategy::kHonest).change.back() ==
        doctest::Approx(per_task * tasks / 50.0).epsilon(0.01)
    );
    // Jackpots over the treasury's income: full ones once the treasury has filled, to within five standard errors.
    const double expected = model.probed_assignments() * p.setting.forced_rate * tasks;
    CHECK(std::abs(honest.forced - expected) < 5.0 * std::sqrt(expected));
}

TEST_CASE("economics: populations are those of their seed") {
    const Played& p = played();
    const auto once = run_populations(p.setting, p.costs, {.tasks = 200, .seed = 9, .progress = {}});
    const auto again = run_populations(p.setting, p.costs, {.tasks = 200, .seed = 9, .progress = {}});
    const auto other = run_populations(p.setting, p.costs, {.tasks = 200, .seed = 10, .progress = {}});
    CHECK(once[1].wealth[0].change == again[1].wealth[0].change);
    CHECK(once[1].treasury != other[1].treasury);
}

TEST_CASE("economics: the drawing has a line for every strategy of every chart, and nothing that is not a number") {
    const std::string svg = to_svg(played().results);
    std::size_t lines = 0;
    for (std::size_t at = svg.find("<polyline"); at != std::string::npos; at = svg.find("<polyline", at + 1)) {
        ++lines;
    }
    std::size_t expected = 0;
    for (const PopulationResult& population : played().results) {
        expected += static_cast<std::size_t>(std::count_if(
            population.wealth.begin(), population.wealth.end(), [](const Wealth& w) { return w.role != Role::kSybil; }
        ));
    }
    CHECK(lines == expected);
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.find("inf") == std::string::npos);
    CHECK(svg.starts_with("<svg"));
    CHECK(svg.ends_with("</svg>\n"));
}

}  // namespace
}  // namespace assay::economics
