// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <contracts/state/params.hpp>
#include <core/dispute/tolerance.hpp>

namespace assay::contracts {

/// PAR-1: whether a chain can run with these parameters: every duration is at least one block, shares are at most 100
/// %, transactions fit the sizes, fees cannot overflow, and a task has at most kMaxAssignments verifiers. PAR-5: there
/// is time for a draw. PAR-6: jackpots are not zero. PAR-9: the price of waiting cannot overflow. PAR-10: a committee
/// costs the solver no more than the silent verifier. PAR-11: windows and fees cannot overflow, whatever the work.
bool are_valid(const Params& params) noexcept;

inline constexpr std::uint32_t kMaxSpanBlocks = 1U << 30U;
inline constexpr std::uint64_t kMaxSpanMs = 1ULL << 42U;  ///< more than a hundred years
inline constexpr std::uint32_t kMaxTxSize = 1U << 24U;
inline constexpr std::uint32_t kMaxAssignments = 256;
inline constexpr std::size_t kMaxHardwareClasses = 16;
inline constexpr std::size_t kMaxHardwareNameBytes = 32;
inline constexpr std::uint32_t kMaxBondBps = 1'000'000;
inline constexpr std::uint32_t kMaxValidators = 256;
inline constexpr std::uint32_t kMaxWatchers = 16;
inline constexpr std::uint32_t kMaxProfilers = 16;
inline constexpr std::uint32_t kMaxContributors = 256;
inline constexpr std::uint32_t kMaxDraws = 64;
inline constexpr std::uint32_t kMaxRetentionShows = 256;
inline constexpr std::uint32_t kMaxRedraws = 16;
inline constexpr std::uint32_t kMaxCommitteeSeats = 64;
inline constexpr std::uint32_t kMaxBlockMs = 3'600'000;
inline constexpr std::uint32_t kMaxReplayBlocks = 1U << 22U;
inline constexpr std::uint64_t kMaxWorkPrice = 1'000'000'000'000;
/// PAR-9: maxima that keep the deposit of any task from overflowing.
inline constexpr Amount kDrawPriceMax{1'000'000'000};
inline constexpr Amount kRoomPriceMax{100'000};

}  // namespace assay::contracts
