// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace assay::model {

/// A mistake in the model, to see that it is noticed.
enum class Flaw : std::uint8_t {
    kNone,
    kWinnersShare,   ///< the loser's bond goes to the winner rounded up
    kKeepsProbe,     ///< a disclosed verdict keeps its forced probe root
    kDeadlineOff,    ///< a challenge window is a block too long
    kFeeToAll,       ///< a refuted verdict earns its share of the fee
    kForgetsLapsed,  ///< who let a task lapse or declined it is drawn as before
    kNoTax,
    kMootKeepsBond,  ///< a moot dispute's bond stays locked
    kUnbondsEarly,
    kDrawsAnybody,        ///< the submitter may be drawn as verifier
    kFreshPool,           ///< a round draws by the stake at its end
    kArrivalOrder,        ///< who contributed first comes first in the seed
    kForgives,            ///< a secret withheld costs the seat alone
    kAnyValue,            ///< tasks are admitted whatever they are worth
    kPaysCopies,          ///< watchers win jackpots whatever they have sealed
    kAnyJackpot,          ///< the contributors' bonds bound no jackpot
    kHalfSuffices,        ///< members with exactly half of the seats find the segments available
    kReturnsTenths,       ///< what verifiers have locked is returned when the segments are available
    kEnderIsFirst,        ///< whoever's dispute ends comes first among the accusers
    kFixedWindows,        ///< no window is longer for what a replay takes
    kIgnoresTerms,        ///< verifiers are drawn who do not consent
    kOversells,           ///< disputes are opened for which the lane of duties has no room
    kChargesAnswers,      ///< an answer takes a nonce
    kEndsWindows,         ///< no window stands still
    kDeclinesForNothing,  ///< who declines a task or lets it lapse pays nothing for the draw
    kAttestersAlone,      ///< after a committee nobody is drawn who has not attested
    kKeepsBonds,          ///< verdicts that stand keep their bonds while their task waits for a committee
    kFlatFees,            ///< an attestation is paid alike whatever the task is worth
    kKeepsSeats,          ///< a seat stays with its holder though another has posted
    kPaysConvicted,       ///< a member that was convicted is paid for what is left
    kRunsAnsweredClocks,  ///< a dispute that was answered by an accusation is lost by its clock
    kPaysCulprits,        ///< who stated something wrong is paid with the others
    kBlamesVerifiers,     ///< verifiers answer for a segment of which nothing was shown but a wrong statement
    kKeepsOut,            ///< who is out keeps its seats
    kConvictsResponder,   ///< who posted a segment is convicted in the place of who misled it
    kHalfPasses,          ///< a proposal passes with more than half of the power
    kTakesWholeBond,      ///< who withholds keys loses its whole bond
    kOpensUnread,         ///< the challenge window opens though watchers have no keys
    kProfilesUnread,      ///< a private task is refused though its profilers had no key
    kOneGame,             ///< a party's clock is for one game, however many it plays at once
};
inline constexpr int kFlaws = 40;

}  // namespace assay::model
