// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/sealed/sealed_tree.hpp>

/// Pieces of sealed chunks, small enough to show on the chain that somebody has a sealed file (SEA-10). Nothing here
/// needs a key.
namespace assay::sealed {

inline constexpr std::size_t kPieceBytes = 4'096;

/// How many pieces a chunk of so many bytes has: at least one.
std::uint32_t piece_count(std::uint32_t chunk_bytes) noexcept;
/// kPieceBytes of the chunk, or what is left of it.
ByteView piece_of(ByteView chunk, std::uint32_t piece) noexcept;

/// SEA-10: the leaf of a piece, "assay/sealed-piece" over its bytes.
Hash256 piece_leaf(ByteView piece) noexcept;

/// One piece of a chunk, with its path to the sealed root.
struct PieceOpening {
    std::uint32_t groups = 0;  ///< of the file
    std::uint32_t group = 0;
    std::uint32_t chunks = 0;  ///< of the group
    std::uint32_t chunk = 0;   ///< within the group
    std::uint32_t size = 0;    ///< of the chunk, in bytes
    std::uint32_t piece = 0;   ///< within the chunk
    Bytes bytes;
    std::vector<Hash256> piece_path;  ///< siblings of the piece's leaf in the chunk's tree, its own first
    std::vector<Hash256> chunk_path;
    std::vector<Hash256> group_path;
    bool operator==(const PieceOpening&) const = default;
    static constexpr auto fields() {
        return Fields<
            &PieceOpening::groups, &PieceOpening::group, &PieceOpening::chunks, &PieceOpening::chunk,
            &PieceOpening::size, &PieceOpening::piece, &PieceOpening::bytes, &PieceOpening::piece_path,
            &PieceOpening::chunk_path, &PieceOpening::group_path>{};
    }
};

/// The opening of one piece of a chunk that is opened.
PieceOpening open_piece(const SealedOpening& chunk, std::uint32_t piece);
/// Whether the piece can be one of a file: indices below the counts, and bytes and paths of the lengths that these ask
/// for.
bool is_well_formed(const PieceOpening& opening) noexcept;
/// The root that a well-formed opening leads to.
Hash256 sealed_root_of(const PieceOpening& opening) noexcept;

}  // namespace assay::sealed
