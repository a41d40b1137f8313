// SPDX-License-Identifier: Apache-2.0
#include <core/merkle/tree.hpp>

#include <array>
#include <utility>

#include <core/base/assert.hpp>
#include <core/crypto/hash.hpp>

namespace assay::merkle {
namespace {

constexpr std::uint32_t kMaxHeight = 64;

/// One level up in place: `nodes` are at `height`, a missing right child is an empty subtree.
void fold_level(std::vector<Hash256>& nodes, std::uint32_t height) {
    const std::size_t parents = (nodes.size() + 1) / 2;
    for (std::size_t i = 0; i < parents; ++i) {
        const Hash256& right = 2 * i + 1 < nodes.size() ? nodes[2 * i + 1] : empty_root(height);
        nodes[i] = hash_children(nodes[2 * i], right);
    }
    nodes.resize(parents);
}

}  // namespace

std::uint32_t tree_depth(std::uint64_t leaf_count) noexcept {
    ASSERT(leaf_count >= 1);
    std::uint32_t depth = 0;
    for (std::uint64_t rest = leaf_count - 1; rest != 0; rest >>= 1U) {
        ++depth;
    }
    return depth;
}

Hash256 hash_children(const Hash256& left, const Hash256& right) noexcept {
    static const crypto::TaggedHash kNode("assay/merkle-node");
    return kNode(left.view(), right.view());
}

const Hash256& empty_root(std::uint32_t height) noexcept {
    static const auto kRoots = [] {
        std::array<Hash256, kMaxHeight + 1> roots{};
        for (std::size_t i = 1; i < roots.size(); ++i) {
            roots[i] = hash_children(roots[i - 1], roots[i - 1]);
        }
        return roots;
    }();
    ASSERT(height <= kMaxHeight);
    return kRoots[height];
}

Hash256 root_of(std::span<const Hash256> leaves) noexcept { return root_of_height(leaves, tree_depth(leaves.size())); }

Hash256 root_of_height(std::span<const Hash256> leaves, std::uint32_t height) noexcept {
    if (leaves.empty()) {
        return empty_root(height);
    }
    ASSERT(height <= kMaxHeight && tree_depth(leaves.size()) <= height);
    std::vector<Hash256> nodes(leaves.begin(), leaves.end());
    for (std::uint32_t level = 0; level < height; ++level) {
        fold_level(nodes, level);
    }
    return nodes.front();
}

std::optional<Hash256> root_from_path(
    const Hash256& leaf, std::uint64_t index, std::uint64_t leaf_count, std::span<const Hash256> siblings
) noexcept {
    if (index >= leaf_count || siblings.size() != tree_depth(leaf_count)) {
        return std::nullopt;
    }
    Hash256 node = leaf;
    for (const Hash256& sibling : siblings) {
        node = (index & 1U) == 0 ? hash_children(node, sibling) : hash_children(sibling, node);
        index >>= 1U;
    }
    return node;
}

Tree::Tree(std::vector<Hash256> leaves) : leaf_count_(leaves.size()) {
    const std::uint32_t depth = tree_depth(leaf_count_);
    levels_.reserve(depth + 1);
    levels_.push_back(std::move(leaves));
    for (std::uint32_t level = 0; level < depth; ++level) {
        std::vector<Hash256> next = levels_.back();
        fold_level(next, level);
        levels_.push_back(std::move(next));
    }
}

const Hash256& Tree::root() const noexcept { return levels_.back().front(); }

std::vector<Hash256> Tree::path(std::uint64_t index) const {
    ASSERT(index < leaf_count_);
    std::vector<Hash256> siblings;
    for (std::uint32_t level = 0; level + 1 < levels_.size(); ++level) {
        siblings.push_back(node(level, (index >> level) ^ 1U));
    }
    return siblings;
}

const Hash256& Tree::node(std::uint32_t height, std::uint64_t index) const noexcept {
    ASSERT(height < levels_.size());
    return index < levels_[height].size() ? levels_[height][index] : empty_root(height);
}

}  // namespace assay::merkle
