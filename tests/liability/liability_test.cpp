// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include <tests/liability/arena.hpp>
#include <tests/unit/consensus/toy_machine.hpp>

/// test_liability --seed N shows one run, --quiet N the same network without its attacker; --seeds A B runs a range and
/// ends with one line of figures.

using namespace assay;
using namespace assay::liability;

namespace {

constexpr std::uint64_t kQuickSeeds = 5;
constexpr float kNoise = 0.1F;

Report run_one(model::Workshop& shop, std::uint64_t seed, const Options& options) {
    const solo::test::TemporaryDirectory home;
    return play(shop, seed, home.path(), options);
}

void show(const Report& report) {
    for (const auto& [name, count] : report.outcomes) {
        std::cout << "  " << name << ": " << count << "\n";
    }
    for (const auto& [name, count] : report.executed) {
        std::cout << "  executed " << name << ": " << count << "\n";
    }
}

/// How many broke a law.
int run_range(std::uint64_t first, std::uint64_t last) {
    model::Workshop shop(kNoise);
    Report sum;
    int broken = 0;
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        const Report report = run_one(shop, seed, {});
        if (!report.broken.empty()) {
            std::cout << "test_liability --seed " << seed << ": " << report.broken << std::endl;
            ++broken;
        }
        sum.blocks += report.blocks;
        sum.attacks += report.attacks;
        sum.effective += report.effective;
        sum.paid += report.paid;
        sum.harm += report.harm;
        for (const auto& [name, count] : report.outcomes) {
            sum.outcomes[name] += count;
        }
        for (const auto& [name, count] : report.executed) {
            sum.executed[name] += count;
        }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    show(sum);
    std::cout << last - first + 1 << " seeds, " << sum.blocks << " blocks, " << sum.attacks << " messages of attackers, "
              << sum.effective << " executed, attackers paid " << sum.paid << " grains, honest accounts lost " << sum.harm
              << ", " << broken << " broken, " << took.count() << " s\n";
    return broken;
}

}  // namespace

TEST_CASE("Laws 1 to 3 hold whatever an attacker sends") {
    CHECK(run_range(1, kQuickSeeds) == 0);
}

TEST_CASE("Law 1: a seed gives the same run each time") {
    model::Workshop shop(kNoise);
    const Report first = run_one(shop, 2, {});
    const Report again = run_one(shop, 2, {});
    CHECK(first.blocks == again.blocks);
    CHECK(first.attacks == again.attacks);
    CHECK(first.paid == again.paid);
    CHECK(first.harm == again.harm);
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
    if ((option == "--seed" || option == "--quiet") && argc == 3) {
        model::Workshop shop(kNoise);
        Options options;
        options.trace = true;
        options.attacks = option == "--seed";
        const Report report = run_one(shop, number(2), options);
        show(report);
        std::cout << "paid " << report.paid << ", harm " << report.harm << "; "
                  << (report.broken.empty() ? "every law holds" : report.broken) << "\n";
        return report.broken.empty() ? 0 : 1;
    }
    if (option == "--seeds" && argc == 4) {
        return run_range(number(2), number(3)) == 0 ? 0 : 1;
    }
    return context.run();
}
