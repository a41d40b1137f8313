// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Which rank of a cell computes and holds which part of a step. Pure: every rank derives the same plan from the
/// program and the layout, so that all know who sends what to whom without asking.
namespace assay::plan {

/// A set of rows or columns.
class IndexSet {
  public:
    struct Range {
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        bool operator==(const Range&) const = default;
    };

    IndexSet() = default;
    /// All indices from `begin` up to `end`, which is not in it.
    IndexSet(std::uint32_t begin, std::uint32_t end) { add(begin, end); }

    /// Adds indices that lie beyond all that are in the set, or continue its last range.
    void add(std::uint32_t begin, std::uint32_t end);

    bool is_empty() const { return ranges_.empty(); }
    std::uint32_t count() const { return count_; }
    /// Ascending; no two of them touch.
    const std::vector<Range>& ranges() const { return ranges_; }
    bool contains(std::uint32_t index) const;
    bool contains(const IndexSet& other) const;
    /// How many indices of the set are below `index`.
    std::uint32_t position(std::uint32_t index) const;
    std::vector<std::uint32_t> indices() const;
    bool operator==(const IndexSet&) const = default;

  private:
    std::vector<Range> ranges_;
    std::uint32_t count_ = 0;
};

IndexSet intersection(const IndexSet& a, const IndexSet& b);
IndexSet union_of(const IndexSet& a, const IndexSet& b);
IndexSet difference(const IndexSet& a, const IndexSet& b);

/// A set of ranks, one bit each.
using RankMask = std::uint64_t;
inline constexpr std::uint32_t kMaxRanks = 64;

/// Indices that the same ranks have.
struct IndexClass {
    RankMask ranks = 0;
    IndexSet indices;
};
/// Divides 0 to `size` - 1 by which of `sets` (one for each rank) have an index; classes of no rank included.
std::vector<IndexClass> classes_of(std::span<const IndexSet* const> sets, std::uint32_t size);

/// Divides 0 to `size` - 1 into consecutive ranges in proportion to `shares`, which are not all 0. A range may be
/// empty.
std::vector<IndexSet> cut(std::uint32_t size, std::span<const std::uint32_t> shares);

/// The same with ranges that begin at multiples of `grain` and are not empty: the nearest to the shares, of which there
/// are at most as many as multiples. Ranges begin at multiples of 32 too if that makes none smaller or larger by more
/// than a quarter, since ranks can answer for sums over such ranges alone (STM-6).
std::vector<IndexSet> cut_columns(std::uint32_t size, std::span<const std::uint32_t> shares, std::uint32_t grain);

}  // namespace assay::plan
