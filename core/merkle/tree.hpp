// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <core/base/bytes.hpp>

/// Binary Merkle trees over a fixed number of leaves, padded on the right with empty subtrees to a power of two (MRK
/// rules). Used for the tiles of a tensor, tensors of a state, nodes of a program, entries of a step, and dataset rows.
namespace assay::merkle {

/// The smallest depth with 2^depth >= leaf_count; 0 for one leaf. leaf_count must be at least 1.
std::uint32_t tree_depth(std::uint64_t leaf_count) noexcept;

/// MRK-2: the hash of two children, tagged "assay/merkle-node".
Hash256 hash_children(const Hash256& left, const Hash256& right) noexcept;

/// MRK-3: the root of an empty subtree of the given height (height 0: 32 zero bytes).
const Hash256& empty_root(std::uint32_t height) noexcept;

/// MRK-1: the root over `leaves` (at least one); with one leaf the root is the leaf.
Hash256 root_of(std::span<const Hash256> leaves) noexcept;

/// The root of a subtree of height `height` with the first leaves `leaves` (at most 2^height); the rest are empty.
Hash256 root_of_height(std::span<const Hash256> leaves, std::uint32_t height) noexcept;

/// The root computed from `leaf` at `index` and its siblings (the leaf's first). nullopt if the number of siblings is
/// not tree_depth(leaf_count), or the index is out of range (MRK-4).
std::optional<Hash256> root_from_path(
    const Hash256& leaf, std::uint64_t index, std::uint64_t leaf_count, std::span<const Hash256> siblings
) noexcept;

/// A whole tree in memory, for creating Merkle paths.
class Tree {
  public:
    explicit Tree(std::vector<Hash256> leaves);
    const Hash256& root() const noexcept;
    std::uint64_t leaf_count() const noexcept { return leaf_count_; }
    /// Siblings of leaf `index`, the leaf's own first.
    std::vector<Hash256> path(std::uint64_t index) const;
    /// The node at `height` (0: leaves) and position `index`; the root of an empty subtree if nothing was stored there.
    const Hash256& node(std::uint32_t height, std::uint64_t index) const noexcept;

  private:
    std::uint64_t leaf_count_;
    std::vector<std::vector<Hash256>> levels_;  // levels_[0] are the leaves, without padding
};

}  // namespace assay::merkle
