// SPDX-License-Identifier: Apache-2.0
#include <core/merkle/jmt.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <variant>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>

namespace assay::merkle {
namespace {

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

Summary summary_of(const Child& child) {
    if (const auto* leaf = std::get_if<LeafHashes>(&child)) {
        return {Summary::What::kLeaf, leaf_hash(*leaf)};
    }
    if (const auto* inner = std::get_if<InnerRef>(&child)) {
        return {Summary::What::kInner, inner->hash};
    }
    return {};
}

Summary join(const Summary& left, const Summary& right) {
    if (left.what == Summary::What::kEmpty && right.what != Summary::What::kInner) {
        return right;
    }
    if (right.what == Summary::What::kEmpty && left.what != Summary::What::kInner) {
        return left;
    }
    return {Summary::What::kInner, inner_hash(left.hash, right.hash)};
}

/// The binary tree inside a node as a heap: position 1 is the node, positions 16 to 31 are its children.
using Heap = std::array<Summary, 2 * kWidth>;

Heap heap_of(const Node& node) {
    Heap heap;
    for (std::size_t i = 0; i < kWidth; ++i) {
        heap[kWidth + i] = summary_of(node.children[i]);
    }
    for (std::size_t i = kWidth - 1; i >= 1; --i) {
        heap[i] = join(heap[2 * i], heap[2 * i + 1]);
    }
    return heap;
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
    const auto* leaf = std::get_if<LeafHashes>(&slot.child);
    return leaf != nullptr ? std::optional(*leaf) : std::nullopt;
}

struct Change {
    Hash256 key_hash;
    std::optional<Hash256> value_hash;
};

/// One batch of changes on its way down the tree. Depth is at most 64 nibbles, so the recursion is bounded.
class Updater {
  public:
    Updater(const NodeReader& reader, std::uint64_t version) : reader_(reader), version_(version) {}

    TreeUpdate run(std::optional<std::uint64_t> base_version, std::span<const Change> changes) {
        Node root;
        if (base_version) {
            const NodeKey old{*base_version, {}};
            root = read(reader_, old);
            out_.stale.push_back(old);
        }
        apply(root, changes);
        out_.root = write(root);
        return std::move(out_);
    }

  private:
    /// Applies `changes`, all below the current path, to the children of `node`.
    void apply(Node& node, std::span<const Change> changes) {
        const std::size_t depth = path_.size();
        ASSERT(depth < kMaxNibbles);
        while (!changes.empty()) {
            const std::uint8_t nibble = nibble_at(changes.front().key_hash, depth);
            std::size_t count = 1;
            while (count < changes.size() && nibble_at(changes[count].key_hash, depth) == nibble) {
                ++count;
            }
            path_.push_back(nibble);
            node.children[nibble] = apply_to_child(node.children[nibble], changes.first(count));
            path_.pop_back();
            changes = changes.subspan(count);
        }
    }

    Child apply_to_child(const Child& old, std::span<const Change> changes) {
        if (const auto* inner = std::get_if<InnerRef>(&old)) {
            const Node before = read_inner(reader_, *inner, path_);
            Node after = before;
            apply(after, changes);
            if (after == before) {
                return old;
            }
            out_.stale.push_back(NodeKey{inner->version, path_});
            return collapse(after);
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
        Node node;
        apply(node, puts);
        return collapse(node);
    }

    /// JMT-3: a node with one leaf left below it becomes that leaf.
    Child collapse(const Node& node) {
        const Child* only = nullptr;
        for (const Child& child : node.children) {
            if (std::holds_alternative<InnerRef>(child) ||
                (only != nullptr && !std::holds_alternative<Empty>(child))) {
                return InnerRef{version_, write(node)};
            }
            if (std::holds_alternative<LeafHashes>(child)) {
                only = &child;
            }
        }
        return only == nullptr ? Child{Empty{}} : *only;
    }

    Hash256 write(const Node& node) {
        out_.nodes.emplace_back(NodeKey{version_, path_}, codec::encode(node));
        return hash_of(node);
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
    return Updater(reader, version).run(base_version, hashed);
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

Neighbours find_neighbours(const NodeReader& reader, std::uint64_t version, const Hash256& key_hash) {
    Slot left;   // the nearest that was passed on either side
    Slot right;
    Node node = read(reader, NodeKey{version, {}});
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
        if (const auto* leaf = std::get_if<LeafHashes>(&node.children[nibble]); leaf && leaf->key_hash != key_hash) {
            keep(leaf->key_hash < key_hash ? left : right, nibble);
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
