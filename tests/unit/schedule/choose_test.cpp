// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include <tests/unit/schedule/hand_made.hpp>

using namespace assay::schedule;

namespace {

const Prediction* find(const Choice& choice, Kind kind) {
    const auto at =
        std::find_if(choice.best.begin(), choice.best.end(), [&](const Prediction& p) { return p.kind == kind; });
    return at == choice.best.end() ? nullptr : &*at;
}

}  // namespace

TEST_CASE("machines with a fast network divide the step, those with a slow one leave it to one") {
    const auto machines = alike(4, 100.0, 1e6);
    const Choice fast = choose(hand_made(), machines, Network(4, {0.0, 2e9}), {});
    REQUIRE(fast.fastest);
    CHECK(fast.best[*fast.fastest].machines.size() == 4);
    CHECK(fast.best.size() == kKinds);
    const Choice slow = choose(hand_made(), machines, Network(4, {60.0, 1e9}), {});
    REQUIRE(slow.fastest);
    CHECK(slow.best[*slow.fastest].kind == Kind::kOne);
    const Prediction* replicas = find(slow, Kind::kTurns);
    REQUIRE(replicas != nullptr);
    CHECK(replicas->total_s() < slow.best[*slow.fastest].total_s());  // and is not the fastest: it is another training
}

TEST_CASE("plans that do not fit the machines' memory are left out") {
    const Network network(4, {0.0, 1e9});
    // 420 bytes for data parallelism over 4, 195 for ZeRO-2.
    const Choice some = choose(hand_made(), alike(4, 100.0, 200.0), network, {});
    CHECK(find(some, Kind::kOne) == nullptr);
    CHECK(find(some, Kind::kData) == nullptr);
    CHECK(find(some, Kind::kZero1) == nullptr);
    REQUIRE(find(some, Kind::kZero2) != nullptr);
    CHECK(find(some, Kind::kZero2)->memory_bytes == doctest::Approx(195.0));
    CHECK(find(some, Kind::kTurns) == nullptr);
    for (const Prediction& each : some.best) {
        CHECK(each.memory_bytes <= 200.0);
    }
}

TEST_CASE("what fits nowhere is told with what it would need") {
    std::vector<Machine> machines = alike(4, 100.0, 50.0);
    machines[2].memory_bytes = 40.0;
    const Choice none = choose(hand_made(), machines, Network(4, {0.0, 1e9}), {});
    CHECK(none.best.empty());
    CHECK_FALSE(none.fastest);
    REQUIRE(none.shortage);
    CHECK(none.shortage->layout.ranks() == 4);
    CHECK(none.shortage->needed_bytes == doctest::Approx(120.0));
    CHECK(none.shortage->largest_bytes == 40.0);
}

TEST_CASE("one machine alone is the fastest one with the memory") {
    std::vector<Machine> machines = alike(3, 100.0, 1e3);
    machines[1] = {"fast", 500.0, 100.0};
    machines[2] = {"larger", 200.0, 1e3};
    const Choice found = choose(hand_made(), machines, Network(3, {60.0, 1e9}), {});
    REQUIRE(find(found, Kind::kOne) != nullptr);
    CHECK(find(found, Kind::kOne)->machines == std::vector<std::uint32_t>{2});
}

TEST_CASE("tensor parallelism stays inside sites") {
    const auto machines = alike(5, 100.0, 1e6);
    const Link near{0.0001, 2e9};
    Network network(5, {0.02, 1e8});
    network.set(0, 3, near);
    network.set(1, 2, near);
    network.set(2, 4, near);  // 1 and 4 are not near
    const auto groups = tensor_groups(machines, network, {0.001, 1.25e9}, 2);
    CHECK(groups == std::vector<std::vector<std::uint32_t>>{{0, 3}, {1, 2}});
    CHECK(tensor_groups(machines, network, {0.001, 1.25e9}, 3).empty());
    const Choice found = choose(hand_made(), machines, network, {});
    const Prediction* tensor = find(found, Kind::kTensor);
    REQUIRE(tensor != nullptr);
    CHECK(tensor->layout.tensor == 2);
}
