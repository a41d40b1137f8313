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

/// That none of a committee's seats falls to somebody who attests and consents to the task, with `share` of the stake (AVL-7).
double nobody_consents(std::uint32_t seats, double share);

/// The probability that one committee of a row attests what only a coalition with `share` of the stake has.
double attested_falsely(std::uint32_t seats, double share);

/// What attesting pays and costs a member (AVL-6), in ASY.
struct MembersPay {
    std::uint32_t seats = 0;
    double fee = 0.0;
    double transaction = 0.0;
    double download = 0.0;
    std::uint32_t verifiers = 0;  ///< accounts of equal stake that seats fall to; a member is paid once (AVL-2)
};
MembersPay pay_of_members(const Parameters& parameters, const Costs& costs, const Setting& setting);

/// What one task costs a coalition that has verifiers and a solver lose alike (AVL-6, AVL-8), in ASY on average.
struct SharedLoss {
    double own = 0.0;        ///< of the coalition
    double matched = 0.0;    ///< as many tenths, of the honest
    double convicted = 0.0;  ///< AVL-5: the solver's reward and half of its bond, with that chance
    double earned = 0.0;     ///< by honest members, beyond what attesting costs them
    /// Of all honest accounts together: what a solver pays to members is not lost.
    double ratio() const { return own > 0.0 ? (matched + convicted - earned) / own : 0.0; }
    /// Of the one account that has the loss.
    double alone() const { return own > 0.0 ? (matched + convicted) / own : 0.0; }
};
/// The coalition's verifiers are silent for `segments` segments, and its members on all committees.
SharedLoss loss_by_silence(
    const Setting& setting, const MembersPay& pay, const Silence& silence, std::uint32_t segments
);
/// Its verifiers are silent, or its solver serves as many verifiers not, and its members attest, each with one seat and
/// without a download: what the committee is paid comes back to them in part.
SharedLoss loss_while_attesting(
    const Setting& setting, const MembersPay& pay, const Silence& silence, std::uint32_t segments
);

}  // namespace assay::economics
