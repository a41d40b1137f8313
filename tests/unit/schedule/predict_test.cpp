// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <doctest/doctest.h>

#include <tests/unit/schedule/hand_made.hpp>

using namespace assay::schedule;
using assay::plan::Layout;
using assay::plan::Zero;

TEST_CASE("a bubble is (p - 1) / (m + p - 1) of a pipeline's time") {
    CHECK(bubble(1, 1) == 0.0);
    CHECK(bubble(4, 1) == doctest::Approx(0.75));
    CHECK(bubble(4, 8) == doctest::Approx(3.0 / 11.0));
}

TEST_CASE("a batch is divided by speed, and no row is lost") {
    CHECK(divide_rows(8, {5.0, 3.0}) == std::vector<std::uint32_t>{5, 3});
    CHECK(divide_rows(8, {1.0, 1.0, 1.0}) == std::vector<std::uint32_t>{3, 3, 2});
    CHECK(divide_rows(7, {100.0, 1.0}) == std::vector<std::uint32_t>{7, 0});
}

TEST_CASE("memory follows the formulas of ZeRO, divided by stages and tensor parallelism") {
    const StepProfile profile = hand_made();
    CHECK(memory_of(profile, {.data = 4}, 0.0) == 400.0);
    CHECK(memory_of(profile, {.data = 4, .zero = Zero::kOptimizer}, 0.0) == 100.0 + 50.0 + 100.0);
    CHECK(memory_of(profile, {.data = 4, .zero = Zero::kGradients}, 0.0) == 100.0 + 50.0 + 25.0);
    CHECK(memory_of(profile, {.data = 4, .zero = Zero::kParameters}, 0.0) == 100.0);
    CHECK(memory_of(profile, {.data = 4}, 2.0) == 420.0);
    CHECK(memory_of(profile, {.data = 1, .tensor = 2, .stages = 2}, 8.0) == 120.0);
}

TEST_CASE("data parallelism takes its work, its bytes and its rounds") {
    const Network network(4, {0.5, 10.0});
    const Prediction found =
        predict(hand_made(), alike(4, 100.0, 1e3), network, {}, {.data = 4}, single_groups(4), {{1, 4}, {0, 1, 2, 3}});
    CHECK(found.kind == Kind::kData);
    CHECK(found.compute_s == doctest::Approx(10.0 * (0.1 + 0.9 / 4)));
    CHECK(found.exchange_s == doctest::Approx(10 * 0.5 + 3 * 25.0 / 10.0));
    CHECK(found.total_s() == doctest::Approx(found.compute_s + found.exchange_s));
    CHECK(found.memory_bytes == doctest::Approx(420.0));
    CHECK(found.wait == Wait::kExchange);
    CHECK(found.bottleneck.size() == 2);
    CHECK(found.layout.shares.empty());
}

TEST_CASE("a faster machine gets more rows, unless it lacks the memory for them") {
    std::vector<Machine> machines = alike(2, 100.0, 1e3);
    machines[1].multiply_adds_per_s = 300.0;
    const Network network(2, {0.0, 1e9});
    const Layout layout{.data = 2, .zero = Zero::kGradients};
    const Arrangement both{{1, 2}, {0, 1}};
    const Prediction found = predict(hand_made(), machines, network, {}, layout, single_groups(2), both);
    CHECK(found.layout.shares == std::vector<std::uint32_t>{2, 6});
    CHECK(found.compute_s == doctest::Approx(2.5));
    CHECK(found.wait == Wait::kCompute);
    machines[1].memory_bytes = memory_of(hand_made(), layout, 5.0);
    const Prediction even = predict(hand_made(), machines, network, {}, layout, single_groups(2), both);
    CHECK(even.layout.shares.empty());
    CHECK(even.compute_s == doctest::Approx(5.0));
    CHECK(even.bottleneck == std::vector<std::uint32_t>{0});
}

TEST_CASE("a faster machine gets more of the work as a stage, unless it lacks the memory for that") {
    std::vector<Machine> machines = alike(2, 100.0, 1e3);
    machines[1].multiply_adds_per_s = 300.0;
    const Network network(2, {0.0, 1e9});
    const Arrangement both{{2, 1}, {0, 1}};
    const ChoiceOptions options{.micro_batches = 1};
    const auto of = [&](const Layout& layout) {
        return predict(hand_made(), machines, network, options, layout, single_groups(2), both);
    };
    const Prediction found = of({.stages = 2});
    CHECK(found.layout.stage_shares == std::vector<std::uint32_t>{1, 3});
    CHECK(found.compute_s == doctest::Approx(2 * 2.5));  // two stages, one after the other
    CHECK(found.memory_bytes == doctest::Approx(0.75 * 480.0));
    const Prediction given = of({.stages = 2, .stage_shares = {3, 1}});
    CHECK(given.layout.stage_shares == std::vector<std::uint32_t>{3, 1});
    CHECK(given.compute_s == doctest::Approx(2 * 7.5));
    const Prediction even = of({.stages = 2, .stage_shares = {1, 1}});
    CHECK(even.layout.stage_shares.empty());
    CHECK(even.compute_s == doctest::Approx(2 * 5.0));
    machines[1].memory_bytes = 0.7 * 480.0;
    CHECK(of({.stages = 2}).layout.stage_shares.empty());
    machines[1] = {"m1", 105.0, 1e3};  // not worth its name
    CHECK(of({.stages = 2}).layout.stage_shares.empty());
}

