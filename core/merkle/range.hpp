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

/// Range proofs: a run of consecutive leaves, ordered by key hash, proven complete against the tree's root. A tree is
/// rebuilt from its ranges in ascending order (JMT-7, JMT-8).
namespace assay::merkle {

/// The leaves that directly follow a given leaf of the tree, or the tree's first leaves.
struct Range {
    std::vector<LeafHashes> leaves;  ///< ascending by key hash
    /// The left siblings on the path of the leaf before the range: one hash for each bit of its key that is 1, from the
    /// root down to the last that is not empty. Empty if the range starts the tree.
    std::vector<Hash256> left;
    /// The right siblings on the path of the last leaf, for its bits that are 0, likewise. Empty if the range ends the
    /// tree.
    std::vector<Hash256> right;
    bool operator==(const Range&) const = default;
    static constexpr auto fields() { return Fields<&Range::leaves, &Range::left, &Range::right>{}; }
};

/// At most `limit` (> 0) leaves of the tree of `version` after the leaf `after`, which must be in the tree; without it,
/// from the first leaf on. Aborts as update_tree() does.
Range prove_range(
    const NodeReader& reader, std::uint64_t version, const std::optional<Hash256>& after, std::size_t limit
);

enum class [[nodiscard]] RangeError : std::uint8_t{
    kEmpty = 1,         ///< contains no leaf
    kNotAscending = 2,  ///< leaves are out of order, or not all after the previous leaf
    kTooMany = 3,       ///< more hashes than the path has siblings on that side
    kNotCanonical = 4,  ///< contains empty subtrees at a path's end
    kWrongRoot = 5,
    kComplete = 6,  ///< the previous range already ended the tree
};

/// JMT-7: checks that the leaves of `range` are exactly those of the tree of `root` that lie between `after`, which is
/// known to be in the tree, and the range's last leaf. Without `after`, no leaf comes before them; with an empty
/// `right`, none after.
Result<void, RangeError> verify_range(const Hash256& root, const std::optional<LeafHashes>& after, const Range& range);

/// Builds the tree of one version from its ranges in ascending order (JMT-8).
class TreeBuilder {
  public:
    TreeBuilder(const Hash256& root, std::uint64_t version) : root_(root), version_(version) {}

    /// Verifies the next range and returns the nodes to write, some of which replace earlier ones. `reader` must
    /// contain all nodes returned before. A range that fails changes nothing.
    Result<std::vector<std::pair<NodeKey, Bytes>>, RangeError> add(const NodeReader& reader, const Range& range);

    /// Whether the tree is complete; its root is then the requested one.
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
