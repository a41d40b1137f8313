// SPDX-License-Identifier: Apache-2.0
#include <core/dispute/accuser.hpp>

#include <utility>

#include <core/base/assert.hpp>

namespace assay::dispute {
namespace {

using canonical::Source;
using canonical::Tensor;

PartClaim part_of(const Piece& piece, const canonical::Node& node) {
    return {.node = piece.index, .tile = tile_of(node.shape, piece), .partials = *piece.part, .accumulator = {}};
}

canonical::Accumulator own_part(const Claim& segment, std::uint64_t step, const Piece& piece, Replay& replay) {
    Claim claim = segment;
    claim.step_count = static_cast<std::uint32_t>(step - segment.first_step + 1);
    return make_part(claim, part_of(piece, replay.graph()[piece.index]), replay);
}

TileOpening open_own(
    const Tensor& tensor, const merkle::Tree& tiles, const Piece& piece, std::vector<Hash256> source_path
) {
    const std::uint64_t tile = tile_of(tensor.shape, piece);
    return {
        .tile = canonical::tile_of(tensor, tile), .tile_path = tiles.path(tile), .source_path = std::move(source_path)};
}

}  // namespace

std::optional<Hash256> own_values(const Claim& segment, std::uint64_t step, const Piece& piece, Replay& replay) {
    ASSERT(is_well_formed(piece));
    if (piece.part) {
        return values_of(piece, replay.graph()[piece.index], own_part(segment, step, piece, replay));
    }
    const Tensor& tensor =
        piece.source == Source::kState ? replay.state_tensor(step, piece.index) : replay.node_output(step, piece.index);
    return values_of(piece, canonical::tile_of(tensor, tile_of(tensor.shape, piece)));
}

Contradiction make_contradiction(const Claim& segment, const StatedPiece& stated, Replay& replay) {
    const std::uint64_t step = stated.statement.step;
    const Piece& piece = stated.piece;
    Contradiction out{.stated = stated, .state_root = {}, .evidence = {}};
    if (piece.source == Source::kState) {
        out.state_root = step == segment.first_step ? segment.before : replay.state_root_after(step - 1);
        std::vector<Hash256> path = replay.state_tree(step).path(piece.index);  // asks for every tensor
        const merkle::Tree& tiles = replay.state_tiles(step, piece.index);
        const Tensor& tensor = replay.state_tensor(step, piece.index);
        out.evidence = StateEvidence{
            .type = {.dtype = tensor.dtype, .shape = tensor.shape},
            .opening = open_own(tensor, tiles, piece, std::move(path))};
        return out;
    }
    out.state_root = replay.state_root_after(step);
    const merkle::Tree trace{step_entries(replay, step)};
    if (piece.part) {
        out.evidence = PartEvidence{
            .trace_root = trace.root(),
            .node = open_node(replay.graph(), piece.index),
            .accumulator = own_part(segment, step, piece, replay)};
        return out;
    }
    const Tensor& tensor = replay.node_output(step, piece.index);
    const merkle::Tree& tiles = replay.output_tiles(step, piece.index);
    out.evidence = OutputEvidence{
        .trace_root = trace.root(),
        .type = {.dtype = tensor.dtype, .shape = tensor.shape},
        .opening = open_own(tensor, tiles, piece, trace.path(piece.index))};
    return out;
}

}  // namespace assay::dispute
