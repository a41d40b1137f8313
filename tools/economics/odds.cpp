// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/odds.hpp>

#include <algorithm>
#include <cmath>

namespace assay::economics {
namespace {

/// C(n, k) in floating point; 0 where there is no way.
double choose(std::uint32_t n, std::uint32_t k) {
    if (k > n) {
        return 0.0;
    }
    const std::uint32_t steps = std::min(k, n - k);
    double out = 1.0;
    for (std::uint32_t i = 1; i <= steps; ++i) {
        out *= static_cast<double>(n - steps + i) / static_cast<double>(i);
    }
    return out;
}

}  // namespace

double probability_of(const Urn& urn, std::uint32_t hits) {
    const std::uint32_t draws = std::min(urn.draws, urn.total);
    const std::uint32_t marked = std::min(urn.marked, urn.total);
    if (hits > draws || hits > marked || draws - hits > urn.total - marked) {
        return 0.0;
    }
    // One factor at a time: C(10000, 256) does not fit a double. First the marked draws, then the others.
    double out = choose(draws, hits);
    for (std::uint32_t i = 0; i < draws; ++i) {
        const std::uint32_t left = i < hits ? marked - i : urn.total - marked - (i - hits);
        out *= static_cast<double>(left) / static_cast<double>(urn.total - i);
    }
    return out;
}

double probability_of_none(const Urn& urn) { return probability_of(urn, 0); }

double probability_of_notice(const Urn& urn, double notice) {
    const std::uint32_t draws = std::min(urn.draws, urn.total);
    const std::uint32_t marked = std::min(urn.marked, urn.total);
    // The sum over hits of P(hits) * (1 - notice)^hits, whose terms follow from each other by a ratio.
    const std::uint32_t least = draws > urn.total - marked ? draws - (urn.total - marked) : 0;
    double term = probability_of(urn, least);
    double missed = 0.0;
    double escape = std::pow(1.0 - notice, least);
    for (std::uint32_t hits = least; hits <= std::min(draws, marked); ++hits) {
        missed += term * escape;
        escape *= 1.0 - notice;
        const double more = static_cast<double>(marked - hits) * static_cast<double>(draws - hits);
        const double fewer = static_cast<double>(hits + 1) * static_cast<double>(urn.total + hits + 1 - marked - draws);
        term *= fewer > 0.0 ? more / fewer : 0.0;
    }
    return std::clamp(1.0 - missed, 0.0, 1.0);
}

double expected_jackpot_share(const WatchDraw& draw) {
    const std::uint32_t draws = std::min(draw.draws, draw.total);
    const std::uint32_t rest = draw.total - draw.ours - draw.others;
    const double ways = choose(draw.total, draws);
    double out = 0.0;
    for (std::uint32_t i = 1; i <= std::min(draws, draw.ours); ++i) {
        for (std::uint32_t j = 0; j <= std::min(draws - i, draw.others); ++j) {
            const double weight = choose(draw.ours, i) * choose(draw.others, j) * choose(rest, draws - i - j) / ways;
            out += weight * static_cast<double>(i) * std::pow(0.5, i + j - 1);
        }
    }
    return out;
}

SeedChoice choose_seed(double bad, std::uint32_t contributors) {
    SeedChoice out{.bad = bad};
    for (std::uint32_t withheld = 1; withheld <= contributors; ++withheld) {
        const double all_bad = out.bad * std::pow(bad, choose(contributors, withheld));
        out.withheld += withheld * (out.bad - all_bad);
        out.bad = all_bad;
    }
    return out;
}

}  // namespace assay::economics
