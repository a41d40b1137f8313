// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <contracts/params/params.hpp>
#include <verifier/trace/tolerance.hpp>

namespace assay::contracts {

/// PAR-1: whether a chain can run with these: every span at least one block, shares of at most the whole, sizes that a
/// transaction can have, a fee that cannot overflow, at most kMaxAssignments verifiers for one task; PAR-5: time for a
/// draw; PAR-6: jackpots that are something.
bool are_valid(const Params& params) noexcept;

inline constexpr std::uint32_t kMaxSpanBlocks = 1U << 30U;
inline constexpr std::uint32_t kMaxTxSize = 1U << 24U;
inline constexpr std::uint32_t kMaxAssignments = 256;
inline constexpr std::size_t kMaxHardwareClasses = 16;
inline constexpr std::size_t kMaxHardwareNameBytes = 32;
inline constexpr std::uint32_t kMaxBondBps = 1'000'000;
inline constexpr std::uint32_t kMaxValidators = 256;
inline constexpr std::uint32_t kMaxWatchers = 16;
inline constexpr std::uint32_t kMaxProfilers = 16;
inline constexpr std::uint32_t kMaxContributors = 256;

/// TOL-8: how a task's threshold follows from the profiles that stand.
trace::ThresholdRule threshold_rule(const Params& params) noexcept;

}  // namespace assay::contracts
