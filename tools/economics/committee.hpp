// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tools/economics/setting.hpp>

/// What committees of availability find (AVL-2 to AVL-6), in closed form. Their seats are drawn apart, by stake.
namespace assay::economics {

/// AVL-5: so many in a row find the segments withheld, and the solver is convicted.
inline constexpr std::uint32_t kSittings = 3;

/// The probability that more than half of `seats` fall to members with `share` of the stake.
double majority(std::uint32_t seats, double share);
/// Members with more than half of the seats, the fewest.
constexpr std::uint32_t majority_of(std::uint32_t seats) { return seats / 2 + 1; }

/// Honest committees beside a coalition that is silent.
struct Silence {
    double coalition = 0.0;  ///< its share of the stake
    double failing = 0.0;    ///< of the honest members, that do not attest what is served
};
/// The probability that one committee finds withheld what is served.
double found_withheld(std::uint32_t seats, const Silence& silence);
/// That a whole row of them does, so that an honest solver is convicted.
double convicted_falsely(std::uint32_t seats, const Silence& silence);
/// The fewest seats, an odd number, with which that is at most `bound`; 0 where even 1,001 do not suffice.
std::uint32_t least_seats(const Silence& silence, double bound);

/// The probability that one committee of a row attests what only a coalition with `share` of the stake has.
double attested_falsely(std::uint32_t seats, double share);

/// What a coalition that never answers loses by one task, and what its solver loses, in ASY on average.
struct SilenceLoss {
    double own = 0.0;        ///< AVL-8: tenths of its verifiers' bonds
    double matched = 0.0;    ///< AVL-6: as much, of the solver
    double convicted = 0.0;  ///< AVL-5: the solver's reward and half of its bond, with that chance
    double ratio() const { return own > 0.0 ? (matched + convicted) / own : 0.0; }
};
SilenceLoss loss_by_silence(const Setting& setting, std::uint32_t seats, const Silence& silence);

}  // namespace assay::economics