TEST_CASE("a faster machine of a site gets more columns of each layer") {
    std::vector<Machine> machines = alike(2, 300.0, 1e3);
    machines[1].multiply_adds_per_s = 100.0;
    const Network network(2, {0.0, 1e9});
    const Prediction found = predict(hand_made(), machines, network, {}, {.tensor = 2}, {{0, 1}}, {{1, 1}, {0}});
    CHECK(found.layout.tensor_shares == std::vector<std::uint32_t>{3, 1});
    // Each does a fifth of the work itself, and its share of the rest.
    CHECK(found.compute_s == doctest::Approx(10.0 * (0.2 + 0.8 * 0.25)));
}

TEST_CASE("stages wait for each other, and their bubble shrinks with micro-batches") {
    Network network(4, {0.5, 10.0});
    network.set(2, 3, {1.0, 5.0});
    const Arrangement line{{4, 1}, {0, 1, 2, 3}};
    const Layout layout{.stages = 4};
    const auto machines = alike(4, 100.0, 1e3);
    const ChoiceOptions whole{.micro_batches = 1};
    const Prediction found = predict(hand_made(), machines, network, whole, layout, single_groups(4), line);
    CHECK(found.kind == Kind::kPipeline);
    CHECK(found.compute_s == doctest::Approx(10.0));
    CHECK(found.exchange_s == 0.0);
    CHECK(found.handover_s == doctest::Approx(2 * (2 * 0.5 + 6.0) + 2 * 1.0 + 12.0));
    CHECK(found.wait == Wait::kHandover);
    CHECK(found.bottleneck == std::vector<std::uint32_t>{2, 3});
    const ChoiceOptions cut{.micro_batches = 8};
    const Prediction less = predict(hand_made(), machines, network, cut, layout, single_groups(4), line);
    CHECK(less.compute_s == doctest::Approx(2.5 * 11.0 / 8.0));
    CHECK(less.layout.micro_batches == 8);
    CHECK(less.layout.is_valid());
}

TEST_CASE("data x pipeline exchanges a stage's part of the gradients and hands over a replica's activations") {
    const Network network(4, {0.5, 10.0});
    const Prediction found = predict(
        hand_made(), alike(4, 100.0, 1e3), network, {.micro_batches = 1}, {.data = 2, .stages = 2}, single_groups(4),
        {{2, 2}, {0, 1, 2, 3}}
    );
    CHECK(found.kind == Kind::kDataPipeline);
    CHECK(found.compute_s == doctest::Approx(10.0 * (0.1 + 0.9 / 2)));  // half the work, twice the time
    CHECK(found.exchange_s == doctest::Approx(5 * 0.5 + 25.0 / 10.0));
    CHECK(found.handover_s == doctest::Approx(2 * 0.5 + 30.0 / 10.0));
}

TEST_CASE("tensor parallelism adds inside its groups") {
    Network network(4, {0.5, 10.0});
    network.set(0, 1, {0.0, 1000.0});
    network.set(2, 3, {0.0, 1000.0});
    const Prediction found = predict(
        hand_made(), alike(4, 100.0, 1e3), network, {}, {.data = 2, .tensor = 2}, {{0, 1}, {2, 3}}, {{1, 2}, {0, 1}}
    );
    CHECK(found.kind == Kind::kTensor);
    CHECK(found.machines == std::vector<std::uint32_t>{0, 1, 2, 3});
    CHECK(found.compute_s == doctest::Approx(10.0 * (0.1 + 0.9 / 2) * (0.2 + 0.8 / 2)));
    CHECK(found.tensor_s == doctest::Approx(100.0 / 1000.0));  // half of the batch's 400 bytes, half of them each
    CHECK(found.exchange_s == doctest::Approx(10 * 0.5 + 25.0 / 10.0));  // each of the group half of the gradients
}

