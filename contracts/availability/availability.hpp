// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <core/base/result.hpp>
#include <contracts/beacon/rounds.hpp>
#include <contracts/state/context.hpp>
#include <contracts/availability/actions/availability_actions.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/lifecycle/drawn_tile.hpp>
#include <contracts/lifecycle/waiting.hpp>

/// Committees that fetch the data of segments without a verdict, and attest that it was available (AVL rules).
namespace assay::contracts {

Result<void, TxError> check_stateless(const AttestAvailability& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const AttestAvailability& action
) noexcept;
Result<void, TxError> execute(Context& context, const AttestAvailability& action) noexcept;

/// AVL-2: draws a committee for the task. If the draw fails, returns the pause until the next one; otherwise stores the
/// task.
std::optional<Pause> draw_committee(Context& context, Task& task, const ClosedRound& round);
/// AVL-4, AVL-5: concludes a committee whose time has ended. Stores the task.
void lapse_committee(Context& context, Task& task);

/// AVL-7: whether the account has attested, on the latest committee that found the segment available, that it has the
/// data to replay it. Of a group's segments these are several committees (GRP-10).
bool has_attested(const Task& task, const AccountId& account, std::uint32_t segment);

/// AVL-3: the tile that was drawn for the member at index `place` of the task's committee, which must open it.
DrawnTile asked_tile(const Task& task, std::size_t place);
/// AVL-1: index of the checkpoint from which a segment is replayed; 0 for the initialisation, which produces it.
constexpr std::uint32_t checkpoint_before(std::uint32_t segment) { return segment == 0 ? 0 : segment - 1; }

}  // namespace assay::contracts
