// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <core/dispute/work.hpp>
#include <tests/unit/schedule/hand_made.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/schedule/timetable.hpp>

using namespace assay;
using namespace assay::schedule;

namespace {

program::Program small_mlp() {
    program::MlpConfig model;
    model.features = 16;
    model.hidden = {32, 32, 32};
    model.classes = 4;
    model.batch_size = 8;
    model.dataset_rows = 64;
    return program::build_mlp(model, {});
}

double seconds_of(const char* name, std::uint32_t ranks, double speed, const Link& link) {
    const program::Program program = small_mlp();
    const plan::Plan plan = plan::make_plan(program, *plan::decode_layout(name, ranks));
    return step_seconds(program, plan, alike(ranks, speed, 1e9), Network(ranks, link));
}

constexpr Link kAtOnce{0.0, 1e30};
constexpr double kFast = 1e30;

}  // namespace

TEST_CASE("a connection sends ten packets at first, and twice as much after each round trip") {
    const Link link{0.1, 12.5e6};
    CHECK(Connection().send(10'000.0, link, 0.0) == doctest::Approx(10'000.0 / 12.5e6));
    // What Linux 6.18 was seen to do: 30,000 bytes after a pause took one round trip more than a delay, and so on.
    for (const auto& [bytes, round_trips] : {std::pair{30e3, 1}, {65'536.0, 2}, {130e3, 3}, {460e3, 5}}) {
        const double sent = bytes;
        CAPTURE(sent);
        const double found = Connection().send(sent, link, 0.0);
        CHECK(found > 0.2 * round_trips);
        CHECK(found < 0.2 * round_trips + 0.01);
    }
    Connection near;  // the link is full before the window is
    CHECK(near.send(1e6, {0.0001, 1e8}, 0.0) == doctest::Approx(0.01).epsilon(0.02));
}

TEST_CASE("messages of a connection wait for those before them, and a pause makes it slow again") {
    const Link link{0.1, 12.5e6};
    Connection connection;
    // One message in a quarter of a second. Seen: 0.505, 0.458, 0.208, 0.156 and 0.106 s until it was there.
    const std::vector<double> seen{0.505, 0.458, 0.208, 0.156, 0.106};
    for (std::size_t i = 0; i < seen.size(); ++i) {
        CAPTURE(i);
        const double found = connection.send(65'536.0, link, 0.25 * static_cast<double>(i)) + link.delay_s;
        CHECK(found == doctest::Approx(seen[i]).epsilon(0.03));
    }
    for (int i = 0; i < 20; ++i) {
        connection.send(20.0, link, 1.2 + 0.2 * i);  // little use is no pause
    }
    CHECK(connection.send(65'536.0, link, 5.25) + link.delay_s == doctest::Approx(0.106).epsilon(0.03));
    CHECK(connection.send(65'536.0, link, 60.0) > 0.4);
}

TEST_CASE("one rank takes its work, ranks with links that cost nothing take as much as the one with most") {
    const program::Program program = small_mlp();
    // The last node commits to the next state, which no rank computes.
    const auto work = static_cast<double>(dispute::work_of(program.step) - dispute::work_of(program.step.back()));
    CHECK(seconds_of("dp", 1, 1e6, kAtOnce) == doctest::Approx(work / 1e6).epsilon(0.001));
    const double halves = seconds_of("dp", 2, 1e6, kAtOnce);
    CHECK(halves > 0.5 * work / 1e6);
    CHECK(halves < work / 1e6);
    const double stages = seconds_of("pp", 2, 1e6, kAtOnce);
    CHECK(stages > 0.5 * work / 1e6);
    CHECK(stages < 1.001 * work / 1e6);
    CHECK(seconds_of("pp+1f1b8", 2, 1e6, kAtOnce) < stages);
}

TEST_CASE("where only delays cost anything, a step takes whole rounds") {
    const double one = seconds_of("dp", 4, kFast, {1.0, 1e30});
    CHECK(one == doctest::Approx(std::round(one)).epsilon(1e-6));
    const double half = seconds_of("dp", 4, kFast, {0.5, 1e30});
    CHECK(half == doctest::Approx(one / 2));
    // An order, a round for what four stages hand on and back, the loss, and whether all is finite.
    const double stages = seconds_of("pp", 4, kFast, {1.0, 1e30});
    CHECK(stages >= 8.0);
    // Ranks that divide the batch put gradients off, and exchange all of them at once.
    CHECK(one < stages);
    // Stages wait for each other's messages once more for each micro-batch, unless all go forward first.
    CHECK(seconds_of("pp+1f1b8", 4, kFast, {1.0, 1e30}) > seconds_of("pp+gpipe8", 4, kFast, {1.0, 1e30}));
}

TEST_CASE("where only bytes cost anything, a step takes those of the machine with most") {
    const program::Program program = small_mlp();
    for (const auto& [name, ranks] : {std::pair{"dp", 4U}, {"dp", 8U}, {"zero1", 2U}, {"zero1", 4U}, {"zero1", 8U}}) {
        const std::string layout = name + std::to_string(ranks);
        CAPTURE(layout);
        const plan::Plan plan = plan::make_plan(program, *plan::decode_layout(name, ranks));
        double most = 0.0;
        for (std::uint32_t rank = 0; rank < plan.layout.ranks(); ++rank) {
            most = std::max(most, static_cast<double>(plan::traffic_of(plan, program.step, rank).bytes()));
        }
        const double found = seconds_of(name, ranks, kFast, {0.0, 1e6});
        CHECK(found > most / 1e6);
        CHECK(found < 1.1 * most / 1e6);
    }
}

TEST_CASE("plans of a choice are timed, local replicas are not") {
    const program::Program program = small_mlp();
    const Network network(4, {0.001, 1e9});
    const auto machines = alike(4, 1e6, 1e9);
    const StepProfile profile = profile_of(program);
    Choice choice = choose(profile, machines, network, {});
    time_plans(choice, program, profile, machines, network, {});
    REQUIRE(choice.fastest);
    for (const Prediction& each : choice.best) {
        CHECK(each.timed_s.has_value() == (each.kind != Kind::kTurns && each.kind != Kind::kOne));
        CHECK((!each.can_start() || each.total_s() >= choice.best[*choice.fastest].total_s()));
    }
}

TEST_CASE("stages by speed are timed beside alike ones, and the faster stays") {
    program::GptConfig model;
    model.vocabulary = 64;
    model.context = 32;
    model.layers = 4;
    model.batch_size = 8;
    model.dataset_rows = 64;
    const program::Program deep = program::build_gpt(model, {});
    auto machines = alike(2, 1e8, 1e9);
    machines[0].multiply_adds_per_s = 3e8;
    const Network network(2, kAtOnce);
    const auto timed = [&](const program::Program& program, const char* name) {
        const StepProfile profile = profile_of(program);
        Choice choice;
        choice.best.push_back(predict_given(profile, machines, network, {}, *plan::decode_layout(name, 2)));
        time_plans(choice, program, profile, machines, network, {});
        return choice.best.front();
    };
    const Prediction unequal = timed(deep, "pp+1f1b8");
    CHECK(plan::to_string(unequal.layout) == "pp:3,1+1f1b8");
    CHECK(unequal.layout == timed(deep, "pp:3,1+1f1b8").layout);
    const Prediction even = timed(deep, "pp:1,1+1f1b8");
    CHECK(plan::to_string(even.layout) == "pp2+1f1b8");
    CHECK(unequal.total_s() < 0.8 * even.total_s());
    CHECK(unequal.machines == std::vector<std::uint32_t>{0, 1});
    // A product that has nearly all of the work is whole in one stage, whatever the speeds.
    program::MlpConfig wide;
    wide.features = 32;
    wide.hidden = {32, 4'096};
    wide.classes = 32;
    wide.batch_size = 16;
    wide.dataset_rows = 64;
    const program::Program one = program::build_mlp(wide, {});
    std::swap(machines[0], machines[1]);
    const Prediction best = timed(one, "pp");
    CHECK(best.total_s() <= timed(one, "pp:1,1").total_s());
    CHECK(best.total_s() <= timed(one, "pp:1,3").total_s());
}
