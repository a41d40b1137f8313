// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/result.hpp>
#include <contracts/state/drawn_opening.hpp>
#include <contracts/state/state.hpp>
#include <contracts/state/task.hpp>
#include <contracts/state/tx_error.hpp>

/// Tiles of checkpoints that a round of the beacon draws, and that somebody opens to show that it has the checkpoint.
/// Of a private task a piece of the sealed file is drawn (PRV-8): a group takes the place of the tensor, and the number
/// that of the chunk in it, then of the piece in that.
namespace assay::contracts {

struct DrawnTile {
    std::uint32_t checkpoint = 0;
    std::uint32_t tensor = 0;  ///< or group
    std::uint64_t number = 0;  ///< to be reduced modulo the tensor's number of tiles, or the group's of chunks
};

/// TX-6: fails with kFieldOutOfRange unless the opening is well-formed and its paths can be those of a state.
Result<void, TxError> check_opening(const DrawnOpening& opening) noexcept;
/// How many tensors, or of a private task groups, a draw chooses from.
std::uint32_t drawn_among(const TaskSpec& spec) noexcept;
/// AVL-3, RET-5, PRV-8: fails with kTileInvalid unless the opening is of what was drawn. The checkpoint was posted.
Result<void, TxError> check_drawn(
    const StateView& view, const Task& task, const DrawnTile& drawn, const DrawnOpening& opening
) noexcept;

}  // namespace assay::contracts
