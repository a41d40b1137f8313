// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/result.hpp>

/// Jellyfish Merkle Tree with SHA-256 over all key-value pairs of the state (JMT rules; hashes as in penumbra-zone/jmt
/// 0.12, whose test vectors are checked). Purely functional: it reads old nodes through NodeReader and returns the
/// nodes to write. Versions are block heights; old versions remain provable until pruned.
namespace assay::merkle {

/// Storage key of a node: the version that wrote it, and its nibble path. `to_key` puts the version first, big-endian,
/// so that a log-structured store appends.
struct NodeKey {
    std::uint64_t version = 0;
    Bytes nibbles;  ///< one nibble (0..15) per byte, at most 64
    auto operator<=>(const NodeKey&) const = default;
};
Bytes to_key(const NodeKey& key);

/// Access to encoded nodes. The encoding is private to this module and is checked when nodes are read back.
class NodeReader {
  public:
    virtual ~NodeReader() = default;
    virtual std::optional<Bytes> read_node(const NodeKey& key) const = 0;
};

/// A leaf whose value was written by `version`.
struct WrittenLeaf {
    Hash256 key_hash;
    std::uint64_t version = 0;
    bool operator==(const WrittenLeaf&) const = default;
};

struct TreeUpdate {
    Hash256 root;
    std::vector<std::pair<NodeKey, Bytes>> nodes;  ///< to be written under `version`
    std::vector<NodeKey> stale;                    ///< not reachable from `version` on; to be pruned
    std::vector<WrittenLeaf> stale_leaves;         ///< leaves whose values `version` replaced or deleted
    std::uint64_t hashes = 0;                      ///< number of SHA-256 digests computed, for measurements
};

/// JMT-2: prefixes of the hash inputs of leaves and inner nodes.
inline constexpr std::string_view kLeafPrefix = "JMT::LeafNode";
inline constexpr std::string_view kInnerPrefix = "JMT::IntrnalNode";  // this spelling is part of the format

/// JMT-1: the root of the empty tree: the ASCII bytes SPARSE_MERKLE_PLACEHOLDER_HASH__.
const Hash256& empty_tree_root() noexcept;

struct KeptNode;

/// Nodes kept in memory by an update, so that the next one does not read and hash them again. Safe to use with another
/// tree: a node is used only if its parent refers to its version and hash, or, for the root, if its version is the base
/// version. Useful for one tree at a time, whose versions follow each other.
struct NodeCache {
    explicit NodeCache(std::size_t max);
    ~NodeCache();
    NodeCache(const NodeCache&) = delete;
    NodeCache& operator=(const NodeCache&) = delete;

    const std::size_t
        nodes_max;         ///< an update first empties the cache if `made` has reached this; a node takes about 2.5 kB
    std::size_t made = 0;  ///< nodes added since the cache was last empty; an upper bound of its size
    std::unique_ptr<KeptNode> root;
};

/// A key's new value, as hashes; nullopt deletes the key.
struct LeafChange {
    Hash256 key_hash;
    std::optional<Hash256> value_hash;
};

/// Applies `changes` (raw key -> new value, nullopt deletes) to the tree of `base_version` (nullopt: the empty tree)
/// and returns the tree of `version` (> base_version). Without changes the root node is copied to `version`. Aborts
/// through ASSERT if storage lost or altered a node, which means a bug or a broken disk.
TreeUpdate update_tree(
    const NodeReader& reader, std::optional<std::uint64_t> base_version, std::uint64_t version,
    const std::map<Bytes, std::optional<Bytes>>& changes, NodeCache* cache = nullptr
);
/// The same for changes that are hashed already, in ascending order of key hash.
TreeUpdate update_leaves(
    const NodeReader& reader, std::optional<std::uint64_t> base_version, std::uint64_t version,
    const std::vector<LeafChange>& changes, NodeCache* cache = nullptr
);

/// The leaf at the end of a path, as hashes.
struct LeafHashes {
    Hash256 key_hash;
    Hash256 value_hash;
    constexpr auto operator<=>(const LeafHashes&) const = default;
    static constexpr auto fields() { return Fields<&LeafHashes::key_hash, &LeafHashes::value_hash>{}; }
};

/// Proves inclusion if `leaf` is the key's own; exclusion if the path ends in another leaf or an empty subtree.
struct JmtProof {
    std::optional<LeafHashes> leaf;
    std::vector<Hash256> siblings;  ///< from the leaf upwards, at most 256
    bool operator==(const JmtProof&) const = default;
    static constexpr auto fields() { return Fields<&JmtProof::leaf, &JmtProof::siblings>{}; }
};

/// The proof for `key` in the tree of `version`.
JmtProof prove(const NodeReader& reader, std::uint64_t version, ByteView key);

/// JMT-3: bit `index` of a key's hash, most significant first.
bool bit_at(const Hash256& key_hash, std::size_t index);

/// The nearest leaves on both sides of a key hash, not counting its own leaf; nullopt at an end of the tree.
struct Neighbours {
    std::optional<LeafHashes> left;
    std::optional<LeafHashes> right;
    bool operator==(const Neighbours&) const = default;
};

/// JMT-6: the neighbours of `key_hash` in the tree of `version`; the key itself need not exist.
Neighbours find_neighbours(const NodeReader& reader, std::uint64_t version, const Hash256& key_hash);

/// The version that wrote the value of `key_hash` in the tree of `version`; nullopt if the key does not exist. Writing
/// an unchanged value keeps the earlier version. In a tree that was built from leaves: the version given to the
/// builder.
std::optional<std::uint64_t> leaf_version(const NodeReader& reader, std::uint64_t version, const Hash256& key_hash);

/// The root of the tree of `version`.
Hash256 root_at(const NodeReader& reader, std::uint64_t version);

enum class [[nodiscard]] ProofError : std::uint8_t{
    kTooDeep = 1,
    kWrongLeaf = 2,  ///< the leaf does not support the claim
    kWrongRoot = 3,
};

/// JMT-5: checks that `key` has `value` under `root`, or with nullopt that `key` does not exist. Fails with why the
/// proof does not show it.
Result<void, ProofError> verify_proof(
    const Hash256& root, ByteView key, const std::optional<Bytes>& value, const JmtProof& proof
) noexcept;

}  // namespace assay::merkle
