// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <core/base/bytes.hpp>

/// Binary Merkle trees over a fixed number of leaves, padded on the right to a power of two with empty subtrees
/// (MRK rules). Used for tiles of a tensor, tensors of a state, nodes of a program, entries of a step, dataset rows.
namespace assay::merkle {

/// depth such that 2^depth >= leaf_count; 0 for one leaf. leaf_count >= 1.
std::uint32_t tree_depth(std::uint64_t leaf_count) noexcept;

/// MRK-2: the hash of two children, tagged "assay/merkle-node".
Hash256 hash_children(const Hash256& left, const Hash256& right) noexcept;

/// MRK-3: the root of an empty subtree of the given height (height 0: 32 zero bytes).
const Hash256& empty_root(std::uint32_t height) noexcept;

/// MRK-1: the root over `leaves` (at least one); with one leaf the root is the leaf.
Hash256 root_of(std::span<const Hash256> leaves) noexcept;

/// The root of a subtree of height `height` whose first leaves are `leaves` (at most 2^height, the rest empty).
Hash256 root_of_height(std::span<const Hash256> leaves, std::uint32_t height) noexcept;

/// The root that `leaf` at `index` and its siblings (leaf's first) lead to; nullopt when the number of siblings is
/// not tree_depth(leaf_count) or the index is out of range (MRK-4).
std::optional<Hash256> root_from_path(
    const Hash256& leaf, std::uint64_t index, std::uint64_t leaf_count, std::span<const Hash256> siblings
) noexcept;

/// A whole tree in memory, for those who answer openings.
class Tree {
  public:
    explicit Tree(std::vector<Hash256> leaves);
    const Hash256& root() const noexcept;
    std::uint64_t leaf_count() const noexcept { return leaf_count_; }
    /// Siblings of leaf `index`, the leaf's own first.
    std::vector<Hash256> path(std::uint64_t index) const;
    /// The node at `height` (0: leaves) and position `index` there; an empty subtree where nothing was stored.
    const Hash256& node(std::uint32_t height, std::uint64_t index) const noexcept;

  private:
    std::uint64_t leaf_count_;
    std::vector<std::vector<Hash256>> levels_;  // levels_[0] are the leaves, without padding
};

}  // namespace assay::merkle
