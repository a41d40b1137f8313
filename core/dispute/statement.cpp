// SPDX-License-Identifier: Apache-2.0
#include <core/dispute/statement.hpp>

#include <string>

#include <core/base/integers.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/merkle/tree.hpp>
#include <core/dispute/commitment.hpp>
#include <core/dispute/rules.hpp>

namespace assay::dispute {
namespace {

using canonical::kTileDim;
using canonical::Node;
using canonical::Source;
using canonical::TensorType;
using canonical::Tile;

constexpr std::size_t kMaxValueBytes = 8;

Result<void, StatementError> require(bool condition, StatementError error) {
    return condition ? Result<void, StatementError>() : Unexpected{error};
}

Result<void, StatementError> check_stated(const StatedPiece& stated) {
    const bool is_stated =
        is_well_formed(stated.piece) &&
        merkle::root_from_path(piece_leaf(stated.piece), stated.index, stated.statement.pieces, stated.path) ==
            stated.statement.root;
    return require(is_stated, StatementError::kNotStated);
}

bool is_within(const canonical::Shape& shape, const Piece& piece) {
    return std::uint64_t{piece.row} + piece.rows <= shape.rows && std::uint64_t{piece.col} + piece.cols <= shape.cols;
}

/// The commitment of the tensor to which the opened tile belongs, if the piece lies in that tile.
Result<Hash256, StatementError> opened_tensor(const TensorType& type, const TileOpening& opening, const Piece& piece) {
    const std::uint64_t tile = tile_of(type.shape, piece);
    const StateOpening whole{.tensor = 0, .tile = tile, .type = type, .opening = opening};
    TRY(require(is_well_formed(whole) && is_within(type.shape, piece), StatementError::kNotOpened));
    const auto root =
        merkle::root_from_path(tile_leaf(opening.tile), tile, canonical::tile_count(type.shape), opening.tile_path);
    TRY(require(root.has_value(), StatementError::kNotOpened));
    return tensor_commitment(type, *root);
}

Result<void, StatementError> check_differs(const Piece& piece, const std::optional<Hash256>& found) {
    TRY(require(found.has_value(), StatementError::kNotOpened));
    return require(*found != piece.values, StatementError::kNoContradiction);
}

/// The claim up to the step of the statement.
Claim up_to(const Claim& segment, std::uint64_t step, const Hash256& after) {
    Claim claim = segment;
    claim.step_count = static_cast<std::uint32_t>(step - segment.first_step + 1);
    claim.after = after;
    claim.diverges = false;
    return claim;
}

using Accusation = Result<std::optional<Claim>, StatementError>;

Accusation accuse(const Claim& segment, const Contradiction& at, const OutputEvidence& evidence) {
    const Piece& piece = at.stated.piece;
    TRY(require(piece.source == Source::kNode && !piece.part, StatementError::kNotOpened));
    TRY_ASSIGN(const Hash256 tensor, opened_tensor(evidence.type, evidence.opening, piece));
    // The last entry is the state root, which is no tensor.
    const std::uint32_t entries = entry_count(segment);
    const bool is_entry =
        piece.index + std::uint64_t{1} < entries &&
        merkle::root_from_path(tensor, piece.index, entries, evidence.opening.source_path) == evidence.trace_root;
    TRY(require(is_entry, StatementError::kNotOpened));
    TRY(check_differs(piece, values_of(piece, evidence.opening.tile)));
    Claim claim = up_to(segment, at.stated.statement.step, at.state_root);
    claim.trace = ClaimedTrace{.root = evidence.trace_root, .part = {}};
    return claim;
}

Accusation accuse(const Claim& segment, const Contradiction& at, const StateEvidence& evidence) {
    const Piece& piece = at.stated.piece;
    TRY(require(piece.source == Source::kState && !piece.part, StatementError::kNotOpened));
    TRY_ASSIGN(const Hash256 tensor, opened_tensor(evidence.type, evidence.opening, piece));
    const std::uint32_t tensors = segment.program.state_tensors;
    const auto root = merkle::root_from_path(tensor, piece.index, tensors, evidence.opening.source_path);
    const bool is_tensor = root && state_root_from(tensors, *root) == at.state_root;
    TRY(require(is_tensor, StatementError::kNotOpened));
    TRY(check_differs(piece, values_of(piece, evidence.opening.tile)));
    const std::uint64_t step = at.stated.statement.step;
    if (step == segment.first_step) {
        TRY(require(at.state_root == segment.before, StatementError::kNotOpened));
        return std::optional<Claim>();
    }
    return up_to(segment, step - 1, at.state_root);
}

Accusation accuse(const Claim& segment, const Contradiction& at, const PartEvidence& evidence) {
    const Piece& piece = at.stated.piece;
    TRY(require(piece.source == Source::kNode && piece.part, StatementError::kNotOpened));
    const auto* node = std::get_if<Node>(&evidence.node.node);
    TRY(require(node != nullptr && is_program_node(segment, piece.index, evidence.node), StatementError::kNotInProgram)
    );
    TRY(require(is_within(node->shape, piece), StatementError::kNotOpened));
    Claim claim = up_to(segment, at.stated.statement.step, at.state_root);
    claim.trace = ClaimedTrace{
        .root = evidence.trace_root,
        .part = PartClaim{
            .node = piece.index,
            .tile = tile_of(node->shape, piece),
            .partials = *piece.part,
            .accumulator = accumulator_hash(evidence.accumulator)}};
    const DisputedStep step{.number = at.stated.statement.step, .state_before = {}, .state_after = {}};
    DisputedTile tile{
        .node = {.step = step, .trace_root = {}, .index = piece.index, .claim = {}, .node = *node},
        .index = claim.trace->part->tile,
        .claim = {},
        .is_part = true};
    TRY(require(is_part_possible(claim, tile), StatementError::kNotInProgram));
    TRY(check_differs(piece, values_of(piece, *node, evidence.accumulator)));
    return claim;
}

}  // namespace

std::uint64_t tile_of(const canonical::Shape& shape, const Piece& piece) noexcept {
    return piece.row / kTileDim * canonical::tile_cols(shape) + piece.col / kTileDim;
}

std::optional<Hash256> values_of(const Piece& piece, const Tile& tile) {
    const std::size_t size = size_of(tile.dtype);
    if (size != piece.width) {
        return std::nullopt;
    }
    Bytes values;
    for (std::size_t i = 0; i < piece.rows; ++i) {
        const std::size_t at = (piece.row % kTileDim + i) * kTileDim + piece.col % kTileDim;
        append(values, ByteView(tile.data).subspan(at * size, piece.cols * size));
    }
    return values_hash(values);
}

std::optional<Hash256> values_of(const Piece& piece, const Node& node, const canonical::Accumulator& part) {
    Bytes values;
    for (std::uint32_t i = 0; i < piece.rows; ++i) {
        for (std::uint32_t j = 0; j < piece.cols; ++j) {
            const auto value = canonical::part_value(node, part, piece.row % kTileDim + i, piece.col % kTileDim + j);
            const bool is_sum = value && value->size() == kMaxValueBytes;
            if (!value || (is_sum ? piece.width > value->size() : piece.width != value->size())) {
                return std::nullopt;
            }
            append(values, ByteView(*value).first(piece.width));
        }
    }
    return values_hash(values);
}

StatedOrder order_of(std::uint64_t step, const Piece& piece) noexcept {
    return {
        .step = step,
        .is_output = piece.source == Source::kNode,
        .index = piece.index,
        .is_whole = !piece.part,
        .hop = piece.hop};
}

bool is_well_formed(const Piece& piece) noexcept {
    const bool has_values = piece.rows > 0 && piece.cols > 0 && piece.width > 0 && piece.width <= kMaxValueBytes;
    const bool is_in_tile =
        piece.row % kTileDim + piece.rows <= kTileDim && piece.col % kTileDim + piece.cols <= kTileDim;
    const bool is_part = piece.source == Source::kNode && piece.part && piece.part->is_well_formed();
    return canonical::is_valid(piece.source) && has_values && is_in_tile && (!piece.part || is_part);
}

const crypto::TaggedHash& values_tag() noexcept {
    static const crypto::TaggedHash kTag("assay/values");
    return kTag;
}

Hash256 values_hash(ByteView values) noexcept { return values_tag()(values); }

Hash256 piece_leaf(const Piece& piece) noexcept {
    static const crypto::TaggedHash kTag("assay/piece");
    return kTag(codec::encode(piece));
}

Hash256 statement_digest(std::string_view chain_id, const Statement& statement) noexcept {
    static const crypto::TaggedHash kTag("assay/statement");
    return kTag(codec::encode(std::string(chain_id)), codec::encode(statement));
}

Result<std::optional<Claim>, StatementError> make_accusation(const Claim& segment, const Contradiction& contradiction) {
    TRY(check_stated(contradiction.stated));
    const Statement& statement = contradiction.stated.statement;
    const bool is_here = !segment.initialisation && statement.before == segment.before &&
                         statement.step >= segment.first_step && statement.step <= last_step(segment);
    TRY(require(is_here, StatementError::kWrongStep));
    return std::visit(
        [&](const auto& evidence) { return accuse(segment, contradiction, evidence); }, contradiction.evidence
    );
}

Result<void, StatementError> check_equivocation(const StatedPiece& one, const StatedPiece& other) noexcept {
    TRY(check_stated(one));
    TRY(check_stated(other));
    Piece same = one.piece;
    same.values = other.piece.values;
    const bool is_same_subject = one.statement.task == other.statement.task &&
                                 one.statement.before == other.statement.before &&
                                 one.statement.session == other.statement.session &&
                                 one.statement.step == other.statement.step && same == other.piece;
    TRY(require(is_same_subject, StatementError::kWrongStep));
    return require(one.piece.values != other.piece.values, StatementError::kNoContradiction);
}

}  // namespace assay::dispute
