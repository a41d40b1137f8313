// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <core/base/result.hpp>
#include <contracts/state/state.hpp>
#include <contracts/state/task.hpp>

/// What must hold of any change to the state, whichever contract made it. Looks at the changes alone, so it neither
/// knows nor trusts the contracts (INV rules).
namespace assay::contracts {

enum class [[nodiscard]] InvariantError : std::uint8_t {
    kSupply = 1,   ///< INV-1: money appears or vanishes
    kFixed = 2,    ///< INV-2: genesis supply or parameters change, burned shrinks, a record disappears
    kEscrow = 3,   ///< INV-3: an escrow changes other than by being paid out once, whole, when its task ends
    kPayout = 4,   ///< INV-4: payments recorded exceed the escrow, or reward both the solver and the submitter
    kLocked = 5,   ///< INV-5: locked stake is not what tasks, disputes and challenges hold
    kTerminal = 6, ///< INV-6: a task that has ended changes, or one ends with something still open
    kTreasury = 7, ///< INV-8: the treasury shrinks other than by recorded jackpots, or by more than a third
    kLane = 8,     ///< INV-9: the lane of duties has promised something else than tasks and disputes hold of it
};

/// Whether `changes` against `before`, with the history that they add, keep every invariant.
Result<void, InvariantError> check_invariants(
    const StateView& before, const Changes& changes, std::span<const HistoryRecord> history
) noexcept;

}  // namespace assay::contracts
