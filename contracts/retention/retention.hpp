// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/result.hpp>
#include <contracts/beacon/rounds.hpp>
#include <contracts/lifecycle/drawn_tile.hpp>
#include <contracts/retention/actions/retention_actions.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/tx_error.hpp>

/// Results that are kept after settlement: rounds of the beacon draw tiles, which the solver shows (RET rules).
namespace assay::contracts {

Result<void, TxError> check_stateless(const ShowResult& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ShowResult& action
) noexcept;
Result<void, TxError> execute(Context& context, const ShowResult& action) noexcept;

/// RET-4: draws the next tile that the solver has to show. Stores the task.
void draw_show(Context& context, Task& task, const ClosedRound& round);
/// RET-4, RET-6: the deadline of a kept task has come: the task waits for the next draw, or the solver has not shown
/// the tile that was drawn. Stores the task.
void lapse_keeping(Context& context, Task& task);

/// RET-4: the tile of the last checkpoint that the solver has to show now. The task must be kept, and a tile be drawn.
DrawnTile shown_tile(const Task& task);

}  // namespace assay::contracts
