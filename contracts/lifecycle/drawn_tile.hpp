// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/result.hpp>
#include <core/dispute/opening.hpp>
#include <contracts/state/state.hpp>
#include <contracts/state/task.hpp>
#include <contracts/state/tx_error.hpp>

/// Tiles of checkpoints that a round of the beacon draws, and that somebody opens to show that it has the checkpoint.
namespace assay::contracts {

struct DrawnTile {
    std::uint32_t checkpoint = 0;
    std::uint32_t tensor = 0;
    std::uint64_t number = 0;  ///< to be reduced modulo the tensor's number of tiles
};

/// TX-6: fails with kFieldOutOfRange unless the opening is well-formed and its paths can be those of a state.
Result<void, TxError> check_opening(const dispute::StateOpening& opening) noexcept;
/// AVL-3, RET-5: fails with kTileInvalid unless the opening is of the tile that was drawn. The checkpoint was posted.
Result<void, TxError> check_drawn(
    const StateView& view, const Task& task, const DrawnTile& drawn, const dispute::StateOpening& opening
) noexcept;

}  // namespace assay::contracts
