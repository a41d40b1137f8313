// SPDX-License-Identifier: Apache-2.0
#include <core/merkle/jmt.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <variant>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/merkle/jmt_node.hpp>

namespace assay::merkle {
namespace {

/// A slot of the tree: what is there and its path.
struct Slot {
    Child child;
    Bytes path;
};

enum class End : std::uint8_t { kLeft, kRight };

/// The leaf at one end of what lies below `slot`.
std::optional<LeafHashes> leaf_at_end(const NodeReader& reader, Slot slot, End end) {
    while (const auto* inner = std::get_if<InnerRef>(&slot.child)) {
        const Node node = read_inner(reader, *inner, slot.path);
        std::size_t at = end == End::kLeft ? 0 : kWidth - 1;
        while (std::holds_alternative<Empty>(node.children[at])) {
            at += end == End::kLeft ? std::size_t{1} : ~std::size_t{0};
        }
        slot.child = node.children[at];
        slot.path.push_back(static_cast<std::uint8_t>(at));
    }
    const auto* leaf = std::get_if<Leaf>(&slot.child);
    return leaf != nullptr ? std::optional(leaf->hashes) : std::nullopt;
}

/// A change with the version that its leaf is of: an older one where a leaf only moves.
struct Change {
    Hash256 key_hash;
    std::optional<Hash256> value_hash;
    std::uint64_t version = 0;
};

Change move_of(const Leaf& leaf) { return {leaf.hashes.key_hash, leaf.hashes.value_hash, leaf.version}; }

/// One batch of changes on its way down the tree. Depth is at most 64 nibbles, so the recursion is bounded.
class Updater {
  public:
    Updater(const NodeReader& reader, std::uint64_t version, NodeCache& cache)
        : reader_(reader), version_(version), cache_(cache) {}

    TreeUpdate run(std::optional<std::uint64_t> base_version, std::span<const Change> changes) {
        if (cache_.made >= cache_.nodes_max) {
            cache_.root.reset();
            cache_.made = 0;
        }
        std::unique_ptr<KeptNode>& root = cache_.root;
        if (!base_version) {
            root = make();
        } else if (root == nullptr || root->version != *base_version) {
            root = load(NodeKey{*base_version, {}});
        }
        if (base_version) {
            out_.stale.push_back(NodeKey{*base_version, {}});
        }
        apply(*root, changes);
        out_.root = write(*root);
        return std::move(out_);
    }

  private:
    std::unique_ptr<KeptNode> make() {
        ++cache_.made;
        return std::make_unique<KeptNode>();
    }

    std::unique_ptr<KeptNode> load(const NodeKey& key) {
        auto kept = make();
        kept->version = key.version;
        kept->node = read(reader_, key);
        kept->heap = heap_of(kept->node, out_.hashes);
        return kept;
    }

    // NOLINTBEGIN(misc-no-recursion): ends after at most kMaxNibbles levels
    /// Applies `changes`, all below the current path, to the children of `work`.
    void apply(KeptNode& work, std::span<const Change> changes) {
        const std::size_t depth = path_.size();
        ASSERT(depth < kMaxNibbles);
        while (!changes.empty()) {
            const std::uint8_t nibble = nibble_at(changes.front().key_hash, depth);
            std::size_t count = 1;
            while (count < changes.size() && nibble_at(changes[count].key_hash, depth) == nibble) {
                ++count;
            }
            path_.push_back(nibble);
            Child& child = work.node.children[nibble];
            Child after = apply_to_child(child, work.below[nibble], changes.first(count));
            if (after != child) {
                child = after;
                work.changed |= Positions{1} << (kWidth + nibble);
            }
            if (!std::holds_alternative<InnerRef>(child) || cache_.made >= cache_.nodes_max) {
                work.below[nibble].reset();
            }
            path_.pop_back();
            changes = changes.subspan(count);
        }
    }

