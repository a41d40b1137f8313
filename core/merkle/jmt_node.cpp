// SPDX-License-Identifier: Apache-2.0
#include <core/merkle/jmt_node.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>

namespace assay::merkle {
namespace {

template <std::size_t kPrefix>
Hash256 prefixed(std::string_view prefix, const Hash256& first, const Hash256& second) noexcept {
    std::array<std::uint8_t, kPrefix + 64> input{};
    const ByteView start = as_bytes(prefix);
    std::copy(start.begin(), start.end(), input.begin());
    std::copy(first.data.begin(), first.data.end(), input.begin() + kPrefix);
    std::copy(second.data.begin(), second.data.end(), input.begin() + kPrefix + 32);
    return crypto::sha256(input);
}

constexpr Positions kAllChildren = 0xFFFF0000U;

Summary summary_of(const Child& child, std::uint64_t& hashes) {
    if (const auto* leaf = std::get_if<Leaf>(&child)) {
        ++hashes;
        return {Summary::What::kLeaf, leaf_hash(leaf->hashes)};
    }
    if (const auto* inner = std::get_if<InnerRef>(&child)) {
        return {Summary::What::kInner, inner->hash};
    }
    return {};
}

}  // namespace

Hash256 leaf_hash(const LeafHashes& leaf) noexcept {
    return prefixed<kLeafPrefix.size()>(kLeafPrefix, leaf.key_hash, leaf.value_hash);
}

Hash256 inner_hash(const Hash256& left, const Hash256& right) noexcept {
    return prefixed<kInnerPrefix.size()>(kInnerPrefix, left, right);
}

std::uint8_t nibble_at(const Hash256& key, std::size_t depth) {
    const std::uint8_t byte = key.data[depth / 2];
    return static_cast<std::uint8_t>(depth % 2 == 0 ? byte >> 4U : byte & 15U);
}

bool bit_at(const Hash256& key, std::size_t index) {
    const std::uint32_t byte = key.data[index / 8];
    return ((byte >> (7 - index % 8)) & 1U) != 0;
}

Summary join(const Summary& left, const Summary& right, std::uint64_t& hashes) {
    if (left.what == Summary::What::kEmpty && right.what != Summary::What::kInner) {
        return right;
    }
    if (right.what == Summary::What::kEmpty && left.what != Summary::What::kInner) {
        return left;
    }
    ++hashes;
    return {Summary::What::kInner, inner_hash(left.hash, right.hash)};
}

Summary join(const Summary& left, const Summary& right) {
    std::uint64_t uncounted = 0;
    return join(left, right, uncounted);
}

void refresh(Heap& heap, const Node& node, Positions changed, std::uint64_t& hashes) {
    for (std::size_t at = 2 * kWidth - 1; at >= 1; --at) {
        if (at >= kWidth && (changed >> at & 1U) != 0) {
            heap[at] = summary_of(node.children[at - kWidth], hashes);
        } else if (at < kWidth && (changed >> (2 * at) & 3U) != 0) {
            heap[at] = join(heap[2 * at], heap[2 * at + 1], hashes);
            changed |= Positions{1} << at;
        }
    }
}

Heap heap_of(const Node& node, std::uint64_t& hashes) {
    Heap heap;
    refresh(heap, node, kAllChildren, hashes);
    return heap;
}

Heap heap_of(const Node& node) {
    std::uint64_t uncounted = 0;
    return heap_of(node, uncounted);
}

Hash256 hash_of(const Node& node) { return heap_of(node)[1].hash; }

Node read(const NodeReader& reader, const NodeKey& key) {
    const std::optional<Bytes> bytes = reader.read_node(key);
    ASSERT(bytes.has_value());
    auto node = codec::decode<Node>(*bytes);
    ASSERT(node.has_value());
    return *node;
}

Node read_root(const NodeReader& reader, std::uint64_t version) { return read(reader, NodeKey{version, {}}); }

Node read_inner(const NodeReader& reader, const InnerRef& reference, const Bytes& path) {
    Node node = read(reader, NodeKey{reference.version, path});
    ASSERT(hash_of(node) == reference.hash);
    return node;
}

}  // namespace assay::merkle
