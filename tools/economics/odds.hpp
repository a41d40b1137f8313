// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Draws without replacement, in closed form.
namespace assay::economics {

/// What is drawn out of what: `draws` of `total`, of which `marked` are marked. Draws beyond the total are the total.
struct Urn {
    std::uint32_t total = 0;
    std::uint32_t marked = 0;
    std::uint32_t draws = 0;
};

/// The probability that exactly `hits` of the draws are marked (hypergeometric).
double probability_of(const Urn& urn, std::uint32_t hits);
/// The probability that no draw is marked.
double probability_of_none(const Urn& urn);
/// The probability that something is noticed when each marked draw is noticed with probability `notice`, independently.
double probability_of_notice(const Urn& urn, double notice);

/// Watchers of one verdict: `draws` of `total`, of whom some are ours and some are others that also challenge.
struct WatchDraw {
    std::uint32_t total = 0;
    std::uint32_t ours = 0;
    std::uint32_t others = 0;
    std::uint32_t draws = 0;
};
/// Expected share of the jackpot that ours win when all of them challenge: i winners of ours and j others take
/// i / 2^(i+j-1).
double expected_jackpot_share(const WatchDraw& draw);

/// A choice among the seeds of a round of the beacon, by contributors of one owner that speak last (BCN-8).
struct SeedChoice {
    double bad = 0.0;       ///< every seed is: the secrets are not withheld
    double withheld = 0.0;  ///< secrets on average
};
/// When a seed is bad with probability `bad`, independently: `contributors` look at the one with all their secrets, then
/// at those without one of them, without two, and take the first that is not. At most 16 contributors.
SeedChoice choose_seed(double bad, std::uint32_t contributors);

}  // namespace assay::economics
