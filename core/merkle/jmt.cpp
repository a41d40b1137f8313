// SPDX-License-Identifier: Apache-2.0
#include <core/merkle/jmt.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <variant>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>

namespace assay::merkle {
namespace {

constexpr std::string_view kLeafPrefix = "JMT::LeafNode";
constexpr std::string_view kInnerPrefix = "JMT::IntrnalNode";  // spelled so in the format
constexpr std::size_t kMaxNibbles = 64;
constexpr std::size_t kMaxBits = 256;
constexpr std::size_t kWidth = 16;

/// No key lies below this slot.
struct Empty {
    constexpr auto operator<=>(const Empty&) const = default;
    static constexpr auto fields() { return std::tuple{}; }
};

/// Two keys or more lie below: a node of its own, written by `version`.
struct InnerRef {
    std::uint64_t version = 0;
    Hash256 hash;
    constexpr auto operator<=>(const InnerRef&) const = default;
    static constexpr auto fields() { return std::tuple{&InnerRef::version, &InnerRef::hash}; }
};

/// A lone key lies in its parent's slot, so that leaves need no node.
using Child = std::variant<Empty, LeafHashes, InnerRef>;

/// One physical node: four levels of the binary tree. The root is always stored, every other node has two keys or
/// more below it.
struct Node {
    std::array<Child, kWidth> children;
    bool operator==(const Node&) const = default;
    static constexpr auto fields() { return std::tuple{&Node::children}; }
};

template <std::size_t kPrefix>
Hash256 prefixed(std::string_view prefix, const Hash256& first, const Hash256& second) noexcept {
    std::array<std::uint8_t, kPrefix + 64> input{};
    const ByteView start = as_bytes(prefix);
    std::copy(start.begin(), start.end(), input.begin());
    std::copy(first.data.begin(), first.data.end(), input.begin() + kPrefix);
    std::copy(second.data.begin(), second.data.end(), input.begin() + kPrefix + 32);
    return crypto::sha256(input);
}

/// JMT-2: SHA-256 over the prefix and two hashes, for leaves and for inner nodes.
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

/// What lies below one position of the binary tree. JMT-3: a lone leaf stands for every subtree that holds it alone.
struct Summary {
    enum class What : std::uint8_t { kEmpty, kLeaf, kInner };
    What what = What::kEmpty;
    Hash256 hash = empty_tree_root();
};

/// `hashes` counts the digests computed.
Summary summary_of(const Child& child, std::uint64_t& hashes) {
    if (const auto* leaf = std::get_if<LeafHashes>(&child)) {
        ++hashes;
        return {Summary::What::kLeaf, leaf_hash(*leaf)};
    }
    if (const auto* inner = std::get_if<InnerRef>(&child)) {
        return {Summary::What::kInner, inner->hash};
    }
    return {};
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

/// The binary tree inside a node as a heap: position 1 is the node, positions 16 to 31 are its children.
using Heap = std::array<Summary, 2 * kWidth>;

/// Sets of positions, bit i for position i.
using Positions = std::uint32_t;
constexpr Positions kAllChildren = 0xFFFF0000U;

/// Brings `heap` to `node`, whose children at `changed` are others than those that the heap is of.
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
    return *std::move(node);
}

Node read_inner(const NodeReader& reader, const InnerRef& reference, const Bytes& path) {
    Node node = read(reader, NodeKey{reference.version, path});
    ASSERT(hash_of(node) == reference.hash);
    return node;
}

struct Change {
    Hash256 key_hash;
    std::optional<Hash256> value_hash;
};

/// A node being changed: its heap is of the children but for those at `changed`.
struct Work {
    Node node;
    Heap heap;
    Positions changed = 0;
};

/// One batch of changes on its way down the tree. Depth is at most 64 nibbles, so the recursion is bounded.
class Updater {
  public:
    Updater(const NodeReader& reader, std::uint64_t version) : reader_(reader), version_(version) {}

    TreeUpdate run(std::optional<std::uint64_t> base_version, std::span<const Change> changes) {
        Work root;
        if (base_version) {
            const NodeKey old{*base_version, {}};
            root = load(old);
            out_.stale.push_back(old);
        }
        apply(root, changes);
        out_.root = write(root);
        return std::move(out_);
    }

