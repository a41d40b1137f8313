// SPDX-License-Identifier: Apache-2.0
#include <contracts/lifecycle/drawn_tile.hpp>

#include <contracts/state/slots.hpp>

namespace assay::contracts {
namespace {

constexpr std::size_t kMaxPathLength = 64;

}  // namespace

Result<void, TxError> check_opening(const dispute::StateOpening& opening) noexcept {
    // TX-6
    const bool in_range = dispute::is_well_formed(opening) && opening.opening.tile_path.size() <= kMaxPathLength &&
                          opening.opening.source_path.size() <= kMaxPathLength;
    return in_range ? Result<void, TxError>() : Unexpected{TxError::kFieldOutOfRange};
}

Result<void, TxError> check_drawn(
    const StateView& view, const Task& task, const DrawnTile& drawn, const dispute::StateOpening& opening
) noexcept {
    const Hash256 root = find_checkpoint(view, task.id, drawn.checkpoint).value().state_root;
    if (opening.tensor != drawn.tensor || opening.tile != drawn.number % canonical::tile_count(opening.type.shape) ||
        dispute::state_root_of(opening, task.spec.program.state_tensors) != root) {
        return Unexpected{TxError::kTileInvalid};
    }
    return {};
}

}  // namespace assay::contracts
