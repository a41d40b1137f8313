// SPDX-License-Identifier: Apache-2.0
#include <verifier/stores/block_index.hpp>

#include <algorithm>
#include <utility>

#include <core/codec/borsh.hpp>

namespace assay::stores {
namespace {

constexpr std::uint32_t kVersion = 1;

auto key_of(const IndexEntry& entry) { return std::pair(entry.artifact, entry.is_leaves); }

std::uint64_t parts(std::uint64_t whole, std::uint64_t part) { return whole / part + (whole % part == 0 ? 0 : 1); }

}  // namespace

const IndexEntry* BlockIndex::find(const Hash256& artifact, bool is_leaves) const {
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const IndexEntry& entry) {
        return entry.artifact == artifact && entry.is_leaves == is_leaves;
    });
    return found == entries.end() ? nullptr : &*found;
}

void BlockIndex::put(IndexEntry entry) {
    const auto at =
        std::lower_bound(entries.begin(), entries.end(), key_of(entry), [](const IndexEntry& known, const auto& key) {
            return key_of(known) < key;
        });
    if (at != entries.end() && key_of(*at) == key_of(entry)) {
        *at = std::move(entry);
    } else {
        entries.insert(at, std::move(entry));
    }
}

std::uint64_t block_count(std::uint64_t size_bytes) noexcept { return parts(size_bytes, kBlockBytes); }
std::uint64_t list_count(std::uint64_t size_bytes) noexcept { return parts(block_count(size_bytes), kHashesPerList); }

Bytes encode_block_index(const BlockIndex& index) { return codec::encode(index); }

std::optional<BlockIndex> decode_block_index(ByteView bytes) {
    if (bytes.size() > kBlockBytes) {
        return std::nullopt;
    }
    auto index = codec::decode<BlockIndex>(bytes);
    if (!index || index->version != kVersion) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < index->entries.size(); ++i) {
        const IndexEntry& entry = index->entries[i];
        if (entry.lists.size() != list_count(entry.size_bytes) ||
            (i > 0 && key_of(index->entries[i - 1]) >= key_of(entry))) {
            return std::nullopt;
        }
    }
    return *std::move(index);
}

std::optional<std::vector<Hash256>> decode_block_list(ByteView bytes, std::uint64_t count) {
    if (bytes.size() != count * Hash256::kSizeBytes) {
        return std::nullopt;
    }
    std::vector<Hash256> out(count);
    for (Hash256& hash : out) {
        std::copy_n(bytes.begin(), Hash256::kSizeBytes, hash.data.begin());
        bytes = bytes.subspan(Hash256::kSizeBytes);
    }
    return out;
}

}  // namespace assay::stores
