// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <contracts/state/params.hpp>
#include <core/dispute/tolerance.hpp>

namespace assay::contracts {

/// PAR-1: whether a chain can run with these: every span at least one block, shares of at most the whole, sizes that a
/// transaction can have, a fee that cannot overflow, at most kMaxAssignments verifiers for one task; PAR-5: time for a
/// draw; PAR-6: jackpots that are something; PAR-9: prices of waiting that are numbers; PAR-10: committees that cost a
/// solver no more than the verifier that was silent; PAR-11: windows and fees that are numbers, whatever the work.
bool are_valid(const Params& params) noexcept;

inline constexpr std::uint32_t kMaxSpanBlocks = 1U << 30U;
inline constexpr std::uint64_t kMaxSpanMs = 1ULL << 42U;  ///< more than a hundred years
inline constexpr std::uint32_t kMaxTxSize = 1U << 24U;
/// PAR-7: every transaction that somebody can owe fits. The largest is a proof about a contraction: its accumulator,
/// and four tiles with a path through 2^38 tiles and one through 2^14 entries of a step each; the rest is for what is
/// around them and for the envelope.
inline constexpr std::uint32_t kMinTxSize = 16'384 + 4 * (4'096 + (38 + 14) * 32) + 1'536;
inline constexpr std::uint32_t kMaxAssignments = 256;
inline constexpr std::size_t kMaxHardwareClasses = 16;
inline constexpr std::size_t kMaxHardwareNameBytes = 32;
inline constexpr std::uint32_t kMaxBondBps = 1'000'000;
inline constexpr std::uint32_t kMaxValidators = 256;
inline constexpr std::uint32_t kMaxWatchers = 16;
inline constexpr std::uint32_t kMaxProfilers = 16;
inline constexpr std::uint32_t kMaxContributors = 256;
inline constexpr std::uint32_t kMaxDraws = 64;
inline constexpr std::uint32_t kMaxRedraws = 16;
inline constexpr std::uint32_t kMaxCommitteeSeats = 64;
inline constexpr std::uint32_t kMaxBlockMs = 3'600'000;
inline constexpr std::uint32_t kMaxReplayBlocks = 1U << 22U;
inline constexpr std::uint64_t kMaxWorkPrice = 1'000'000'000'000;
/// PAR-9: so that the deposit of any task is a number.
inline constexpr Amount kDrawPriceMax{1'000'000'000};
inline constexpr Amount kRoomPriceMax{100'000};

/// TOL-8: how a task's threshold follows from the profiles that stand.
dispute::ThresholdRule threshold_rule(const Params& params) noexcept;

}  // namespace assay::contracts
