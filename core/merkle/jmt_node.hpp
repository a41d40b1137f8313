// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <variant>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/merkle/jmt.hpp>

/// What a stored node of the tree is made of; for this module's own files.
namespace assay::merkle {

inline constexpr std::size_t kMaxNibbles = 64;
inline constexpr std::size_t kMaxBits = 256;
inline constexpr std::size_t kWidth = 16;

/// No key lies below this slot.
struct Empty {
    constexpr auto operator<=>(const Empty&) const = default;
    static constexpr auto fields() { return Fields<>{}; }
};

/// Two keys or more lie below: a node of its own, written by `version`.
struct InnerRef {
    std::uint64_t version = 0;
    Hash256 hash;
    constexpr auto operator<=>(const InnerRef&) const = default;
    static constexpr auto fields() { return Fields<&InnerRef::version, &InnerRef::hash>{}; }
};

/// A lone key lies in its parent's slot, so that leaves need no node. The version that wrote its value is no part of
/// any hash: it says where the value is.
struct Leaf {
    LeafHashes hashes;
    std::uint64_t version = 0;
    constexpr auto operator<=>(const Leaf&) const = default;
    static constexpr auto fields() { return Fields<&Leaf::hashes, &Leaf::version>{}; }
};

using Child = std::variant<Empty, Leaf, InnerRef>;

/// One physical node: four levels of the binary tree. The root is always stored, every other node has two keys or
/// more below it.
struct Node {
    std::array<Child, kWidth> children;
    bool operator==(const Node&) const = default;
    static constexpr auto fields() { return Fields<&Node::children>{}; }
};

/// JMT-2: SHA-256 over the prefix and two hashes, for leaves and for inner nodes.
Hash256 leaf_hash(const LeafHashes& leaf) noexcept;
Hash256 inner_hash(const Hash256& left, const Hash256& right) noexcept;

/// Nibbles of a key's hash, the most significant first.
std::uint8_t nibble_at(const Hash256& key, std::size_t depth);

/// What lies below one position of the binary tree. JMT-3: a lone leaf stands for every subtree that holds it alone.
struct Summary {
    enum class What : std::uint8_t { kEmpty, kLeaf, kInner };
    What what = What::kEmpty;
    Hash256 hash = empty_tree_root();
};
/// `hashes` counts the digests computed.
Summary join(const Summary& left, const Summary& right, std::uint64_t& hashes);
Summary join(const Summary& left, const Summary& right);

/// The binary tree inside a node as a heap: position 1 is the node, positions 16 to 31 are its children.
using Heap = std::array<Summary, 2 * kWidth>;
Heap heap_of(const Node& node, std::uint64_t& hashes);
Heap heap_of(const Node& node);
Hash256 hash_of(const Node& node);

/// Sets of positions, bit i for position i.
using Positions = std::uint32_t;
/// Brings `heap` to `node`, whose children at `changed` are others than those that the heap is of.
void refresh(Heap& heap, const Node& node, Positions changed, std::uint64_t& hashes);

/// A node in memory with those of its children that were needed lately. Its heap is of the children but for those at
/// `changed`.
struct KeptNode {
    std::uint64_t version = 0;
    Node node;
    Heap heap;
    Positions changed = 0;
    std::array<std::unique_ptr<KeptNode>, kWidth> below;
};

/// A stored node, unchecked; the root of a version; the node behind a reference. What is not there or does not hash
/// right aborts.
Node read(const NodeReader& reader, const NodeKey& key);
Node read_root(const NodeReader& reader, std::uint64_t version);
Node read_inner(const NodeReader& reader, const InnerRef& reference, const Bytes& path);

/// The proof for the key with this hash.
JmtProof prove_hash(const NodeReader& reader, std::uint64_t version, const Hash256& key_hash);

/// Adds `leaves`, in ascending order and all after those there, to the tree of `version` that is being made: its nodes
/// are written anew under the same version. `begun`: it has leaves already.
TreeUpdate extend_tree(
    const NodeReader& reader, bool begun, std::uint64_t version, const std::vector<LeafHashes>& leaves
);

}  // namespace assay::merkle
