// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tools/economics/setting.hpp>

/// The findings of availability committees (AVL-2 to AVL-6), in closed form. Seats are drawn independently, by stake.
namespace assay::economics {

/// AVL-5: if so many committees in a row find the segments withheld, the solver is convicted.
inline constexpr std::uint32_t kSittings = 3;

/// Returns the probability that more than half of `seats` go to members with `share` of the stake.
double majority(std::uint32_t seats, double share);
/// Returns the smallest number of members that is a majority of the seats.
constexpr std::uint32_t majority_of(std::uint32_t seats) { return seats / 2 + 1; }

/// Honest committee members beside a coalition that does not attest.
struct Silence {
    double coalition = 0.0;  ///< its share of the stake
    double failing = 0.0;    ///< share of the honest members that fail to attest what is served
};
/// Returns the probability that one committee finds data withheld although they are served.
double found_withheld(std::uint32_t seats, const Silence& silence);
/// Returns the probability that all committees in a row do so and an honest solver is convicted.
double convicted_falsely(std::uint32_t seats, const Silence& silence);
/// Returns the smallest odd number of seats with which that probability is at most `bound`; 0 if even 1,001 are not
/// enough.
std::uint32_t least_seats(const Silence& silence, double bound);

/// Returns the probability that no seat of a committee goes to the members, with `share` of the stake, who attest and
/// consent to the task (AVL-7).
double nobody_consents(std::uint32_t seats, double share);

/// Returns the probability that one committee in a row attests data that only a coalition with `share` of the stake
/// has.
double attested_falsely(std::uint32_t seats, double share);

/// What a member is paid for attesting and what it costs the member (AVL-6), in ASY.
struct MembersPay {
    std::uint32_t seats = 0;
    double fee = 0.0;
    double transaction = 0.0;
    double download = 0.0;
    std::uint32_t verifiers =
        0;  ///< number of accounts, with equal stake, that may get seats; a member is paid once (AVL-2)
};
/// AVL-6: what a member of the committee of such a task is paid.
Grains attestation_fee(const Parameters& parameters, const Setting& setting);
MembersPay pay_of_members(const Parameters& parameters, const Costs& costs, const Setting& setting);

/// The average costs, in ASY, of one task in which a coalition makes verifiers and a solver lose equally (AVL-6,
/// AVL-8).
struct SharedLoss {
    double own = 0.0;        ///< loss of the coalition
    double matched = 0.0;    ///< equal loss of honest accounts (tenths of bonds)
    double convicted = 0.0;  ///< AVL-5: the solver's reward and half of its bond, times the probability of conviction
    double earned = 0.0;     ///< by honest members, beyond their costs of attesting
    /// Of all honest accounts together: what a solver pays to committee members is not lost.
    double harm() const { return matched + convicted - earned; }
    double ratio() const { return own > 0.0 ? harm() / own : 0.0; }
    /// For the single account that bears the loss.
    double alone() const { return own > 0.0 ? (matched + convicted) / own : 0.0; }
};
/// A quarter of the stake, beside honest members of whom a tenth fails: the coalition of docs/protocol/liability.md.
inline constexpr Silence kQuarter{.coalition = 0.25, .failing = 0.1};

/// The coalition's verifiers are silent for `segments` segments, and so are its members on all committees.
SharedLoss loss_by_silence(
    const Setting& setting, const MembersPay& pay, const Silence& silence, std::uint32_t segments
);
/// The coalition's verifiers are silent, or its solver does not serve as many verifiers. Its members attest, with one
/// seat each and without a download, so it gets back a part of what the committee is paid.
SharedLoss loss_while_attesting(
    const Setting& setting, const MembersPay& pay, const Silence& silence, std::uint32_t segments
);

}  // namespace assay::economics
