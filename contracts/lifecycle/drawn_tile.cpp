// SPDX-License-Identifier: Apache-2.0
#include <contracts/lifecycle/drawn_tile.hpp>

#include <contracts/state/slots.hpp>

namespace assay::contracts {
namespace {

constexpr std::size_t kMaxPathLength = 64;

bool is_in_range(const dispute::StateOpening& opening) {
    return dispute::is_well_formed(opening) && opening.opening.tile_path.size() <= kMaxPathLength &&
           opening.opening.source_path.size() <= kMaxPathLength;
}

bool is_in_range(const sealed::PieceOpening& opening) { return sealed::is_well_formed(opening); }

bool is_drawn(
    const Task& task, const Checkpoint& checkpoint, const DrawnTile& drawn, const dispute::StateOpening& tile
) {
    return !checkpoint.sealed && tile.tensor == drawn.tensor &&
           tile.tile == drawn.number % canonical::tile_count(tile.type.shape) &&
           dispute::state_root_of(tile, task.spec.program.state_tensors) == checkpoint.state_root;
}

bool is_drawn(
    const Task& task, const Checkpoint& checkpoint, const DrawnTile& drawn, const sealed::PieceOpening& piece
) {
    // PRV-8
    const std::uint64_t chunk = drawn.number % piece.chunks;
    const std::uint64_t number = drawn.number / piece.chunks % sealed::piece_count(piece.size);
    return checkpoint.sealed && piece.groups == drawn_among(task.spec) && piece.group == drawn.tensor &&
           piece.chunk == chunk && piece.piece == number && sealed::sealed_root_of(piece) == checkpoint.sealed->root;
}

}  // namespace

Result<void, TxError> check_opening(const DrawnOpening& opening) noexcept {
    // TX-6
    const bool in_range = std::visit([](const auto& each) { return is_in_range(each); }, opening);
    return in_range ? Result<void, TxError>() : Unexpected{TxError::kFieldOutOfRange};
}

std::uint32_t drawn_among(const TaskSpec& spec) noexcept {
    return spec.program.state_tensors + (spec.privacy ? 1 : 0);  // SEA-7: the list of the tensors is a group too
}

Result<void, TxError> check_drawn(
    const StateView& view, const Task& task, const DrawnTile& drawn, const DrawnOpening& opening
) noexcept {
    const Checkpoint checkpoint = find_checkpoint(view, task.id, drawn.checkpoint).value();
    const bool is = std::visit([&](const auto& each) { return is_drawn(task, checkpoint, drawn, each); }, opening);
    return is ? Result<void, TxError>() : Unexpected{TxError::kTileInvalid};
}

}  // namespace assay::contracts
