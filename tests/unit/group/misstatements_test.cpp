// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <tests/shard.hpp>
#include <tests/unit/group/misstatement_play.hpp>

/// test_misstatements --seeds N M [KIND] plays a range of seeds of each kind of misstatement, or of one; without it, a
/// few.

using namespace assay;
using namespace assay::group::testing;

namespace {

constexpr std::uint64_t kQuickSeeds = 2;
/// How often a group is drawn anew in which a misstatement came to nothing.
constexpr std::uint64_t kDraws = 40;

/// What came of the groups of one plot.
struct Tally {
    std::uint64_t played = 0;
    std::uint64_t convicted = 0;  ///< whoever misstated something, and nobody else
    std::uint64_t redrawn = 0;    ///< groups in which a misstatement came to nothing, and nobody was convicted
    std::map<std::string, std::uint64_t> outcomes{};
    std::string text(const Plot& plot) const {
        std::ostringstream out;
        const bool withholds = plot == adversary::Misstatement::kWithhold;
        out << to_string(plot) << ": " << convicted << " of " << played << " groups "
            << (withholds ? "lose who withholds, for two demands that both pay"
                          : "convict who misstated, and nobody else")
            << "; " << redrawn << " more in which it came to nothing;";
        for (const auto& [outcome, times] : outcomes) {
            out << " " << outcome << " " << times << ",";
        }
        std::string line = out.str();
        line.pop_back();
        return line;
    }
};

std::array<Trained, 3>& models() {
    static std::array<Trained, 3> all{Trained(small_mlp()), Trained(small_cnn()), Trained(small_gpt())};
    return all;
}

/// Plays one group of the plot in which the misstatement comes to something. Returns what is not as it should be.
std::string play(const Plot& plot, std::uint64_t number, std::uint64_t seed, Tally& tally) {
    const bool is_told = std::getenv("ASSAY_VERBOSE") != nullptr;
    ++tally.played;
    for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
        Play group(models()[(seed + draw) % models().size()], plot, (seed * 100 + number) * 1'000 + draw);
        const std::string fault = group.find_fault();
        if (is_told || !fault.empty()) {
            std::cout << "seed " << seed << ", draw " << draw << ", " << group.description() << ": "
                      << (fault.empty() ? "as it should be" : fault) << std::endl;
        }
        for (const std::string& outcome : group.outcomes()) {
            ++tally.outcomes[outcome];
        }
        if (!fault.empty()) {
            return fault;
        }
        if (group.had_effect()) {
            ++tally.convicted;
            return {};
        }
        ++tally.redrawn;
    }
    return "no misstatement came to anything";
}

/// `only`: the name of one kind; empty: all.
int count_faults(std::uint64_t first, std::uint64_t last, const std::string& only = {}) {
    int faults = 0;
    std::uint64_t number = 0;
    for (const Plot& plot : all_plots()) {
        Tally tally;
        ++number;
        if (!only.empty() && to_string(plot) != only) {
            continue;
        }
        for (std::uint64_t seed = first; seed <= last; ++seed) {
            faults += play(plot, number, seed, tally).empty() ? 0 : 1;
        }
        std::cout << tally.text(plot) << std::endl;
    }
    return faults;
}

}  // namespace

TEST_CASE("STM-9, STM-10, STM-11: of members that misstate in random ways some pay, and nobody else does") {
    CHECK(count_faults(1, kQuickSeeds) == 0);
}

int main(int argc, char** argv) {
    doctest::Context context(argc, argv);
    context.setAsDefaultForAssertsOutOfTestCases();
    context.setAssertHandler([](const doctest::AssertData& assertion) {
        if (assertion.m_failed) {
            std::cerr << assertion.m_file << ":" << assertion.m_line << ": " << assertion.m_expr << "\n";
            std::abort();
        }
    });
    if ((argc == 4 || argc == 5) && std::string(argv[1]) == "--seeds") {
        const assay::test::Seeds seeds = assay::test::seeds_of(
            assay::test::shard_from_environment(), std::strtoull(argv[2], nullptr, 10),
            std::strtoull(argv[3], nullptr, 10)
        );
        return count_faults(seeds.first, seeds.last, argc == 5 ? argv[4] : "") == 0 ? 0 : 1;
    }
    return context.run();
}
