// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/odds.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include <tools/economics/model.hpp>

namespace assay::economics {
namespace {

/// Calls `visit` with every set of `draws` out of `total`, as bits.
template <class F>
void for_each_draw(std::uint32_t total, std::uint32_t draws, const F& visit) {
    for (std::uint32_t set = 0; set < (1U << total); ++set) {
        if (std::popcount(set) == static_cast<int>(draws)) {
            visit(set);
        }
    }
}

TEST_CASE("odds: hypergeometric probabilities are those of counting all draws") {
    for (std::uint32_t total = 1; total <= 9; ++total) {
        for (std::uint32_t marked = 0; marked <= total; ++marked) {
            for (std::uint32_t draws = 0; draws <= total; ++draws) {
                std::vector<double> counts(total + 1, 0.0);
                double all = 0.0;
                double noticed = 0.0;
                for_each_draw(total, draws, [&](std::uint32_t set) {
                    const auto hits = static_cast<std::uint32_t>(std::popcount(set & ((1U << marked) - 1U)));
                    counts[hits] += 1.0;
                    noticed += 1.0 - std::pow(0.3, hits);
                    all += 1.0;
                });
                const Urn urn{total, marked, draws};
                CAPTURE(total);
                CAPTURE(marked);
                CAPTURE(draws);
                for (std::uint32_t hits = 0; hits <= total; ++hits) {
                    CHECK(probability_of(urn, hits) == doctest::Approx(counts[hits] / all));
                }
                CHECK(probability_of_none(urn) == doctest::Approx(counts[0] / all));
                CHECK(probability_of_notice(urn, 0.7) == doctest::Approx(noticed / all));
            }
        }
    }
}

TEST_CASE("odds: draws beyond the total are the total, and large numbers stay finite") {
    CHECK(probability_of_none({4, 1, 9}) == doctest::Approx(0.0));
    CHECK(probability_of_notice({10'001, 500, 256}, 1.0) == doctest::Approx(1.0).epsilon(1e-4));
    double sum = 0.0;
    for (std::uint32_t hits = 0; hits <= 256; ++hits) {
        sum += probability_of({10'001, 3'000, 256}, hits);
    }
    CHECK(sum == doctest::Approx(1.0));
}

TEST_CASE("odds: shares of the jackpot are those of counting all draws") {
    for (std::uint32_t ours = 0; ours <= 4; ++ours) {
        for (std::uint32_t others = 0; others + ours <= 7; ++others) {
            for (std::uint32_t draws = 1; draws <= 4; ++draws) {
                double all = 0.0;
                double won = 0.0;
                for_each_draw(7, draws, [&](std::uint32_t set) {
                    const int i = std::popcount(set & ((1U << ours) - 1U));
                    const int j = std::popcount((set >> ours) & ((1U << others) - 1U));
                    won += i == 0 ? 0.0 : i * std::pow(0.5, i + j - 1);
                    all += 1.0;
                });
                CHECK(expected_jackpot_share({7, ours, others, draws}) == doctest::Approx(won / all));
            }
        }
    }
}

TEST_CASE("odds: splitting into Sybils wins no more than the whole jackpot") {
    for (std::uint32_t draws = 1; draws <= 6; ++draws) {
        CHECK(expected_jackpot_share({10, 10, 0, draws}) <= doctest::Approx(1.0));
    }
    CHECK(expected_jackpot_share({10, 10, 0, 3}) == doctest::Approx(0.75));
}

TEST_CASE("odds: a choice of seeds is that of looking at every outcome of every seed") {
    constexpr std::uint32_t kContributors = 3;
    constexpr std::uint32_t kSeeds = 1U << kContributors;
    constexpr double kBad = 0.3;
    double bad = 0.0;
    double withheld = 0.0;
    for (std::uint32_t good = 0; good < (1U << kSeeds); ++good) {
        const int goods = std::popcount(good);
        const double weight = std::pow(1.0 - kBad, goods) * std::pow(kBad, static_cast<int>(kSeeds) - goods);
        int fewest = static_cast<int>(kContributors) + 1;
        for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
            fewest = (good >> seed & 1U) != 0 ? std::min(fewest, std::popcount(seed)) : fewest;
        }
        bad += good == 0 ? weight : 0.0;
        withheld += good == 0 ? 0.0 : weight * fewest;
    }
    const SeedChoice choice = choose_seed(kBad, kContributors);
    CHECK(choice.bad == doctest::Approx(bad));
    CHECK(choice.withheld == doctest::Approx(withheld));
    CHECK(choose_seed(kBad, 0).bad == kBad);
    CHECK(choose_seed(kBad, 0).withheld == 0.0);
}

/// Conviction by looking at every draw of segments and, for each of them, of verifiers.
double counted_conviction(const Setting& s, const Costs& costs, std::uint32_t wrong, double detection) {
    const Adversary& a = costs.adversary;
    const std::uint32_t honest = a.verifiers - a.coalition_verifiers - a.careless_verifiers;
    double none = 0.0;
    double sets = 0.0;
    for_each_draw(a.verifiers, s.per_segment, [&](std::uint32_t set) {
        none += (set & ((1U << honest) - 1U)) == 0 ? 1.0 : 0.0;
        sets += 1.0;
    });
    const double told = detection * (1.0 - none / sets) * (1.0 - s.dispute_failure);
    double convicted = 0.0;
    double draws = 0.0;
    for_each_draw(s.segments + 1, s.checked, [&](std::uint32_t set) {
        const int hits = std::popcount(set & ((1U << wrong) - 1U));
        convicted += 1.0 - std::pow(1.0 - told, hits);
        draws += 1.0;
    });
    return convicted / draws;
}

TEST_CASE("model: conviction is that of counting all draws of segments and verifiers") {
    Costs costs = default_costs();
    costs.adversary.verifiers = 6;
    costs.adversary.coalition_verifiers = 2;
    costs.adversary.careless_verifiers = 1;
    Parameters p = chain_defaults();
    for (std::uint32_t per_segment = 1; per_segment <= 3; ++per_segment) {
        p.verifiers_per_segment = per_segment;
        for (std::uint32_t checked = 1; checked <= 9; ++checked) {
            p.segments_checked = checked;
            const Setting s = make_setting(p, costs, {.name = "tiny", .segments = 8, .segment_seconds = 1.0});
            REQUIRE(s.checked == checked);
            for (std::uint32_t wrong = 0; wrong <= 9; ++wrong) {
                const Model model(s, costs);
                CHECK(
                    model.conviction({.wrong = wrong, .detection = 0.8}) ==
                    doctest::Approx(counted_conviction(s, costs, wrong, 0.8))
                );
            }
        }
    }
}

}  // namespace
}  // namespace assay::economics
