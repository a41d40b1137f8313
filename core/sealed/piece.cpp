// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/piece.hpp>

#include <algorithm>
#include <vector>

#include <core/base/integers.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/merkle/tree.hpp>

namespace assay::sealed {
namespace {

Hash256 leaf_of(std::uint32_t chunk_bytes, const Hash256& pieces_root) {
    static const crypto::TaggedHash kTag("assay/sealed-chunk");
    return kTag(codec::encode(chunk_bytes), pieces_root.view());
}

/// The hashes of a chunk's pieces.
std::vector<Hash256> piece_leaves(ByteView chunk) {
    std::vector<Hash256> leaves;
    for (std::uint32_t piece = 0; piece < piece_count(static_cast<std::uint32_t>(chunk.size())); ++piece) {
        leaves.push_back(piece_leaf(piece_of(chunk, piece)));
    }
    return leaves;
}

}  // namespace

Hash256 piece_leaf(ByteView piece) noexcept {
    static const crypto::TaggedHash kTag("assay/sealed-piece");
    return kTag(piece);
}

std::uint32_t piece_count(std::uint32_t chunk_bytes) noexcept {
    return std::max(1U, div_ceil<std::uint32_t>(chunk_bytes, kPieceBytes));
}

ByteView piece_of(ByteView chunk, std::uint32_t piece) noexcept {
    const std::size_t first = std::min(chunk.size(), std::size_t{piece} * kPieceBytes);
    return chunk.subspan(first, std::min<std::size_t>(kPieceBytes, chunk.size() - first));
}

Hash256 sealed_leaf(ByteView sealed_chunk) noexcept {
    return leaf_of(static_cast<std::uint32_t>(sealed_chunk.size()), merkle::root_of(piece_leaves(sealed_chunk)));
}

PieceOpening open_piece(const SealedOpening& chunk, std::uint32_t piece) {
    const merkle::Tree tree(piece_leaves(chunk.bytes));
    const ByteView bytes = piece_of(chunk.bytes, piece);
    return {
        .groups = chunk.groups,
        .group = chunk.group,
        .chunks = chunk.chunks,
        .chunk = chunk.chunk,
        .size = static_cast<std::uint32_t>(chunk.bytes.size()),
        .piece = piece,
        .bytes = Bytes(bytes.begin(), bytes.end()),
        .piece_path = tree.path(piece),
        .chunk_path = chunk.chunk_path,
        .group_path = chunk.group_path};
}

bool is_well_formed(const PieceOpening& opening) noexcept {
    if (opening.groups == 0 || opening.groups > kMaxGroups || opening.group >= opening.groups || opening.chunks == 0 ||
        opening.chunk >= opening.chunks || opening.size > kSealedChunkBytes) {
        return false;
    }
    const std::uint32_t pieces = piece_count(opening.size);
    if (opening.piece >= pieces) {
        return false;
    }
    const std::size_t first = std::size_t{opening.piece} * kPieceBytes;
    return opening.bytes.size() == std::min<std::size_t>(kPieceBytes, opening.size - first) &&
           opening.piece_path.size() == merkle::tree_depth(pieces) &&
           opening.chunk_path.size() == merkle::tree_depth(opening.chunks) &&
           opening.group_path.size() == merkle::tree_depth(opening.groups);
}

Hash256 sealed_root_of(const PieceOpening& opening) noexcept {
    const auto pieces =
        merkle::root_from_path(piece_leaf(opening.bytes), opening.piece, piece_count(opening.size), opening.piece_path);
    const auto chunks = merkle::root_from_path(
        leaf_of(opening.size, pieces.value()), opening.chunk, opening.chunks, opening.chunk_path
    );
    const auto groups = merkle::root_from_path(
        group_commitment(opening.chunks, chunks.value()), opening.group, opening.groups, opening.group_path
    );
    return sealed_root(opening.groups, groups.value());
}

}  // namespace assay::sealed
