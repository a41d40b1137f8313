// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <core/canonical/node.hpp>

namespace assay::engine::fused {

/// A canonical::View prepared for copying many elements at a time (NUM-34): axes that run on are merged, and the
/// innermost axis is copied as one strided run wherever its coordinates are in range.
class ViewRows {
  public:
    explicit ViewRows(const canonical::View& view);

    /// Writes elements first .. first+count-1 of the output.
    void copy(
        const std::uint32_t* input, std::uint64_t first, std::uint64_t count, std::uint32_t fill, std::uint32_t* out
    ) const;
    void copy(
        const std::uint64_t* input, std::uint64_t first, std::uint64_t count, std::uint64_t fill, std::uint64_t* out
    ) const;

  private:
    struct Axis {
        std::int64_t size = 1;
        std::int64_t offset = 0;
        std::int64_t divisor = 1;
        std::int64_t weight = 1;  ///< elements of the input from one index of this axis to the next
        std::array<std::int64_t, canonical::kMaxViewAxes> strides{};
    };
    /// The part of a run that copies: elements low .. high-1, from `start` on, `step` apart.
    struct Run {
        std::int64_t low = 0;
        std::int64_t high = 0;
        std::int64_t start = 0;
    };

    using Index = std::array<std::int64_t, canonical::kMaxViewAxes>;

    void find_steps();
    void make_table();
    bool is_separate(std::size_t dim) const;
    std::int64_t source_of(const Index& index) const;
    Index index_of(std::uint64_t element) const;
    template <class T>
    void copy_any(const T* input, std::uint64_t first, std::uint64_t count, T fill, T* out) const;
    template <class T>
    void copy_checked(const T* input, std::uint64_t first, std::uint64_t count, T fill, T* out) const;
    template <class T>
    void copy_by_table(const T* input, std::uint64_t first, std::uint64_t count, T fill, T* out) const;
    template <class T>
    void copy_plain(const T* input, std::uint64_t first, std::uint64_t count, T* out) const;
    template <class T>
    void transpose_rows(const T* input, std::int64_t rows, T* out) const;
    template <class T>
    void copy_divided(
        const T* input, const Index& base, std::int64_t first, std::int64_t count, T fill, T* out
    ) const;
    Run run_of(const Index& base, std::int64_t inner) const;

    std::size_t dim_count_ = 0;
    std::size_t axis_count_ = 0;
    Index dims_{};
    std::array<Axis, canonical::kMaxViewAxes> axes_{};
    std::int64_t step_ = 0;    ///< of the input, per element of the innermost axis
    bool is_divided_ = false;  ///< the innermost axis moves along an axis with a divisor

    // Where every element copies one, in units of elements: from one index of an axis to the next, in the input and in
    // the output, and the input's place of element 0.
    bool is_plain_ = false;
    Index in_steps_{};
    Index out_steps_{};
    std::int64_t start_ = 0;
    /// The axis along which the input's elements are neighbours, when that is not the innermost: with the innermost it
    /// is transposed square by square. The innermost when there is none.
    std::size_t transposed_ = 0;

    // Where runs are short: the source of each element of the axes from `table_first_` on, or -1 for none, counted from
    // where the axes before, which are always in range, begin.
    std::vector<std::int32_t> table_;
    std::size_t table_first_ = 0;
};

}  // namespace assay::engine::fused
