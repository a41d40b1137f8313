// SPDX-License-Identifier: Apache-2.0
#include <core/merkle/range.hpp>

#include <algorithm>

#include <core/base/assert.hpp>
#include <core/merkle/jmt_node.hpp>

namespace assay::merkle {
namespace {

/// How many bits two different keys begin with in common.
std::size_t common_bits(const Hash256& a, const Hash256& b) {
    std::size_t bit = 0;
    while (bit < kMaxBits && bit_at(a, bit) == bit_at(b, bit)) {
        ++bit;
    }
    return bit;
}

/// One side of the path of `key` in the tree, as Range has it: the subtrees where the key's bit is `bit`.
std::vector<Hash256> side_of(const NodeReader& reader, std::uint64_t version, const Hash256& key, bool bit) {
    JmtProof proof = prove_hash(reader, version, key);
    ASSERT(proof.leaf.has_value() && proof.leaf->key_hash == key);
    std::reverse(proof.siblings.begin(), proof.siblings.end());
    std::vector<Hash256> side;
    for (std::size_t i = 0; i < proof.siblings.size(); ++i) {
        if (bit_at(key, i) == bit) {
            side.push_back(proof.siblings[i]);
        }
    }
    while (!side.empty() && side.back() == empty_tree_root()) {
        side.pop_back();
    }
    return side;
}

/// The leaves of a tree after a key, in order. One node of each level is held at a time.
class LeafWalk {
  public:
    LeafWalk(const NodeReader& reader, std::uint64_t version, const std::optional<Hash256>& after)
        : reader_(reader), after_(after) {
        levels_.push_back({.node = read_root(reader, version), .next = 0, .on_path = after.has_value()});
        skip();
    }

    std::optional<LeafHashes> next() {
        while (!levels_.empty()) {
            Level& level = levels_.back();
            if (level.next == kWidth) {
                levels_.pop_back();
                if (!path_.empty()) {
                    path_.pop_back();
                }
                continue;
            }
            const std::size_t slot = level.next++;
            const Child child = level.node.children[slot];
            if (const auto* leaf = std::get_if<Leaf>(&child)) {
                if (!after_ || leaf->hashes.key_hash > *after_) {
                    return leaf->hashes;
                }
            } else if (const auto* inner = std::get_if<InnerRef>(&child)) {
                const bool on_path = level.on_path && slot == nibble_at(*after_, path_.size());
                path_.push_back(static_cast<std::uint8_t>(slot));
                levels_.push_back({.node = read_inner(reader_, *inner, path_), .next = 0, .on_path = on_path});
                skip();
            }
        }
        return std::nullopt;
    }

  private:
    struct Level {
        Node node;
        std::size_t next = 0;
        bool on_path = false;  ///< `after` lies below this node
    };

    /// Nothing left of the path of `after` is looked at.
    void skip() {
        Level& level = levels_.back();
        if (level.on_path) {
            level.next = nibble_at(*after_, path_.size());
        }
    }

    const NodeReader& reader_;
    const std::optional<Hash256> after_;
    std::vector<Level> levels_;
    Bytes path_;
};

/// Hashes a tree from the left to the right. What waits are left subtrees on the path of the last leaf, each at the
/// depth it has, until what is right of it is known.
class Fold {
  public:
    void wait(std::size_t depth, const Summary& subtree) { waiting_.push_back({depth, subtree}); }

    void add(const LeafHashes& leaf) {
        if (has_leaf_) {
            const std::size_t depth = common_bits(key_, leaf.key_hash) + 1;
            rise(depth);
            wait(depth, here_);
        }
        has_leaf_ = true;
        key_ = leaf.key_hash;
        depth_ = kMaxBits;
        here_ = {Summary::What::kLeaf, leaf_hash(leaf)};
    }

    /// Goes up the last leaf's path, with nothing to its right.
    void rise(std::size_t depth) {
        while (depth_ > depth) {
            const bool has_left = !waiting_.empty() && waiting_.back().depth == depth_;
            ASSERT(!has_left || bit_at(key_, depth_ - 1));
            if (has_left) {
                here_ = join(waiting_.back().subtree, here_);
                waiting_.pop_back();
            } else {
                here_ = bit_at(key_, depth_ - 1) ? join({}, here_) : join(here_, {});
            }
            --depth_;
        }
    }