TEST_CASE("local replicas exchange once in so many steps") {
    const Network network(2, {0.5, 10.0});
    const Prediction found = predict_turns(hand_made(), alike(2, 100.0, 1e3), network, {.turn_steps = 50}, {0, 1});
    CHECK(found.compute_s == doctest::Approx(10.0 * 0.55));
    // Each sends the other a quarter of the gradients' 100 bytes, after three rounds of what the session says.
    CHECK(found.exchange_s == doctest::Approx((4 * 0.5 + 25.0 / 10.0) / 50));
    CHECK(found.memory_bytes == doctest::Approx(400.0 + 40.0 + 100.0));
    CHECK_FALSE(found.can_start());
    const Network more(3, {0.5, 10.0});
    const ChoiceOptions sparse{.turn_steps = 50, .sent_bits = 0.32};
    const Prediction few = predict_turns(hand_made(), alike(3, 100.0, 1e3), more, sparse, {0, 1, 2});
    CHECK(few.exchange_s == doctest::Approx((4 * 0.5 + 2 * 1.0 / 10.0) / 50));  // a byte to each of two
    const ChoiceOptions streaming{.turn_steps = 10, .fragments = 5};  // a fifth of 25 bytes, five times as often
    const Prediction fifths = predict_turns(hand_made(), alike(2, 100.0, 1e3), network, streaming, {0, 1});
    CHECK(fifths.exchange_s == doctest::Approx((4 * 0.5 + 5.0 / 10.0) / 10));
}

TEST_CASE("an exchange after a turn begins slowly over a long link") {
    StepProfile profile = hand_made();
    profile.gradient_bytes = 4.0 * 200'000.0;
    const Network network(2, {0.1, 12.5e6});
    const Prediction found = predict_turns(profile, alike(2, 100.0, 1e9), network, {.turn_steps = 10}, {0, 1});
    // 14,480 bytes leave at once, twice as many after each round trip: all 200,000 after three of them.
    const double last = 200'000.0 - 14'480.0 * 7;
    CHECK(found.exchange_s == doctest::Approx((4 * 0.1 + 3 * 0.2 + last / 12.5e6) / 10));
}

TEST_CASE("the local replicas of a program take its turns' work, one after the other if machines are few") {
    StepProfile profile = hand_made();
    profile.turn_replicas = 4;
    profile.turn_work = 700.0;
    const Network network(3, {0.5, 10.0});
    CHECK(predict_turns(profile, alike(3, 100.0, 1e3), network, {}, {0, 1}).compute_s == doctest::Approx(14.0));
    CHECK(predict_turns(profile, alike(3, 100.0, 1e3), network, {}, {0, 1, 2}).compute_s == doctest::Approx(14.0));
    const Layout layout{.turns = 3};
    const Prediction given = predict_given(profile, alike(3, 100.0, 1e3), network, {}, layout);
    CHECK(given.kind == Kind::kTurns);
    CHECK(given.machines == std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("a plan that is given has its own shares and micro-batches, and machines in their order") {
    const Network network(4, {0.5, 10.0});
    Layout layout{.data = 2, .shares = {1, 3}};
    const Prediction found = predict_given(hand_made(), alike(2, 100.0, 1e3), Network(2, {0.5, 10.0}), {}, layout);
    CHECK(found.layout.shares == std::vector<std::uint32_t>{2, 6});
    CHECK(found.compute_s == doctest::Approx(10.0 * (0.1 + 0.9 * 0.75)));
    layout = {.stages = 4, .micro_batches = 4};
    const Prediction stages = predict_given(hand_made(), alike(4, 100.0, 1e3), network, {}, layout);
    CHECK(stages.layout.micro_batches == 4);
    CHECK(stages.machines == std::vector<std::uint32_t>{0, 1, 2, 3});
}

TEST_CASE("links carry no more than the processors at their ends") {
    std::vector<Machine> machines = alike(3, 100.0, 1e3);
    const Network network(3, {0.5, 10.0});
    CHECK(as_processed(network, machines).between(0, 2) == Link{0.5, 10.0});
    machines[1].overhead.byte_s = 0.25;  // and as much for each byte that it receives meanwhile
    CHECK(as_processed(network, machines).between(0, 1).bytes_per_s == doctest::Approx(2.0));
    CHECK(as_processed(network, machines).between(2, 1).bytes_per_s == doctest::Approx(2.0));
    CHECK(as_processed(network, machines).between(0, 2).bytes_per_s == doctest::Approx(10.0));
    for (Machine& machine : machines) {
        machine.overhead.byte_s = 0.25;
        machine.host = "box";
        machine.cores = 2.0;
    }
    CHECK(as_processed(network, machines).between(0, 2).bytes_per_s == doctest::Approx(2.0 / 1.5));
    Network shared = network;
    shared.set_shared(3.0);
    CHECK(as_processed(shared, alike(3, 100.0, 1e3)).between(0, 1).bytes_per_s == doctest::Approx(1.0));
    const Network twice = as_processed(as_processed(network, machines), machines);
    CHECK(twice.between(0, 2).bytes_per_s == doctest::Approx(2.0 / 1.5));
    const Prediction found = predict_given(hand_made(), machines, network, {}, {.data = 3});
    CHECK(found.exchange_s == doctest::Approx(10 * 0.5 + 2 * (100.0 / 3.0) / (2.0 / 1.5)));
}
