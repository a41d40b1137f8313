// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include <tests/shard.hpp>
#include <tests/simulation/simulation.hpp>
#include <tests/unit/consensus/toy_machine.hpp>

/// test_simulation --seed N shows one network; --seeds N M runs a range; without either, a few of each kind.

using namespace assay;
using namespace assay::simulation;

namespace {

constexpr std::uint64_t kQuickSeeds = 24;
constexpr float kNoise = 0.1F;  ///< so that another seed makes another state, and a distance can be measured

Report run_one(model::Workshop& shop, std::uint64_t seed, bool trace) {
    const solo::test::TemporaryDirectory home;
    return simulate(shop, seed, home.path(), trace);
}

void show(const Report& report) {
    std::cout << report.blocks << " blocks, " << report.deaths << " deaths, " << report.replayed << " blocks replayed, "
              << report.lost << " messages lost, " << report.refused << " damaged blocks refused\n";
    for (const auto& [name, count] : report.outcomes) {
        std::cout << "  " << name << ": " << count << "\n";
    }
}

/// What a long range reaches, or it says less than it seems to.
constexpr const char* kReached[] = {
    "honest solver: settled",
    "cheat: convicted",
    "withholder: convicted",
    "withholder slashed for unavailable",
    "by distance, honest solver: settled",
    "by distance, cheat: convicted",
    "by distance, withholder: convicted",
    "cheat slashed for beyond_tolerance",
    "false accuser slashed for false_accusation",
    "false accuser slashed for lost_dispute",
    "lazy verifier slashed for lost_dispute",
    "lying profiler slashed for lost_dispute",
    "stacked, honest solver: settled",
    "stacked, honest solver: settled, marked",
    "stacked, by distance, honest solver: settled",
    "stacked, by distance, honest solver: settled, marked",
    "stacked, by distance, cheat: convicted",
    "lost its disk: verifier slashed for missed_verdict",
    "a group led by honest solver: settled",
    "a group led by honest solver: settled, cut",
    "a group led by cheat: settled, cut",
    "a group led by cheat: convicted",
    "stacked, a group led by honest solver: settled",
    "a group that computes together, led by honest solver: settled",
    "a group that computes together, led by honest solver: settled, cut",
    "a group that computes together, led by misstater: settled, cut",
    "stacked, a group that computes together, led by honest solver: settled",
    "misstater slashed for false_statement",
    "equivocator slashed for false_statement",
    "slanderer slashed for lost_dispute",
    "accusation in training, upheld",
    "accusation in training, refuted",
    "accusation that answers a dispute, upheld",
    "accusation that answers another, upheld",
    "misstater convicted while the task went on",
    "equivocator convicted while the task went on",
    "segments begun again without an equivocator",
    "equivocators shown to a lead that was told neither value",
    "evidence that a member made up",
    "demand of deserter, which is out",
    "honest solver slashed for demand",
    "lists with somebody new",
    "lists without somebody",
    "draws with secrets"};
constexpr std::uint64_t kLongRange = 1'000;

int count_unreached(const Report& sum) {
    int unreached = sum.refused == 0 ? 1 : 0;
    for (const char* outcome : kReached) {
        if (!sum.outcomes.contains(outcome)) {
            std::cout << "never reached: " << outcome << "\n";
            ++unreached;
        }
    }
    return unreached;
}

/// How many broke a property.
int run_range(std::uint64_t first, std::uint64_t last) {
    model::Workshop shop(kNoise);
    Report sum;
    int broken = 0;
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        const Report report = run_one(shop, seed, false);
        if (!report.broken.empty()) {
            std::cout << "test_simulation --seed " << seed << ": " << report.broken << std::endl;
            ++broken;
        }
        sum.blocks += report.blocks;
        sum.deaths += report.deaths;
        sum.replayed += report.replayed;
        sum.lost += report.lost;
        sum.refused += report.refused;
        for (const auto& [name, count] : report.outcomes) {
            sum.outcomes[name] += count;
        }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::cout << last - first + 1 << " seeds, " << static_cast<double>(last - first + 1) / took.count() << " a second, "
              << broken << " broken\n";
    show(sum);
    return broken + (last - first + 1 >= kLongRange ? count_unreached(sum) : 0);
}

}  // namespace

TEST_CASE("BLK-2, SET-1, SET-2: networks that crash, lose and fall apart agree, and honest work is paid") {
    CHECK(run_range(1, kQuickSeeds) == 0);
}

TEST_CASE("BLK-2: a seed's network is the same each time") {
    model::Workshop shop(kNoise);
    const Report first = run_one(shop, 3, false);
    const Report again = run_one(shop, 3, false);
    CHECK(first.app_hash == again.app_hash);
    CHECK(first.blocks == again.blocks);
    CHECK(first.lost == again.lost);
}

int main(int argc, char** argv) {
    // The toy program checks itself, also where no test case runs.
    doctest::Context context(argc, argv);
    context.setAsDefaultForAssertsOutOfTestCases();
    context.setAssertHandler([](const doctest::AssertData& assertion) {
        if (assertion.m_failed) {
            std::cerr << assertion.m_file << ":" << assertion.m_line << ": " << assertion.m_expr << "\n";
            std::abort();
        }
    });
    const std::string option = argc > 1 ? argv[1] : "";
    const auto number = [&](int at) { return std::strtoull(argv[at], nullptr, 10); };
    if (option == "--seed" && argc == 3) {
        model::Workshop shop(kNoise);
        const Report report = run_one(shop, number(2), true);
        show(report);
        std::cout << (report.broken.empty() ? "every property holds" : report.broken) << "\n";
        return report.broken.empty() ? 0 : 1;
    }
    if (option == "--seeds" && argc == 4) {
        const test::Seeds seeds = test::seeds_of(test::shard_from_environment(), number(2), number(3));
        return run_range(seeds.first, seeds.last) == 0 ? 0 : 1;
    }
    return context.run();
}
