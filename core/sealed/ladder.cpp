// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/ladder.hpp>

#include <algorithm>

#include <core/base/assert.hpp>
#include <core/base/integers.hpp>
#include <core/canonical/tile.hpp>
#include <core/codec/borsh.hpp>
#include <core/dispute/commitment.hpp>
#include <core/merkle/tree.hpp>

namespace assay::sealed {
namespace {

constexpr std::uint32_t kHashBytes = 32;

static_assert(kChunkBytes == kHashBytes << kHashesLog);
static_assert(kListEntryBytes << kEntriesLog <= kChunkBytes && kListEntryBytes << (kEntriesLog + 1) > kChunkBytes);

std::vector<Hash256> hashes_in(ByteView bytes) {
    std::vector<Hash256> out(bytes.size() / kHashBytes);
    for (std::size_t i = 0; i < out.size(); ++i) {
        std::copy_n(bytes.data() + i * kHashBytes, kHashBytes, out[i].data.begin());
    }
    return out;
}

/// The leaves of the state's tree that the entries commit to; nullopt if one is no entry.
std::optional<std::vector<Hash256>> commitments_in(ByteView bytes) {
    std::vector<Hash256> out;
    for (std::size_t at = 0; at < bytes.size(); at += kListEntryBytes) {
        const auto entry = codec::decode<ListEntry>(bytes.subspan(at, kListEntryBytes));
        if (!entry) {
            return std::nullopt;
        }
        out.push_back(dispute::tensor_commitment(entry->type, entry->tile_root));
    }
    return out;
}

std::vector<Hash256> tile_leaves_in(ByteView bytes, canonical::DType dtype) {
    const std::size_t size = std::size_t{canonical::kTileElements} * canonical::size_of(dtype);
    std::vector<Hash256> out;
    canonical::Tile tile{dtype, Bytes(size)};
    for (std::size_t at = 0; at < bytes.size(); at += size) {
        std::copy_n(bytes.data() + at, size, tile.data.data());
        out.push_back(dispute::tile_leaf(tile));
    }
    return out;
}

}  // namespace

Ladder Ladder::of_list(std::uint32_t tensors) {
    ASSERT(tensors >= 1);
    return {tensors, kEntriesLog, std::nullopt};
}

Ladder Ladder::of_tensor(const canonical::TensorType& type) {
    ASSERT(type.shape.element_count() != 0);
    return {canonical::tile_count(type.shape), tiles_log(type.dtype), type.dtype};
}

Ladder::Ladder(std::uint64_t leaf_count, std::uint32_t items_log, std::optional<canonical::DType> dtype)
    : dtype_(dtype), leaf_count_(leaf_count), root_height_(merkle::tree_depth(leaf_count)) {
    Level level{.items = leaf_count, .chunks = 0, .item_height = 0, .items_log = items_log, .first_chunk = 0};
    while (true) {
        level.chunks = div_ceil(level.items, std::uint64_t{1} << level.items_log);
        levels_.push_back(level);
        if (level.chunks == 1) {
            break;
        }
        level.items = level.chunks;
        level.item_height += level.items_log;
        level.items_log = kHashesLog;
    }
    std::reverse(levels_.begin(), levels_.end());
    std::uint64_t first = 0;
    for (Level& each : levels_) {
        each.first_chunk = first;
        first += each.chunks;
    }
}

ChunkPlace Ladder::place(std::uint64_t chunk) const {
    ASSERT(chunk < chunk_count());
    std::uint32_t number = 0;
    while (at(number).first_chunk > chunk) {
        ++number;
    }
    const Level& level = at(number);
    const std::uint64_t index = chunk - level.first_chunk;
    const std::uint64_t first = index << level.items_log;
    const std::uint64_t most = std::uint64_t{1} << level.items_log;
    return {
        .level = number,
        .first_item = first,
        .item_count = static_cast<std::uint32_t>(std::min(most, level.items - first)),
        .item_height = level.item_height,
        .node_height = level.chunks == 1 ? root_height_ : level.item_height + level.items_log,
        .node_index = index,
    };
}

std::uint32_t Ladder::item_bytes(std::uint32_t level) const {
    if (level != 0) {
        return kHashBytes;
    }
    return dtype_ ? canonical::kTileElements * canonical::size_of(*dtype_) : std::uint32_t{kListEntryBytes};
}

std::uint32_t Ladder::plaintext_bytes(const ChunkPlace& place) const {
    return place.item_count * item_bytes(place.level);
}

std::optional<Hash256> Ladder::fold(const ChunkPlace& place, ByteView plaintext) const {
    if (plaintext.size() != plaintext_bytes(place)) {
        return std::nullopt;
    }
    std::optional<std::vector<Hash256>> items;
    if (place.level != 0) {
        items = hashes_in(plaintext);
    } else {
        items = dtype_ ? tile_leaves_in(plaintext, *dtype_) : commitments_in(plaintext);
    }
    if (!items) {
        return std::nullopt;
    }
    return fold_nodes(*items, place.item_height, place.node_height - place.item_height);
}

Hash256 fold_nodes(std::span<const Hash256> nodes, std::uint32_t item_height, std::uint32_t height) noexcept {
    ASSERT(!nodes.empty() && merkle::tree_depth(nodes.size()) <= height);
    std::vector<Hash256> level(nodes.begin(), nodes.end());
    for (std::uint32_t step = 0; step < height; ++step) {
        const std::size_t parents = (level.size() + 1) / 2;
        for (std::size_t i = 0; i < parents; ++i) {
            const Hash256& right = 2 * i + 1 < level.size() ? level[2 * i + 1] : merkle::empty_root(item_height + step);
            level[i] = merkle::hash_children(level[2 * i], right);
        }
        level.resize(parents);
    }
    return level.front();
}

std::vector<Hash256> path_among(
    std::span<const Hash256> nodes, std::uint64_t index, std::uint32_t item_height, std::uint32_t root_height
) {
    ASSERT(index < nodes.size() && merkle::tree_depth(nodes.size()) <= root_height - item_height);
    std::vector<Hash256> level(nodes.begin(), nodes.end());
    std::vector<Hash256> path;
    for (std::uint32_t height = item_height; height < root_height; ++height) {
        const std::uint64_t sibling = (index >> (height - item_height)) ^ 1U;
        path.push_back(sibling < level.size() ? level[sibling] : merkle::empty_root(height));
        const std::size_t parents = (level.size() + 1) / 2;
        for (std::size_t i = 0; i < parents; ++i) {
            const Hash256& right = 2 * i + 1 < level.size() ? level[2 * i + 1] : merkle::empty_root(height);
            level[i] = merkle::hash_children(level[2 * i], right);
        }
        level.resize(parents);
    }
    return path;
}

}  // namespace assay::sealed
