// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstdint>
#include <map>
#include <vector>

#include <doctest/doctest.h>
#include <contracts/state/params.hpp>
#include <tools/bench/drift_judged.hpp>

// What the drift study makes of runs, against what is plain from their drifts.

namespace assay::bench {
namespace {

using dispute::Measurement;
using nlohmann::json;

/// Of a segment whose parameters and other tensors have drifted by so many updates.
Measurement drifted(float parameters, float other) {
    const auto row = [](float drift) {
        dispute::GroupMeasurement group;
        group.drift2 = std::bit_cast<std::uint32_t>(drift * drift);
        group.update2 = group.claimed2 = std::bit_cast<std::uint32_t>(1.0F);
        return group;
    };
    return {row(parameters), row(other)};
}

std::vector<Measurement> run(const std::vector<float>& parameters, float other = 0x1p-21F) {
    std::vector<Measurement> out;
    for (const float drift : parameters) {
        out.push_back(drifted(drift, other));
    }
    return out;
}

json profile(float largest) {
    return {{"honest", to_json(run({0x1p-20F, largest, 0x1p-20F}))}, {"reference", to_json({drifted(0.5F, 0.5F)})}};
}

json solver(const std::vector<Measurement>& honest) {
    json out = {{"source", "as it comes"}, {"honest", to_json(honest)}, {"origins", json::array()}};
    for (std::size_t i = 0; i < honest.size(); ++i) {
        out["origins"].push_back({{"tensor", "weight"}, {"share", 1.0}});
    }
    return out;
}

/// Profiles with a largest drift of 2^-18, but for one that is left out; so the threshold is 3 * 2^-18.
TaskRuns task(const std::vector<Measurement>& honest) {
    return {{profile(0x1p-18F), profile(0x1p-4F), profile(0x1p-18F), profile(0x1p-19F)}, solver(honest), {}};
}

json judge(const TaskRuns& runs) { return judge_tasks({{1, runs}}, 100); }

}  // namespace

TEST_CASE("PRF-6: the drift study takes a task's threshold from the chain's own rule") {
    const json out = judge(task(run({0x1p-20F, 0x1p-20F})));
    CHECK(out["tasks"][0]["threshold_ppb"][0] == 50'000'000);  // a tenth of d_ref
    CHECK(out["honest"]["segments_beyond"] == 0);
    CHECK(out["other_rules"][0]["sample"] == "largest");
    CHECK(out["other_rules"][0]["factor"] == 3);
    CHECK(
        out["other_rules"][0]["threshold"]["max"] == doctest::Approx(3 * 3814e-9)
    );  // 2^-18 in billionths, rounded down
}

TEST_CASE("VER-18: the drift study counts honest segments beyond the threshold, in either row") {
    const json parameters = judge(task(run({0x1p-20F, 0x1p-4F, 0x1p-5F})))["honest"];
    CHECK(parameters["segments"] == 3);
    CHECK(parameters["segments_beyond"] == 1);
    CHECK(parameters["segments_beyond_by_other"] == 0);
    const json other = judge(task(run({0x1p-20F, 0x1p-20F}, 0x1p-4F)))["honest"];
    CHECK(other["segments_beyond"] == 2);
    CHECK(other["segments_beyond_by_other"] == 2);
    CHECK(other["runs_beyond"] == 1);
}

TEST_CASE("VER-18: the drift study counts cheats that are seen, and draws what is missed over thresholds") {
    TaskRuns runs = task(run({0x1p-20F, 0x1p-20F}));
    runs.solver["cheats"] = {{"one step fewer", to_json(run({0.125F, 0x1p-20F}))}};
    const json out = judge(runs);
    CHECK(out["cheats"]["one step fewer"]["segments_beyond"] == 1);
    CHECK(out["other_rules"][0]["replaced_segments_missed"] == 1);
    const json& missed = out["absolute_curve"]["missed"]["one step fewer"];
    CHECK(missed.front() == 0.0);  // beyond a threshold of 10^-8 are both
    CHECK(missed.back() == 1.0);   // beyond one of 100 is none
}

TEST_CASE("PRF-7: the drift study counts a task that the rule refuses, and does not judge its solver") {
    TaskRuns refused = task(run({0x1p-20F}));
    refused.profiles[2] = profile(0x1p-5F);  // two such reports: one is kept
    const json out = judge_tasks({{1, refused}, {2, task(run({0x1p-20F}))}}, 100);
    CHECK(out["refused_tasks"] == 1);
    CHECK(out["honest"]["runs"] == 1);
    CHECK(out["tasks"].size() == 2);
}

}  // namespace assay::bench
