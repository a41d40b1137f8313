// SPDX-License-Identifier: Apache-2.0
#include <node/state/chunk.hpp>

#include <utility>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>

namespace assay::snapshot {

merkle::Range to_range(const Chunk& chunk) {
    merkle::Range range{.leaves = {}, .left = chunk.left, .right = chunk.right};
    range.leaves.reserve(chunk.slots.size());
    for (const Slot& slot : chunk.slots) {
        range.leaves.push_back({crypto::sha256(slot.key), crypto::sha256(slot.value)});
    }
    return range;
}

std::optional<Chunk> decode_chunk(ByteView bytes) {
    auto chunk = codec::decode<Chunk>(bytes);
    return chunk ? std::optional(*std::move(chunk)) : std::nullopt;
}

std::optional<Metadata> decode_metadata(ByteView bytes) {
    auto metadata = codec::decode<Metadata>(bytes);
    if (!metadata || metadata->chunks.empty() || metadata->chunks.size() > kChunksMax) {
        return std::nullopt;
    }
    return *std::move(metadata);
}

}  // namespace assay::snapshot