    Child apply_to_child(const Child& old, std::unique_ptr<KeptNode>& kept, std::span<const Change> changes) {
        if (const auto* inner = std::get_if<InnerRef>(&old)) {
            if (kept == nullptr || kept->version != inner->version || kept->heap[1].hash != inner->hash) {
                kept = load(NodeKey{inner->version, path_});
                ASSERT(kept->heap[1].hash == inner->hash);
            }
            apply(*kept, changes);
            if (kept->changed == 0) {
                return old;
            }
            out_.stale.push_back(NodeKey{inner->version, path_});
            return collapse(*kept);
        }
        std::vector<Change> puts;
        const auto* leaf = std::get_if<Leaf>(&old);
        bool leaf_waits = leaf != nullptr;
        for (const Change& change : changes) {
            if (leaf_waits && leaf->hashes.key_hash <= change.key_hash) {
                leaf_waits = false;
                if (is_kept(*leaf, change)) {
                    puts.push_back(move_of(*leaf));
                }
                if (leaf->hashes.key_hash == change.key_hash && leaf->hashes.value_hash == change.value_hash) {
                    continue;
                }
            }
            if (change.value_hash) {
                puts.push_back(change);
            }
        }
        if (leaf_waits) {
            puts.push_back(move_of(*leaf));
        }
        return build(kept, puts);
    }

    /// Whether `leaf` stays as it is beside `change`, the first at or after it.
    bool is_kept(const Leaf& leaf, const Change& change) {
        if (leaf.hashes.key_hash != change.key_hash || leaf.hashes.value_hash == change.value_hash) {
            return true;
        }
        out_.stale_leaves.push_back({.key_hash = leaf.hashes.key_hash, .version = leaf.version});
        return false;
    }

    /// The subtree of `puts` alone, where nothing was before.
    Child build(std::unique_ptr<KeptNode>& kept, std::span<const Change> puts) {
        if (puts.empty()) {
            return Empty{};
        }
        if (puts.size() == 1) {
            const Change& only = puts.front();
            return Leaf{{only.key_hash, *only.value_hash}, only.version};
        }
        kept = make();
        apply(*kept, puts);
        return collapse(*kept);
    }
    // NOLINTEND(misc-no-recursion)

    /// JMT-3: a node with one leaf left below it becomes that leaf.
    Child collapse(KeptNode& work) {
        const Child* only = nullptr;
        for (const Child& child : work.node.children) {
            if (std::holds_alternative<InnerRef>(child) || (only != nullptr && !std::holds_alternative<Empty>(child))) {
                return InnerRef{version_, write(work)};
            }
            if (std::holds_alternative<Leaf>(child)) {
                only = &child;
            }
        }
        return only == nullptr ? Child{Empty{}} : *only;
    }

    Hash256 write(KeptNode& work) {
        refresh(work.heap, work.node, std::exchange(work.changed, 0), out_.hashes);
        work.version = version_;
        encoded_.clear();
        codec::encode_to(encoded_, work.node);
        out_.nodes.emplace_back(NodeKey{version_, path_}, encoded_);
        return work.heap[1].hash;
    }

