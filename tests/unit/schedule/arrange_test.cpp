// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include <verifier/schedule/arrange.hpp>

using namespace assay::schedule;

namespace {

// Delays of 1 to 9 s and 1 to 9 bytes a second.
Network random_network(std::uint32_t size, std::uint64_t seed) {
    Network out(size, {});
    std::uint64_t state = seed;
    const auto next = [&] {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<double>((state >> 33U) % 9 + 1);
    };
    for (std::uint32_t a = 0; a < size; ++a) {
        for (std::uint32_t b = 0; b < a; ++b) {
            out.set(a, b, {next(), next()});
        }
    }
    return out;
}

}  // namespace

TEST_CASE("the cost of four machines in two stages is what it is by hand") {
    Network network(4, {1.0, 10.0});
    network.set(0, 1, {2.0, 5.0});
    network.set(1, 3, {3.0, 20.0});
    const Crossing crossing{
        .exchange_rounds = 2.0, .exchange_bytes = 40.0, .handover_rounds = 2.0, .handover_bytes = 30.0};
    const Arrangement arrangement{{.stages = 2, .width = 2}, {0, 1, 2, 3}};
    const CommunicationCost cost = cost_of(network, crossing, arrangement);
    CHECK(cost.exchange_s == doctest::Approx(2 * 2.0 + 20.0 / 5.0));   // 0 with 1; 2 with 3 takes 2 + 2
    CHECK(cost.handover_s == doctest::Approx(2 * 3.0 + 30.0 / 20.0));  // 1 to 3; 0 to 2 takes 2 + 3
    // 0 next to 3 and 1 next to 2 is better: 2 + 3 both.
    const Arrangement better = put_in_order(network, crossing, arrangement);
    CHECK(cost_of(network, crossing, better).handover_s == doctest::Approx(5.0));
    CHECK(cost_of(network, crossing, better).exchange_s == doctest::Approx(8.0));
}

TEST_CASE("delays to several machines add up, or the largest counts") {
    Network network(3, {1.0, 10.0});
    network.set(0, 2, {4.0, 10.0});
    Crossing crossing{.exchange_rounds = 3.0, .exchange_bytes = 30.0};
    const Arrangement arrangement{{.stages = 1, .width = 3}, {0, 1, 2}};
    CHECK(cost_of(network, crossing, arrangement).exchange_s == doctest::Approx(3 * 5.0 + 2 * 1.0));
    crossing.delays = Delays::kLargest;
    CHECK(cost_of(network, crossing, arrangement).exchange_s == doctest::Approx(3 * 4.0 + 2 * 1.0));
}

TEST_CASE("the search finds the best of all arrangements of six machines") {
    const Grid grid{.stages = 3, .width = 2};
    const Crossing crossing{.exchange_bytes = 20.0, .handover_bytes = 12.0};
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const Network network = random_network(6, seed);
        Arrangement each{grid, std::vector<std::uint32_t>(6)};
        std::iota(each.machines.begin(), each.machines.end(), 0U);
        double best = cost_of(network, crossing, each).total();
        while (std::next_permutation(each.machines.begin(), each.machines.end())) {
            best = std::min(best, cost_of(network, crossing, each).total());
        }
        const Arrangement found = search(network, crossing, grid, {.tries = 2'000});
        CHECK(cost_of(network, crossing, found).total() == doctest::Approx(best));
    }
}

TEST_CASE("of more machines than the grid has, the slow and the far ones stay idle") {
    Network network(5, {0.0, 100.0});
    for (std::uint32_t other = 0; other < 5; ++other) {
        if (other != 3) {
            network.set(3, other, {9.0, 1.0});
        }
    }
    const std::vector<double> compute_s{1.0, 8.0, 1.0, 1.0, 1.0};
    Arrangement found =
        search(network, {.exchange_bytes = 10.0}, {.stages = 1, .width = 3}, {.tries = 500, .compute_s = compute_s});
    std::sort(found.machines.begin(), found.machines.end());
    CHECK(found.machines == std::vector<std::uint32_t>{0, 2, 4});
}

TEST_CASE("the same seed gives the same arrangement") {
    const Network network = random_network(12, 3);
    const Crossing crossing{.exchange_bytes = 20.0, .handover_bytes = 12.0};
    const Grid grid{.stages = 3, .width = 4};
    const SearchOptions options{.seed = 9, .tries = 300};
    CHECK(search(network, crossing, grid, options).machines == search(network, crossing, grid, options).machines);
}

TEST_CASE("machines that are alike stay in the order in which they are given") {
    const Network network(6, {0.1, 10.0});
    const Crossing crossing{.exchange_bytes = 20.0, .handover_bytes = 12.0};
    const Arrangement found =
        search(network, crossing, {.stages = 2, .width = 2}, {.starts = 2, .keeps_order = true, .tries = 100});
    CHECK(found.machines == std::vector<std::uint32_t>{0, 1, 2, 3});
}
