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

/// The state of one height as files that any node can check: what a snapshot is made of (CMT-12).
namespace assay::snapshot {

/// The only format there is.
inline constexpr std::uint32_t kFormat = 1;
/// A chunk closes when its slots reach so many bytes; it has at least one.
inline constexpr std::size_t kChunkBytes = std::size_t{1} << 20U;
/// The engine takes no more.
inline constexpr std::size_t kChunksMax = 100'000;

/// A slot of the state with its value.
struct Slot {
    Bytes key;
    Bytes value;
    bool operator==(const Slot&) const = default;
    static constexpr auto fields() { return Fields<&Slot::key, &Slot::value>{}; }
};

/// A run of slots in the order of their keys' hashes, with what proves that none is missing (merkle::Range).
struct Chunk {
    std::vector<Slot> slots;
    std::vector<Hash256> left;
    std::vector<Hash256> right;
    bool operator==(const Chunk&) const = default;
    static constexpr auto fields() { return Fields<&Chunk::slots, &Chunk::left, &Chunk::right>{}; }
};

/// The leaves of the tree that the chunk stands for.
merkle::Range to_range(const Chunk& chunk);

/// nullopt: these bytes are no chunk.
std::optional<Chunk> decode_chunk(ByteView bytes);

/// What a snapshot is announced with: from whom a bad chunk comes is seen by its hash.
struct Metadata {
    Height height;
    std::vector<Hash256> chunks;  ///< SHA-256 of each
    bool operator==(const Metadata&) const = default;
    static constexpr auto fields() { return Fields<&Metadata::height, &Metadata::chunks>{}; }
};

/// nullopt: these bytes are no metadata, or name no chunk or too many.
std::optional<Metadata> decode_metadata(ByteView bytes);

}  // namespace assay::snapshot