  private:
    Work load(const NodeKey& key) {
        Work work{read(reader_, key), {}, 0};
        work.heap = heap_of(work.node, out_.hashes);
        return work;
    }

    /// Applies `changes`, all below the current path, to the children of `work`.
    void apply(Work& work, std::span<const Change> changes) {
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
            Child after = apply_to_child(child, changes.first(count));
            if (after != child) {
                child = after;
                work.changed |= Positions{1} << (kWidth + nibble);
            }
            path_.pop_back();
            changes = changes.subspan(count);
        }
    }

    Child apply_to_child(const Child& old, std::span<const Change> changes) {
        if (const auto* inner = std::get_if<InnerRef>(&old)) {
            Work work = load(NodeKey{inner->version, path_});
            ASSERT(work.heap[1].hash == inner->hash);
            apply(work, changes);
            if (work.changed == 0) {
                return old;
            }
            out_.stale.push_back(NodeKey{inner->version, path_});
            return collapse(work);
        }
        std::vector<Change> puts;
        const auto* leaf = std::get_if<LeafHashes>(&old);
        bool leaf_waits = leaf != nullptr;
        for (const Change& change : changes) {
            if (leaf_waits && leaf->key_hash <= change.key_hash) {
                leaf_waits = false;
                if (leaf->key_hash != change.key_hash) {
                    puts.push_back(Change{leaf->key_hash, leaf->value_hash});
                }
            }
            if (change.value_hash) {
                puts.push_back(change);
            }
        }
        if (leaf_waits) {
            puts.push_back(Change{leaf->key_hash, leaf->value_hash});
        }
        return build(puts);
    }

    /// The subtree of `puts` alone, where nothing was before.
    Child build(std::span<const Change> puts) {
        if (puts.empty()) {
            return Empty{};
        }
        if (puts.size() == 1) {
            return LeafHashes{puts.front().key_hash, *puts.front().value_hash};
        }
        Work work;
        apply(work, puts);
        return collapse(work);
    }

    /// JMT-3: a node with one leaf left below it becomes that leaf.
    Child collapse(Work& work) {
        const Child* only = nullptr;
        for (const Child& child : work.node.children) {
            if (std::holds_alternative<InnerRef>(child) ||
                (only != nullptr && !std::holds_alternative<Empty>(child))) {
                return InnerRef{version_, write(work)};
            }
            if (std::holds_alternative<LeafHashes>(child)) {
                only = &child;
            }
        }
        return only == nullptr ? Child{Empty{}} : *only;
    }

    Hash256 write(Work& work) {
        refresh(work.heap, work.node, work.changed, out_.hashes);
        out_.nodes.emplace_back(NodeKey{version_, path_}, codec::encode(work.node));
        return work.heap[1].hash;
    }

    const NodeReader& reader_;
    std::uint64_t version_;
    Bytes path_;
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
    const NodeReader& reader,
    std::optional<std::uint64_t> base_version,
    std::uint64_t version,
    const std::map<Bytes, std::optional<Bytes>>& changes
) {
    ASSERT(!base_version || *base_version < version);
    std::vector<Change> hashed;
    hashed.reserve(changes.size());
    for (const auto& [key, value] : changes) {
        hashed.push_back(Change{crypto::sha256(key), std::nullopt});
        if (value) {
            hashed.back().value_hash = crypto::sha256(*value);
        }
    }
    std::sort(hashed.begin(), hashed.end(), [](const Change& a, const Change& b) { return a.key_hash < b.key_hash; });
    auto update = Updater(reader, version).run(base_version, hashed);
    for (const Change& change : hashed) {
        update.hashes += change.value_hash ? 2U : 1U;
    }
    return update;
}

JmtProof prove(const NodeReader& reader, std::uint64_t version, ByteView key) {
    const Hash256 key_hash = crypto::sha256(key);
    JmtProof proof;
    Node node = read(reader, NodeKey{version, {}});
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
                proof.leaf = std::get<LeafHashes>(node.children[at - kWidth]);
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

Hash256 root_at(const NodeReader& reader, std::uint64_t version) {
    return hash_of(read(reader, NodeKey{version, {}}));
}

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
