// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <variant>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/merkle/jmt.hpp>

/// Stored nodes of the tree; used only inside this module.
namespace assay::merkle {

inline constexpr std::size_t kMaxNibbles = 64;
inline constexpr std::size_t kMaxBits = 256;
inline constexpr std::size_t kWidth = 16;

/// A slot with no keys below it.
struct Empty {
    constexpr auto operator<=>(const Empty&) const = default;
    static constexpr auto fields() { return Fields<>{}; }
};

/// A slot with two or more keys below it: refers to a separate node that `version` wrote.
struct InnerRef {
    std::uint64_t version = 0;
    Hash256 hash;
    constexpr auto operator<=>(const InnerRef&) const = default;
    static constexpr auto fields() { return Fields<&InnerRef::version, &InnerRef::hash>{}; }
};

/// A slot with a single key, which is stored in the parent's slot so that leaves need no node. The version that wrote
/// its value is not part of any hash; it tells where the value is stored.
struct Leaf {
    LeafHashes hashes;
    std::uint64_t version = 0;
    constexpr auto operator<=>(const Leaf&) const = default;
    static constexpr auto fields() { return Fields<&Leaf::hashes, &Leaf::version>{}; }
};

using Child = std::variant<Empty, Leaf, InnerRef>;

/// One stored node: four levels of the binary tree. The root is always stored; every other node has at least two keys
/// below it.
struct Node {
    std::array<Child, kWidth> children;
    bool operator==(const Node&) const = default;
    static constexpr auto fields() { return Fields<&Node::children>{}; }
};

/// JMT-2: SHA-256 over the prefix and two hashes, for leaves and for inner nodes.
Hash256 leaf_hash(const LeafHashes& leaf) noexcept;
Hash256 inner_hash(const Hash256& left, const Hash256& right) noexcept;

/// Nibble `depth` of a key's hash, most significant first.
std::uint8_t nibble_at(const Hash256& key, std::size_t depth);

/// Summary of the subtree at one position of the binary tree. JMT-3: a single leaf stands for every subtree that
/// contains only it.
struct Summary {
    enum class What : std::uint8_t { kEmpty, kLeaf, kInner };
    What what = What::kEmpty;
    Hash256 hash = empty_tree_root();
};
/// `hashes` is increased by the number of digests computed.
Summary join(const Summary& left, const Summary& right, std::uint64_t& hashes);
Summary join(const Summary& left, const Summary& right);

/// The binary tree inside a node as a heap: position 1 is the node itself, positions 16 to 31 are its children.
using Heap = std::array<Summary, 2 * kWidth>;
Heap heap_of(const Node& node, std::uint64_t& hashes);
Heap heap_of(const Node& node);
Hash256 hash_of(const Node& node);

/// A set of positions; bit i for position i.
using Positions = std::uint32_t;
/// Updates `heap` to `node`, whose children at `changed` differ from those for which the heap was computed.
void refresh(Heap& heap, const Node& node, Positions changed, std::uint64_t& hashes);

/// A node in memory, with those of its children that were recently used. `heap` is up to date except for the children
/// at `changed`.
struct KeptNode {
    std::uint64_t version = 0;
    Node node;
    Heap heap;
    Positions changed = 0;
    std::array<std::unique_ptr<KeptNode>, kWidth> below;
};

/// Read a node by key; the root of a version; the node that a reference names, whose hash is checked against it. Abort
/// if the node is missing, does not decode, or has the wrong hash.
Node read(const NodeReader& reader, const NodeKey& key);
Node read_root(const NodeReader& reader, std::uint64_t version);
Node read_inner(const NodeReader& reader, const InnerRef& reference, const Bytes& path);

/// The proof for the key with this hash.
JmtProof prove_hash(const NodeReader& reader, std::uint64_t version, const Hash256& key_hash);

/// Adds `leaves`, in ascending order and all after the existing ones, to the tree of `version`, which is under
/// construction: its nodes are rewritten under the same version. `begun`: the tree already has leaves.
TreeUpdate extend_tree(
    const NodeReader& reader, bool begun, std::uint64_t version, const std::vector<LeafHashes>& leaves
);

}  // namespace assay::merkle
