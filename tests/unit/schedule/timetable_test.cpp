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

double seconds_of(const char* name, const std::vector<Machine>& machines, const Link& link) {
    const program::Program program = small_mlp();
    const auto ranks = static_cast<std::uint32_t>(machines.size());
    const plan::Plan plan = plan::make_plan(program, *plan::decode_layout(name, ranks));
    return step_seconds(program, plan, machines, Network(ranks, link));
}
double seconds_of(const char* name, std::uint32_t ranks, double speed, const Link& link) {
    return seconds_of(name, alike(ranks, speed, 1e9), link);
}

std::vector<Machine> with_overhead(std::uint32_t ranks, double speed, const Overhead& overhead, double cores = 0.0) {
    std::vector<Machine> out = alike(ranks, speed, 1e9);
    for (Machine& machine : out) {
        machine.overhead = overhead;
        machine.host = cores > 0.0 ? "box" : "";
        machine.cores = cores;
    }
    return out;
}

// What the rank with most sends in a step by the plan.
double most_bytes(const char* name, std::uint32_t ranks) {
    const program::Program program = small_mlp();
    const plan::Plan plan = plan::make_plan(program, *plan::decode_layout(name, ranks));
    double out = 0.0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        out = std::max(out, static_cast<double>(plan::traffic_of(plan, program.step, rank).bytes()));
    }
    return out;
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
    for (const auto& [name, ranks] : {std::pair{"dp", 4U}, {"dp", 8U}, {"zero1", 2U}, {"zero1", 4U}, {"zero1", 8U}}) {
        const std::string layout = name + std::to_string(ranks);
        CAPTURE(layout);
        const double most = most_bytes(name, ranks);
        const double found = seconds_of(name, ranks, kFast, {0.0, 1e6});
        CHECK(found > most / 1e6);
        CHECK(found < 1.1 * most / 1e6);
    }
}

TEST_CASE("a processor passes bytes that are sent and received while others cross, and the slower of both counts") {
    for (const auto& [name, ranks] : {std::pair{"dp", 2U}, {"dp", 4U}, {"zero1", 4U}}) {
        const std::string layout = name + std::to_string(ranks);
        CAPTURE(layout);
        const double both = 2.0 * most_bytes(name, ranks);
        const double found = seconds_of(name, with_overhead(ranks, kFast, {.byte_s = 1e-6}), kAtOnce);
        CHECK(found > 0.95 * both * 1e-6);  // one rank sends most, another one receives most
        CHECK(found < 1.1 * both * 1e-6);
        // Beside links that take ten times as long it is hidden.
        const double hidden = seconds_of(name, with_overhead(ranks, kFast, {.byte_s = 1e-7}), {0.0, 5e5});
        CHECK(hidden == doctest::Approx(seconds_of(name, ranks, kFast, {0.0, 5e5})).epsilon(0.01));
    }
    // Stages send one after the other.
    const Overhead slow{.byte_s = 1e-6};
    CHECK(seconds_of("pp", with_overhead(2, kFast, slow), kAtOnce) > most_bytes("pp", 2) * 1e-6);
}

TEST_CASE("each message costs its ends, however few its bytes are") {
    const double found = seconds_of("dp", with_overhead(2, kFast, {.message_s = 1.0}), kAtOnce);
    CHECK(found == doctest::Approx(std::round(found)).epsilon(1e-6));
    CHECK(found >= 4.0);
    CHECK(seconds_of("pp+1f1b8", with_overhead(2, kFast, {.message_s = 1.0}), kAtOnce) > 2.0 * found);
}

TEST_CASE("a rank packs sums before they leave and adds up others' before it goes on") {
    const Overhead of_sums{.sum_byte_s = 1e-6};
    const double sums = seconds_of("dp", with_overhead(2, kFast, of_sums), kAtOnce);
    CHECK(sums > most_bytes("dp", 2) * 1e-6);  // most of what it sends is sums, and as much comes
    CHECK(sums < 2.0 * most_bytes("dp", 2) * 1e-6);
    // It takes its time beside that in which bytes cross.
    const Link link{0.0, 1e6};
    const double crossing = seconds_of("dp", 2, kFast, link);
    CHECK(seconds_of("dp", with_overhead(2, kFast, of_sums), link) == doctest::Approx(sums + crossing).epsilon(0.05));
    CHECK(seconds_of("pp", with_overhead(2, kFast, of_sums), kAtOnce) < 1e-6);  // stages add up nothing
}

TEST_CASE("ranks of one machine wait for its cores") {
    const Overhead overhead{.byte_s = 1e-6};
    const double apart = seconds_of("dp", with_overhead(4, kFast, overhead), kAtOnce);
    CHECK(seconds_of("dp", with_overhead(4, kFast, overhead, 8.0), kAtOnce) == doctest::Approx(apart).epsilon(0.01));
    CHECK(
        seconds_of("dp", with_overhead(4, kFast, overhead, 2.0), kAtOnce) == doctest::Approx(2.0 * apart).epsilon(0.1)
    );
    CHECK(
        seconds_of("dp", with_overhead(4, kFast, overhead, 1.0), kAtOnce) == doctest::Approx(4.0 * apart).epsilon(0.1)
    );
    const Overhead of_sums{.sum_byte_s = 1e-6};
    const double alone = seconds_of("dp", with_overhead(4, kFast, of_sums), kAtOnce);
    CHECK(
        seconds_of("dp", with_overhead(4, kFast, of_sums, 2.0), kAtOnce) == doctest::Approx(2.0 * alone).epsilon(0.1)
    );
    // Stages that take turns hardly do.
    const double stages = seconds_of("pp", with_overhead(4, kFast, overhead), kAtOnce);
    CHECK(seconds_of("pp", with_overhead(4, kFast, overhead, 2.0), kAtOnce) < 1.2 * stages);
}

TEST_CASE("what all links share carries the bytes of all ranks one after the other") {
    const program::Program program = small_mlp();
    const plan::Plan plan = plan::make_plan(program, *plan::decode_layout("zero1", 4));
    double all = 0.0;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        all += static_cast<double>(plan::traffic_of(plan, program.step, rank).bytes());
    }
    Network network(4, {0.0, 1e9});
    network.set_shared(1e6);
    const double found = step_seconds(program, plan, alike(4, kFast, 1e9), network);
    CHECK(found > all / 1e6);
    CHECK(found < 1.05 * all / 1e6);
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
