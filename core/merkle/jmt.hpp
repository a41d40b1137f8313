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

/// Jellyfish Merkle Tree with SHA-256: the root over all key-value pairs of the state (JMT rules; hashing as in
/// penumbra-zone/jmt 0.12, whose vectors are tested). A pure function of node storage: it reads old nodes through
/// NodeReader and returns the nodes to write. Versions are block heights; old versions stay provable until pruned.
namespace assay::merkle {

/// Where a node is stored: the version that wrote it and its nibble path. `to_key` is version-first, big-endian, so
/// that a log-structured store appends.
struct NodeKey {
    std::uint64_t version = 0;
    Bytes nibbles;  ///< one nibble (0..15) per byte, at most 64
    auto operator<=>(const NodeKey&) const = default;
};
Bytes to_key(const NodeKey& key);

/// Encoded nodes by key. The encoding is private to this module and checked when read back.
class NodeReader {
  public:
    virtual ~NodeReader() = default;
    virtual std::optional<Bytes> read_node(const NodeKey& key) const = 0;
};

/// The value that `version` gave a key.
struct WrittenLeaf {
    Hash256 key_hash;
    std::uint64_t version = 0;
    bool operator==(const WrittenLeaf&) const = default;
};

struct TreeUpdate {
    Hash256 root;
    std::vector<std::pair<NodeKey, Bytes>> nodes;  ///< to be written under `version`
    std::vector<NodeKey> stale;                    ///< no longer reachable from `version` on; for pruning
    std::vector<WrittenLeaf> stale_leaves;         ///< whose values `version` replaced or deleted
    std::uint64_t hashes = 0;                      ///< SHA-256 digests computed; for measuring
};

/// JMT-2: what the hash of a leaf and of an inner node begins with.
inline constexpr std::string_view kLeafPrefix = "JMT::LeafNode";
inline constexpr std::string_view kInnerPrefix = "JMT::IntrnalNode";  // spelled so in the format

/// JMT-1: the root of the empty tree, the ASCII bytes SPARSE_MERKLE_PLACEHOLDER_HASH__.
const Hash256& empty_tree_root() noexcept;

struct KeptNode;

/// Nodes that an update left in memory, so that the next one neither reads nor hashes them again. They may be of another
/// tree than the one that is updated next: a node counts only where its parent names its version and its hash, the
/// root where its version is asked for. For one tree at a time, whose versions follow each other.
struct NodeCache {
    explicit NodeCache(std::size_t max);
    ~NodeCache();
    NodeCache(const NodeCache&) = delete;
    NodeCache& operator=(const NodeCache&) = delete;

    const std::size_t nodes_max;  ///< a node takes about 2.5 kB
    std::size_t made = 0;         ///< since it was empty; at least as many as there are
    std::unique_ptr<KeptNode> root;
};

/// A key's new value, as hashes; nullopt deletes.
struct LeafChange {
    Hash256 key_hash;
    std::optional<Hash256> value_hash;
};

/// Applies `changes` (raw key -> new value, nullopt deletes) to the tree of `base_version` (nullopt: empty tree) and
/// returns the tree of `version` (> base_version). With no changes the root node is carried over to `version`.
/// A node that storage lost or altered is a bug or a broken disk, never an answer: it aborts through ASSERT.
TreeUpdate update_tree(
    const NodeReader& reader,
    std::optional<std::uint64_t> base_version,
    std::uint64_t version,
    const std::map<Bytes, std::optional<Bytes>>& changes,
    NodeCache* cache = nullptr
);
/// The same of changes that are hashed already, in ascending order.
TreeUpdate update_leaves(
    const NodeReader& reader,
    std::optional<std::uint64_t> base_version,
    std::uint64_t version,
    const std::vector<LeafChange>& changes,
    NodeCache* cache = nullptr
);

/// The leaf a path ends in, as hashes.
struct LeafHashes {
    Hash256 key_hash;
    Hash256 value_hash;
    constexpr auto operator<=>(const LeafHashes&) const = default;
    static constexpr auto fields() { return Fields<&LeafHashes::key_hash, &LeafHashes::value_hash>{}; }
};

/// Inclusion when `leaf` is the key's own; exclusion when the path ends in another leaf or an empty subtree.
struct JmtProof {
    std::optional<LeafHashes> leaf;
    std::vector<Hash256> siblings;  ///< from the leaf upwards, at most 256
    bool operator==(const JmtProof&) const = default;
    static constexpr auto fields() { return Fields<&JmtProof::leaf, &JmtProof::siblings>{}; }
};

/// The proof for `key` in the tree of `version`.
JmtProof prove(const NodeReader& reader, std::uint64_t version, ByteView key);

/// JMT-3: bits of a key's hash, the most significant first.
bool bit_at(const Hash256& key_hash, std::size_t index);

/// The leaves on either side of a key hash, itself left out; nullopt where the tree ends.
struct Neighbours {
    std::optional<LeafHashes> left;
    std::optional<LeafHashes> right;
    bool operator==(const Neighbours&) const = default;
};

/// JMT-6: the neighbours of `key_hash`, which need not be there, in the tree of `version`.
Neighbours find_neighbours(const NodeReader& reader, std::uint64_t version, const Hash256& key_hash);

/// The version that wrote the value which `key_hash` has in the tree of `version`; nullopt when it has none. A value that
/// is written again unchanged stays the earlier version's. Of a tree that was put together from leaves: the version it got.
std::optional<std::uint64_t> leaf_version(const NodeReader& reader, std::uint64_t version, const Hash256& key_hash);

/// The root of the tree of `version`.
Hash256 root_at(const NodeReader& reader, std::uint64_t version);

enum class [[nodiscard]] ProofError : std::uint8_t {
    kTooDeep = 1,
    kWrongLeaf = 2,   ///< the leaf is not the one that the claim needs
    kWrongRoot = 3,
};

/// JMT-5: `value` present means "key has this value under root", nullopt means "key is not there".
Result<void, ProofError> verify_proof(
    const Hash256& root, ByteView key, const std::optional<Bytes>& value, const JmtProof& proof
) noexcept;

}  // namespace assay::merkle
