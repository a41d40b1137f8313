// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <core/base/result.hpp>
#include <contracts/beacon/rounds.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/transaction.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/lifecycle/waiting.hpp>

/// Committees that fetch what nobody gave a verdict on, and say whether it was there (AVL rules).
namespace assay::contracts {

Result<void, TxError> check_stateless(const AttestAvailability& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const AttestAvailability& action
) noexcept;
Result<void, TxError> execute(Context& context, const AttestAvailability& action) noexcept;

/// AVL-2: draws it. Stores the task.
/// Returns the pause until the next draw where this one has failed.
std::optional<Pause> draw_committee(Context& context, Task& task, const ClosedRound& round);
/// AVL-4, AVL-5: its time is over. Stores the task.
void lapse_committee(Context& context, Task& task);

/// AVL-7: whether the account has attested that it has what a replay of the open segments needs.
bool has_attested(const Task& task, const AccountId& account);

/// AVL-3: the tile that a member has to show.
struct AskedTile {
    std::uint32_t checkpoint = 0;
    std::uint32_t tensor = 0;
    std::uint64_t number = 0;  ///< modulo the tensor's number of tiles
};
/// Of the member at `place` of the task's committee.
AskedTile asked_tile(const Task& task, std::size_t place);
/// AVL-1: the checkpoint from which a segment is replayed; 0 for the initialisation, which makes it.
constexpr std::uint32_t checkpoint_before(std::uint32_t segment) { return segment == 0 ? 0 : segment - 1; }

}  // namespace assay::contracts
