// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>

/// ART-22: how artifacts lie in a store of blocks that are named by their SHA-256.
namespace assay::stores {

/// A file is cut into blocks of this size, the last of which may be shorter. Nodes take no longer ones.
inline constexpr std::uint64_t kBlockBytes = 1U << 20U;
/// The blocks' hashes are blocks themselves, of so many hashes each.
inline constexpr std::uint64_t kHashesPerList = kBlockBytes / Hash256::kSizeBytes;

struct IndexEntry {
    Hash256 artifact;
    bool is_leaves = false;
    std::uint64_t size_bytes = 0;
    std::vector<Hash256> lists;  ///< SHA-256 of the lists of the blocks' hashes
    bool operator==(const IndexEntry&) const = default;
    static constexpr auto fields() {
        return Fields<&IndexEntry::artifact, &IndexEntry::is_leaves, &IndexEntry::size_bytes, &IndexEntry::lists>{};
    }
};

/// The block that a location names: what lies there, by artifact, the bytes before the hashes.
struct BlockIndex {
    std::uint32_t version = 1;
    std::vector<IndexEntry> entries;
    bool operator==(const BlockIndex&) const = default;
    static constexpr auto fields() { return Fields<&BlockIndex::version, &BlockIndex::entries>{}; }

    /// Returns nullptr if there is none.
    const IndexEntry* find(const Hash256& artifact, bool is_leaves) const;
    void put(IndexEntry entry);
};

std::uint64_t block_count(std::uint64_t size_bytes) noexcept;
/// How many lists a file of this size has.
std::uint64_t list_count(std::uint64_t size_bytes) noexcept;

Bytes encode_block_index(const BlockIndex& index);
/// Returns nullopt unless the bytes are an index of version 1: at most a block, entries in ascending order, each with
/// as many lists as its size demands.
std::optional<BlockIndex> decode_block_index(ByteView bytes);

/// Returns nullopt unless the bytes are `count` hashes.
std::optional<std::vector<Hash256>> decode_block_list(ByteView bytes, std::uint64_t count);

}  // namespace assay::stores