    /// And with `subtree` beside it at `depth`.
    void close(std::size_t depth, const Summary& subtree) {
        rise(depth);
        here_ = join(here_, subtree);
        --depth_;
    }

    const Hash256& root() {
        rise(0);
        return here_.hash;
    }

  private:
    struct Waiting {
        std::size_t depth = 0;
        Summary subtree;
    };
    std::vector<Waiting> waiting_;
    bool has_leaf_ = false;
    Hash256 key_;
    std::size_t depth_ = 0;
    Summary here_;
};

/// A subtree that is known by its hash. It counts as one with two leaves or more: beside a leaf, which is how it is
/// used, one with a single leaf is hashed in the same way.
Summary opaque(const Hash256& hash) {
    return hash == empty_tree_root() ? Summary{} : Summary{Summary::What::kInner, hash};
}

/// The depths at which the path of `key` has its bit equal to `bit`, one for each of `count` hashes from the root on.
std::optional<std::vector<std::size_t>> depths_of(const Hash256& key, bool bit, std::size_t count) {
    std::vector<std::size_t> depths;
    for (std::size_t i = 0; i < kMaxBits && depths.size() < count; ++i) {
        if (bit_at(key, i) == bit) {
            depths.push_back(i + 1);
        }
    }
    return depths.size() == count ? std::optional(std::move(depths)) : std::nullopt;
}

}  // namespace

Range prove_range(
    const NodeReader& reader, std::uint64_t version, const std::optional<Hash256>& after, std::size_t limit
) {
    ASSERT(limit > 0);
    Range range;
    LeafWalk walk(reader, version, after);
    while (range.leaves.size() < limit) {
        const auto leaf = walk.next();
        if (!leaf) {
            break;
        }
        range.leaves.push_back(*leaf);
    }
    if (after) {
        range.left = side_of(reader, version, *after, true);
    }
    if (!range.leaves.empty()) {
        range.right = side_of(reader, version, range.leaves.back().key_hash, false);
    }
    return range;
}

Result<void, RangeError> verify_range(const Hash256& root, const std::optional<LeafHashes>& after, const Range& range) {
    if (range.leaves.empty()) {
        return Unexpected{RangeError::kEmpty};
    }
    const LeafHashes* before = after ? &*after : nullptr;
    for (const LeafHashes& leaf : range.leaves) {
        if (before != nullptr && before->key_hash >= leaf.key_hash) {
            return Unexpected{RangeError::kNotAscending};
        }
        before = &leaf;
    }
    const auto lefts =
        after ? depths_of(after->key_hash, true, range.left.size()) : depths_of({}, true, range.left.size());
    const auto rights = depths_of(range.leaves.back().key_hash, false, range.right.size());
    if (!lefts || !rights) {
        return Unexpected{RangeError::kTooMany};
    }
    const auto ends_empty = [](const std::vector<Hash256>& side) {
        return !side.empty() && side.back() == empty_tree_root();
    };
    if (ends_empty(range.left) || ends_empty(range.right)) {
        return Unexpected{RangeError::kNotCanonical};
    }
    Fold fold;
    for (std::size_t i = 0; i < range.left.size(); ++i) {
        fold.wait((*lefts)[i], opaque(range.left[i]));
    }
    if (after) {
        fold.add(*after);
    }
    for (const LeafHashes& leaf : range.leaves) {
        fold.add(leaf);
    }
    for (std::size_t i = range.right.size(); i > 0; --i) {
        fold.close((*rights)[i - 1], opaque(range.right[i - 1]));
    }
    if (fold.root() != root) {
        return Unexpected{RangeError::kWrongRoot};
    }
    return {};
}

Result<std::vector<std::pair<NodeKey, Bytes>>, RangeError> TreeBuilder::add(
    const NodeReader& reader, const Range& range
) {
    if (complete_) {
        return Unexpected{RangeError::kComplete};
    }
    if (auto verified = verify_range(root_, last_, range); !verified) {
        return Unexpected{verified.error()};
    }
    TreeUpdate update = extend_tree(reader, last_.has_value(), version_, range.leaves);
    last_ = range.leaves.back();
    leaves_ += range.leaves.size();
    complete_ = range.right.empty();
    // JMT-8: what was verified range by range adds up, or hashing is broken.
    ASSERT(!complete_ || update.root == root_);
    return std::move(update.nodes);
}

}  // namespace assay::merkle
