// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Draws without replacement, in closed form.
namespace assay::economics {

/// `draws` out of `total`, of which `marked` are marked. More draws than `total` count as `total`.
struct Urn {
    std::uint32_t total = 0;
    std::uint32_t marked = 0;
    std::uint32_t draws = 0;
};

/// The probability that exactly `hits` of the draws are marked (hypergeometric).
double probability_of(const Urn& urn, std::uint32_t hits);
/// The probability that no draw is marked.
double probability_of_none(const Urn& urn);
/// The probability that something is noticed if each marked draw is noticed independently with probability `notice`.
double probability_of_notice(const Urn& urn, double notice);

/// The watchers of one verdict: `draws` of `total`, of whom `ours` are the coalition's and `others` also challenge.
struct WatchDraw {
    std::uint32_t total = 0;
    std::uint32_t ours = 0;
    std::uint32_t others = 0;
    std::uint32_t draws = 0;
};
/// Expected share of the jackpot that ours win if all of them challenge. With i winners of ours and j others, ours get
/// i / 2^(i+j-1).
double expected_jackpot_share(const WatchDraw& draw);

/// The result of a choice among the seeds of a beacon round by contributors with the same owner, who reveal last
/// (BCN-8).
struct SeedChoice {
    double bad = 0.0;       ///< probability that every seed is bad; no secrets are withheld then
    double withheld = 0.0;  ///< average number of withheld secrets
};
/// Each seed is bad with probability `bad`, independently. The `contributors` look at the seed with all their secrets,
/// then at the seeds without one of them, without two and so on, and take the first that is not bad. At most 16
/// contributors.
SeedChoice choose_seed(double bad, std::uint32_t contributors);

}  // namespace assay::economics
