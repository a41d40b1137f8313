// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <core/base/result.hpp>
#include <contracts/state/state.hpp>
#include <contracts/state/history.hpp>
#include <contracts/state/task.hpp>

/// Invariants of every state change, whichever contract made it. The check looks only at the changes and does not rely
/// on the contracts (INV rules).
namespace assay::contracts {

enum class [[nodiscard]] InvariantError : std::uint8_t{
    kSupply = 1,    ///< INV-1: money was created or destroyed
    kFixed = 2,     ///< INV-2: genesis supply or parameters changed, the burned amount shrank, or a record was deleted
    kEscrow = 3,    ///< INV-3: an escrow changed other than by being paid out once, in full, at the end of its task
    kPayout = 4,    ///< INV-4: recorded payments exceed the escrow, or reward both the solver and the submitter
    kLocked = 5,    ///< INV-5: locked stake differs from what tasks, disputes and beacon seats hold
    kTerminal = 6,  ///< INV-6: an ended task changed, or a task ended with something still open
    kTreasury = 7,  ///< INV-8: the treasury shrank other than by recorded jackpots, or by more than a third
    kLane = 8,      ///< INV-9: the lane's reserved capacity differs from what tasks and disputes hold
};

/// Checks `changes` relative to `before`, and the history records that they add; returns the first broken invariant.
Result<void, InvariantError> check_invariants(
    const StateView& before, const Changes& changes, std::span<const HistoryRecord> history
) noexcept;

}  // namespace assay::contracts
