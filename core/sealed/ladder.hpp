// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/canonical/node.hpp>

/// How the plaintext of a state is cut, so that each chunk can be checked alone against a node of the state's Merkle
/// tree (SEA-7 to SEA-9).
namespace assay::sealed {

/// The most plaintext that a chunk has, in bytes. All chunks of tiles have so much, but the last of a tensor.
inline constexpr std::uint32_t kChunkBytes = 16'384;
/// The most bytes of a chunk with its tag.
inline constexpr std::uint32_t kSealedChunkBytes = kChunkBytes + 16;
/// The most chunks of a group.
inline constexpr std::uint64_t kMaxChunks = 0xffff'ffff;
/// SEA-7: what a chunk has of a group's leaves and of nodes, each a power of two by its logarithm: 256 entries of the
/// list of tensors (41 bytes each), or 512 hashes.
inline constexpr std::uint32_t kEntriesLog = 8;
inline constexpr std::uint32_t kHashesLog = 9;
/// Tiles of a chunk, by its logarithm: as many as have 16,384 bytes. i8: 16 tiles, bf16: 8, f32 and i32: 4, i64: 2.
constexpr std::uint32_t tiles_log(canonical::DType dtype) {
    switch (canonical::size_of(dtype)) {
        case 1:
            return 4;
        case 2:
            return 3;
        case 8:
            return 1;
        default:
            return 2;
    }
}

/// SEA-8: an entry of the list of tensors, from which the tensor's commitment is computed (TRC-2).
struct ListEntry {
    canonical::TensorType type;
    Hash256 tile_root;
    bool operator==(const ListEntry&) const = default;
    static constexpr auto fields() { return Fields<&ListEntry::type, &ListEntry::tile_root>{}; }
};
inline constexpr std::size_t kListEntryBytes = 41;

/// What a chunk has, and which node of the group's tree its contents fold to.
struct ChunkPlace {
    std::uint32_t level = 0;        ///< 0: tiles or entries of the list; above: hashes of nodes
    std::uint64_t first_item = 0;   ///< index of its first tile, entry or node
    std::uint32_t item_count = 0;   ///< at least 1
    std::uint32_t item_height = 0;  ///< of these in the group's tree
    std::uint32_t node_height = 0;  ///< of the node that the chunk folds to
    std::uint64_t node_index = 0;   ///< of that node among those of its height
    bool operator==(const ChunkPlace&) const = default;
};

/// SEA-7: the chunks of one group of a sealed state. Levels are numbered from the leaves of the group's tree up, and
/// chunks from the top level, which has one chunk, down.
class Ladder {
  public:
    /// Group 0, the list of a state's tensors. `tensors` must be at least 1.
    static Ladder of_list(std::uint32_t tensors);
    /// Group 1 + i, the tiles of tensor i, which must have an element.
    static Ladder of_tensor(const canonical::TensorType& type);

    std::uint64_t chunk_count() const { return levels_.back().first_chunk + levels_.back().chunks; }
    std::uint32_t level_count() const { return static_cast<std::uint32_t>(levels_.size()); }
    /// Number of the first chunk of a level, and how many it has.
    std::uint64_t first_chunk(std::uint32_t level) const { return at(level).first_chunk; }
    std::uint64_t chunks_of(std::uint32_t level) const { return at(level).chunks; }
    /// Height of the group's tree, whose root is the tensor's tile root, or the Merkle root of the state.
    std::uint32_t root_height() const { return root_height_; }
    /// Leaves of the group's tree: tiles, or tensors.
    std::uint64_t leaf_count() const { return leaf_count_; }

    /// `chunk` must be below chunk_count().
    ChunkPlace place(std::uint64_t chunk) const;
    /// Bytes of the plaintext of the chunk at `place`.
    std::uint32_t plaintext_bytes(const ChunkPlace& place) const;
    /// SEA-9: the node that a chunk's plaintext folds to; nullopt if it has not the length that its place asks for, or
    /// an entry of the list has no such type.
    std::optional<Hash256> fold(const ChunkPlace& place, ByteView plaintext) const;

  private:
    struct Level {
        std::uint64_t items = 0;
        std::uint64_t chunks = 0;
        std::uint32_t item_height = 0;
        std::uint32_t items_log = 0;  ///< items of a chunk
        std::uint64_t first_chunk = 0;
    };
    Ladder(std::uint64_t leaf_count, std::uint32_t items_log, std::optional<canonical::DType> dtype);
    const Level& at(std::uint32_t level) const { return levels_[levels_.size() - 1 - level]; }
    std::uint32_t item_bytes(std::uint32_t level) const;

    std::optional<canonical::DType> dtype_;
    std::uint64_t leaf_count_;
    std::uint32_t root_height_;
    std::vector<Level> levels_;  // the top level first
};

/// The node `height` levels above the first of `nodes`, which lie at `item_height`; what is missing on the right are
/// empty subtrees (MRK-3). There must be at least one node, and at most 2^height.
Hash256 fold_nodes(std::span<const Hash256> nodes, std::uint32_t item_height, std::uint32_t height) noexcept;
/// The siblings of the node at `index` among all `nodes` of height `item_height`, up to `root_height`, its own first.
std::vector<Hash256> path_among(
    std::span<const Hash256> nodes, std::uint64_t index, std::uint32_t item_height, std::uint32_t root_height
);

}  // namespace assay::sealed
