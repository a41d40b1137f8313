// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <core/base/result.hpp>
#include <core/merkle/range.hpp>

/// Snapshots (CMT-12): the state of one height in chunks that any node can verify.
namespace assay::snapshot {

/// The only snapshot format.
inline constexpr std::uint32_t kFormat = 1;
/// A chunk ends when its slots reach this many bytes; it has at least one slot.
inline constexpr std::size_t kChunkBytes = std::size_t{1} << 20U;
/// The most chunks that the engine accepts in a snapshot.
inline constexpr std::size_t kChunksMax = 100'000;

/// A slot of the state: its key and value.
struct Slot {
    Bytes key;
    Bytes value;
    bool operator==(const Slot&) const = default;
    static constexpr auto fields() { return Fields<&Slot::key, &Slot::value>{}; }
};

/// Consecutive slots in the order of the hashes of their keys, with a proof that none is missing (merkle::Range).
struct Chunk {
    std::vector<Slot> slots;
    std::vector<Hash256> left;
    std::vector<Hash256> right;
    bool operator==(const Chunk&) const = default;
    static constexpr auto fields() { return Fields<&Chunk::slots, &Chunk::left, &Chunk::right>{}; }
};

/// Returns the tree leaves that the chunk stands for, with their range proof.
merkle::Range to_range(const Chunk& chunk);

/// Returns nullopt if the bytes are not a chunk.
std::optional<Chunk> decode_chunk(ByteView bytes);

/// The metadata that announces a snapshot. With the hash of each chunk a node can tell which peer sent a bad one.
struct Metadata {
    Height height;
    std::vector<Hash256> chunks;  ///< SHA-256 of each
    bool operator==(const Metadata&) const = default;
    static constexpr auto fields() { return Fields<&Metadata::height, &Metadata::chunks>{}; }
};

/// Returns nullopt if the bytes are not metadata, or list no chunks or too many.
std::optional<Metadata> decode_metadata(ByteView bytes);

}  // namespace assay::snapshot
