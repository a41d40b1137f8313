// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/committee.hpp>

#include <cmath>

namespace assay::economics {
namespace {

constexpr double kTenth = 0.1;
constexpr double kConvicted = 0.5;  // of a solver's bond, burned by AVL-5
constexpr std::uint32_t kMostSeats = 1'001;

/// The probability that at least `least` of `seats` fall to members with `share` of the stake.
double at_least(std::uint32_t seats, double share, std::uint32_t least) {
    if (share <= 0.0 || share >= 1.0) {
        return share >= 1.0 && least <= seats ? 1.0 : 0.0;
    }
    double out = 0.0;
    for (std::uint32_t hits = least; hits <= seats; ++hits) {
        const double ways = std::lgamma(seats + 1.0) - std::lgamma(hits + 1.0) - std::lgamma(seats - hits + 1.0);
        out += std::exp(ways + hits * std::log(share) + (seats - hits) * std::log1p(-share));
    }
    return out;
}

}  // namespace

double majority(std::uint32_t seats, double share) { return at_least(seats, share, majority_of(seats)); }

double found_withheld(std::uint32_t seats, const Silence& silence) {
    const double silent = 1.0 - (1.0 - silence.coalition) * (1.0 - silence.failing);
    return at_least(seats, silent, seats - seats / 2);
}

double convicted_falsely(std::uint32_t seats, const Silence& silence) {
    return std::pow(found_withheld(seats, silence), kSittings);
}

std::uint32_t least_seats(const Silence& silence, double bound) {
    for (std::uint32_t seats = 1; seats <= kMostSeats; seats += 2) {
        if (convicted_falsely(seats, silence) <= bound) {
            return seats;
        }
    }
    return 0;
}

double attested_falsely(std::uint32_t seats, double share) {
    return 1.0 - std::pow(1.0 - majority(seats, share), kSittings);
}

SilenceLoss loss_by_silence(const Setting& s, std::uint32_t seats, const Silence& silence) {
    const double falsely = convicted_falsely(seats, silence);
    const double is_silent = 1.0 - std::pow(1.0 - silence.coalition, s.assignments);
    SilenceLoss out;
    // AVL-8: the tenths are returned where the solver is convicted.
    out.own = kTenth * to_asy(s.verifier_bond) * silence.coalition * s.assignments * (1.0 - falsely);
    out.matched = out.own;
    out.convicted = is_silent * falsely * (to_asy(s.net_reward()) + kConvicted * to_asy(s.solver_bond));
    return out;
}

}  // namespace assay::economics
