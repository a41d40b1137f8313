// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/result.hpp>
#include <core/merkle/jmt.hpp>

/// Parts of a tree that are proved against its root: a run of leaves, in the order of their key hashes, of which none
/// is missing. A tree is rebuilt from them in ascending order (JMT-7, JMT-8).
namespace assay::merkle {

/// The leaves that follow one leaf of the tree, or its first ones.
struct Range {
    std::vector<LeafHashes> leaves;  ///< ascending by key hash
    /// What lies left of the leaf before, on its path: a hash for each of its bits that is 1, the root's first, up to
    /// the last that is not empty. None when the range begins the tree.
    std::vector<Hash256> left;
    /// Likewise right of the last leaf, for its bits that are 0. None when the range ends the tree.
    std::vector<Hash256> right;
    bool operator==(const Range&) const = default;
    static constexpr auto fields() { return Fields<&Range::leaves, &Range::left, &Range::right>{}; }
};

/// At most `limit` (> 0) leaves of the tree of `version` that follow the leaf `after`, which is in the tree; from the
/// first one on without it. Aborts as update_tree() does.
Range prove_range(
    const NodeReader& reader, std::uint64_t version, const std::optional<Hash256>& after, std::size_t limit
);

enum class [[nodiscard]] RangeError : std::uint8_t {
    kEmpty = 1,         ///< no leaf
    kNotAscending = 2,  ///< leaves out of order, or not all later than the one before
    kTooMany = 3,       ///< more hashes than the path has sides
    kNotCanonical = 4,  ///< empty subtrees written out at a path's end
    kWrongRoot = 5,
    kComplete = 6,      ///< the range before it ended the tree
};

/// JMT-7: between `after`, a leaf that is known to be in the tree of `root`, and the last leaf of `range`, the tree has
/// exactly the leaves of `range`. Without `after`: nothing comes before them. With no `right`: nothing after.
Result<void, RangeError> verify_range(
    const Hash256& root, const std::optional<LeafHashes>& after, const Range& range
);

/// Makes the tree of one version from its ranges in ascending order (JMT-8).
class TreeBuilder {
  public:
    TreeBuilder(const Hash256& root, std::uint64_t version) : root_(root), version_(version) {}

    /// Verifies the range that follows those before and returns the nodes to write, some in the place of earlier ones.
    /// `reader` must have all that were returned before. A range that is refused changes nothing.
    Result<std::vector<std::pair<NodeKey, Bytes>>, RangeError> add(const NodeReader& reader, const Range& range);

    /// Whether the tree is whole, and its root the one that was asked for.
    bool is_complete() const { return complete_; }
    std::uint64_t leaves() const { return leaves_; }

  private:
    const Hash256 root_;
    const std::uint64_t version_;
    std::optional<LeafHashes> last_;
    std::uint64_t leaves_ = 0;
    bool complete_ = false;
};

}  // namespace assay::merkle