    const NodeReader& reader_;
    const std::uint64_t version_;
    NodeCache& cache_;
    Bytes path_;
    Bytes encoded_;  ///< of the last node: its room is used again
    TreeUpdate out_;
};

}  // namespace

/// JMT-4: big-endian, so that keys of one version lie together and after those of older ones.
Bytes to_key(const NodeKey& key) {
    Bytes out;
    out.reserve(8 + key.nibbles.size());
    for (std::uint32_t shift = 64; shift != 0; shift -= 8) {
        out.push_back(static_cast<std::uint8_t>(key.version >> (shift - 8)));
    }
    append(out, key.nibbles);
    return out;
}

NodeCache::NodeCache(std::size_t max) : nodes_max(max) {}
NodeCache::~NodeCache() = default;

const Hash256& empty_tree_root() noexcept {
    static const Hash256 kRoot = [] {
        constexpr std::string_view kText = "SPARSE_MERKLE_PLACEHOLDER_HASH__";
        static_assert(kText.size() == Hash256::kSizeBytes);
        Hash256 root;
        std::copy(kText.begin(), kText.end(), root.data.begin());
        return root;
    }();
    return kRoot;
}

TreeUpdate update_tree(
    const NodeReader& reader, std::optional<std::uint64_t> base_version, std::uint64_t version,
    const std::map<Bytes, std::optional<Bytes>>& changes, NodeCache* cache
) {
    std::vector<LeafChange> hashed;
    hashed.reserve(changes.size());
    for (const auto& [key, value] : changes) {
        hashed.push_back({crypto::sha256(key), value ? std::optional(crypto::sha256(*value)) : std::nullopt});
    }
    std::sort(hashed.begin(), hashed.end(), [](const LeafChange& a, const LeafChange& b) {
        return a.key_hash < b.key_hash;
    });
    return update_leaves(reader, base_version, version, hashed, cache);
}

TreeUpdate update_leaves(
    const NodeReader& reader, std::optional<std::uint64_t> base_version, std::uint64_t version,
    const std::vector<LeafChange>& changes, NodeCache* cache
) {
    ASSERT(!base_version || *base_version < version);
    std::vector<Change> versioned;
    versioned.reserve(changes.size());
    for (const LeafChange& change : changes) {
        versioned.push_back({change.key_hash, change.value_hash, version});
    }
    NodeCache none(0);
    auto update = Updater(reader, version, cache != nullptr ? *cache : none).run(base_version, versioned);
    for (const LeafChange& change : changes) {
        update.hashes += change.value_hash ? 2U : 1U;
    }
    return update;
}

TreeUpdate extend_tree(
    const NodeReader& reader, bool begun, std::uint64_t version, const std::vector<LeafHashes>& leaves
) {
    std::vector<Change> puts;
    puts.reserve(leaves.size());
    for (const LeafHashes& leaf : leaves) {
        puts.push_back({leaf.key_hash, leaf.value_hash, version});
    }
    NodeCache none(0);
    TreeUpdate update = Updater(reader, version, none).run(begun ? std::optional(version) : std::nullopt, puts);
    // Nothing goes: every node that was read is among those to write, under its old key.
    update.stale.clear();
    return update;
}

JmtProof prove(const NodeReader& reader, std::uint64_t version, ByteView key) {
    return prove_hash(reader, version, crypto::sha256(key));
}

JmtProof prove_hash(const NodeReader& reader, std::uint64_t version, const Hash256& key_hash) {
    JmtProof proof;
    Node node = read_root(reader, version);
    Bytes path;
    while (true) {
        const Heap heap = heap_of(node);
        std::size_t at = 1;
        while (at < kWidth && heap[at].what == Summary::What::kInner) {
            const std::size_t next = 2 * at + (bit_at(key_hash, proof.siblings.size()) ? 1U : 0U);
            proof.siblings.push_back(heap[next ^ 1U].hash);
            at = next;
        }
        if (heap[at].what != Summary::What::kInner) {
            while (at < kWidth && heap[at].what == Summary::What::kLeaf) {
                at = heap[2 * at].what == Summary::What::kLeaf ? 2 * at : 2 * at + 1;
            }
            if (heap[at].what == Summary::What::kLeaf) {
                proof.leaf = std::get<Leaf>(node.children[at - kWidth]).hashes;
            }
            break;
        }
        path.push_back(static_cast<std::uint8_t>(at - kWidth));
        ASSERT(path.size() < kMaxNibbles);
        const InnerRef inner = std::get<InnerRef>(node.children[at - kWidth]);
        node = read_inner(reader, inner, path);
    }
    std::reverse(proof.siblings.begin(), proof.siblings.end());
    return proof;
}

Neighbours find_neighbours(const NodeReader& reader, std::uint64_t version, const Hash256& key_hash) {
    Slot left;  // the nearest that was passed on either side
    Slot right;
    Node node = read_root(reader, version);
    Bytes path;
    while (true) {
        const std::uint8_t nibble = nibble_at(key_hash, path.size());
        const auto keep = [&](Slot& nearest, std::size_t at) {
            nearest = {node.children[at], path};
            nearest.path.push_back(static_cast<std::uint8_t>(at));
        };
        for (std::size_t at = 0; at < nibble; ++at) {
            if (!std::holds_alternative<Empty>(node.children[at])) {
                keep(left, at);
            }
        }
        for (std::size_t at = kWidth - 1; at > nibble; --at) {
            if (!std::holds_alternative<Empty>(node.children[at])) {
                keep(right, at);
            }
        }
        if (const auto* leaf = std::get_if<Leaf>(&node.children[nibble]); leaf && leaf->hashes.key_hash != key_hash) {
            keep(leaf->hashes.key_hash < key_hash ? left : right, nibble);
        }
        const auto* inner = std::get_if<InnerRef>(&node.children[nibble]);
        if (inner == nullptr) {
            break;
        }
        path.push_back(nibble);
        ASSERT(path.size() < kMaxNibbles);
        node = read_inner(reader, InnerRef(*inner), path);
    }
    return {leaf_at_end(reader, std::move(left), End::kRight), leaf_at_end(reader, std::move(right), End::kLeft)};
}

std::optional<std::uint64_t> leaf_version(const NodeReader& reader, std::uint64_t version, const Hash256& key_hash) {
    Node node = read_root(reader, version);
    Bytes path;
    while (true) {
        const std::uint8_t nibble = nibble_at(key_hash, path.size());
        const Child& child = node.children[nibble];
        if (const auto* leaf = std::get_if<Leaf>(&child)) {
            return leaf->hashes.key_hash == key_hash ? std::optional(leaf->version) : std::nullopt;
        }
        const auto* inner = std::get_if<InnerRef>(&child);
        if (inner == nullptr) {
            return std::nullopt;
        }
        path.push_back(nibble);
        ASSERT(path.size() < kMaxNibbles);
        node = read_inner(reader, InnerRef(*inner), path);
    }
}

Hash256 root_at(const NodeReader& reader, std::uint64_t version) { return hash_of(read_root(reader, version)); }

Result<void, ProofError> verify_proof(
    const Hash256& root, ByteView key, const std::optional<Bytes>& value, const JmtProof& proof
) noexcept {
    const std::size_t depth = proof.siblings.size();
    if (depth > kMaxBits) {
        return Unexpected{ProofError::kTooDeep};
    }
    const Hash256 key_hash = crypto::sha256(key);
    if (value) {
        if (proof.leaf != LeafHashes{key_hash, crypto::sha256(*value)}) {
            return Unexpected{ProofError::kWrongLeaf};
        }
    } else if (proof.leaf) {
        bool on_path = proof.leaf->key_hash != key_hash;
        for (std::size_t i = 0; on_path && i < depth; ++i) {
            on_path = bit_at(proof.leaf->key_hash, i) == bit_at(key_hash, i);
        }
        if (!on_path) {
            return Unexpected{ProofError::kWrongLeaf};
        }
    }
    Hash256 hash = proof.leaf ? leaf_hash(*proof.leaf) : empty_tree_root();
    for (std::size_t i = 0; i < depth; ++i) {
        const Hash256& sibling = proof.siblings[i];
        hash = bit_at(key_hash, depth - 1 - i) ? inner_hash(sibling, hash) : inner_hash(hash, sibling);
    }
    if (hash != root) {
        return Unexpected{ProofError::kWrongRoot};
    }
    return {};
}

}  // namespace assay::merkle
