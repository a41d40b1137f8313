// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/attacks.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <stdexcept>

#include <tools/economics/model.hpp>

#include <tests/unit/economics/fixture.hpp>

namespace assay::economics {
namespace {

constexpr std::uint32_t kRuns = 3'000;
// Over 20 attacks in 5 settings: an honest mean is farther off once in ten thousand such tests.
constexpr double kErrors = 5.0;

const TaskCosts kTask{.name = "usual", .segments = 40, .segment_seconds = 360.0};

void check_agreement(const Parameters& parameters, const Costs& costs) {
    const Setting setting = make_setting(parameters, costs, kTask);
    for (const AttackResult& attack : run_attacks(setting, costs, {.runs = kRuns, .seed = 7, .progress = {}})) {
        CAPTURE(attack.name);
        CHECK(attack.runs == kRuns);
        // A rare event that no run met has no spread of its own: one in kRuns of the largest amount at stake is
        // allowed.
        const double rare = to_asy(setting.solver_bond + setting.reward) / kRuns;
        CHECK(std::abs(attack.gain - attack.model_gain) <= kErrors * attack.gain_error + rare);
        CHECK(attack.detection.has_value() == attack.model_detection.has_value());
        if (attack.detection) {
            CHECK(
                std::abs(*attack.detection - *attack.model_detection) <= kErrors * attack.detection_error + 5.0 / kRuns
            );
        }
    }
}

TEST_CASE("economics: simulated attacks agree with the formulas at the chain's defaults") {
    check_agreement(chain_defaults(), default_costs());
}

TEST_CASE("economics: simulated attacks agree with the formulas for more verifiers and watchers") {
    Parameters p = chain_defaults();
    p.verifiers_per_segment = 3;
    p.watchers_per_verdict = 3;
    p.segments_checked = 6;
    p.forced_error_bps = 3'000;
    check_agreement(p, default_costs());
}

TEST_CASE("economics: simulated attacks agree with the formulas for large coalitions and frequent outages") {
    Costs costs = default_costs();
    costs.adversary = {
        .verifiers = 12,
        .coalition_verifiers = 5,
        .careless_verifiers = 2,
        .watchers = 9,
        .coalition_watchers = 4,
        .idle_watchers = 2,
        .contributors = 3};
    costs.responder_failure = 0.3;
    Parameters p = chain_defaults();
    p.verifiers_per_segment = 2;
    p.watchers_per_verdict = 2;
    p.forced_error_bps = 2'000;
    check_agreement(p, costs);
}

TEST_CASE("economics: simulated attacks agree with the formulas when clocks are too short") {
    Costs costs = default_costs();
    costs.inclusion_failure = 0.6;
    Parameters p = chain_defaults();
    p.dispute_extension_blocks = costs.response_blocks + 5;
    check_agreement(p, costs);
    CHECK(missed_clock(costs, p.dispute_extension_blocks) > 0.1);
}

TEST_CASE("economics: simulated attacks agree with the formulas in tolerance mode") {
    Costs costs = default_costs();
    costs.mode = Mode::kTolerance;
    costs.false_rejection = 0.02;
    for (const std::string& attack : rated_attacks()) {
        costs.detection[attack] = 0.7;
    }
    check_agreement(chain_defaults(), costs);
}

TEST_CASE("economics: in tolerance mode an attack without a measured rate is refused") {
    Costs costs = default_costs();
    costs.mode = Mode::kTolerance;
    const Setting setting = make_setting(chain_defaults(), costs, kTask);
    CHECK_THROWS_AS(run_attacks(setting, costs, {.runs = 1, .progress = {}}), std::out_of_range);
}

TEST_CASE("economics: every attack of the list is simulated, and the same seed gives the same result") {
    const Costs costs = default_costs();
    const Setting setting = make_setting(chain_defaults(), costs, kTask);
    std::set<std::string> names;
    const auto first = run_attacks(setting, costs, {.runs = 50, .seed = 3, .progress = {}});
    const auto second = run_attacks(setting, costs, {.runs = 50, .seed = 3, .progress = {}});
    const auto other = run_attacks(setting, costs, {.runs = 50, .seed = 4, .progress = {}});
    bool differs = false;
    for (std::size_t i = 0; i < first.size(); ++i) {
        names.insert(first[i].name);
        CHECK(first[i].gain == second[i].gain);
        differs = differs || first[i].gain != other[i].gain;
    }
    CHECK(differs);
    for (const char* const name :
         {"infinitesimal_update", "blindfold_top_q", "synthetic_data", "seed_and_order_grinding",
          "drift_below_threshold", "skipped_segments", "stolen_checkpoints", "lazy_verifier", "copied_verdict",
          "false_rejection", "forced_error_free_riding", "jackpot_self_dealing", "submitter_solver_verifier_collusion",
          "withheld_artifacts", "last_second_moves", "dispute_flooding", "self_slashing"}) {
        CHECK_MESSAGE(names.contains(name), name);
    }
}

TEST_CASE("economics: at the chain's defaults and a high contributor bond nothing pays") {
    const Costs costs = modest_costs();
    for (const TaskCosts& task : costs.tasks) {
        const Setting setting = make_setting(for_dear_tasks(chain_defaults()), costs, task);
        for (const AttackResult& attack : run_attacks(setting, costs, {.runs = 1'000, .seed = 1, .progress = {}})) {
            CAPTURE(task.name);
            CAPTURE(attack.name);
            CHECK(attack.deterred());
        }
    }
}

}  // namespace
}  // namespace assay::economics
