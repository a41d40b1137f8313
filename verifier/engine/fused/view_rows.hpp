// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <core/canonical/node.hpp>

namespace assay::engine::fused {

/// A canonical::View, prepared for copying many elements at a time (NUM-34): contiguous axes are merged, and the
/// innermost axis is copied as one strided run wherever its coordinates are in range. May be used by several threads.
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

    /// Size of the table that copying needs, made or not.
    std::size_t table_bytes() const { return table_size_ * sizeof(std::int32_t); }

  private:
    struct Axis {
        std::int64_t size = 1;
        std::int64_t offset = 0;
        std::int64_t divisor = 1;
        std::int64_t weight = 1;  ///< input elements between consecutive indices of this axis
        std::array<std::int64_t, canonical::kMaxViewAxes> strides{};
    };
    /// The copied part of a run: elements low .. high-1, read from `start` on with stride `step`.
    struct Run {
        std::int64_t low = 0;
        std::int64_t high = 0;
        std::int64_t start = 0;
    };

    using Index = std::array<std::int64_t, canonical::kMaxViewAxes>;

    void find_steps();
    void find_table();
    const std::int32_t* table() const;
    bool is_separate(std::size_t dim) const;
    Index index_of(std::uint64_t element) const;
    template <class T>
    void copy_any(const T* input, std::uint64_t first, std::uint64_t count, T fill, T* out) const;
    template <class Input, class T>
    void copy_checked(Input input, std::uint64_t first, std::uint64_t count, T fill, T* out) const;
    template <class T>
    void copy_by_table(const T* input, std::uint64_t first, std::uint64_t count, T fill, T* out) const;
    template <class T>
    void copy_plain(const T* input, std::uint64_t first, std::uint64_t count, T* out) const;
    template <class T>
    void transpose_rows(const T* input, std::int64_t rows, T* out) const;
    template <class Input, class T>
    void copy_divided(Input input, const Index& base, std::int64_t first, std::int64_t count, T fill, T* out) const;
    Run run_of(const Index& base, std::int64_t inner) const;

    std::size_t dim_count_ = 0;
    std::size_t axis_count_ = 0;
    Index dims_{};
    std::array<Axis, canonical::kMaxViewAxes> axes_{};
    std::int64_t step_ = 0;    ///< input stride per element of the innermost axis
    bool is_divided_ = false;  ///< the innermost axis indexes an input axis with a divisor

    // Used if every output element copies an input element. In elements: the strides per index of each axis in the
    // input and in the output, and the input position of output element 0.
    bool is_plain_ = false;
    Index in_steps_{};
    Index out_steps_{};
    std::int64_t start_ = 0;
    /// The axis along which input elements are adjacent, if not the innermost: it and the innermost axis are transposed
    /// in square blocks. Otherwise the innermost axis.
    std::size_t transposed_ = 0;

    // Used if runs are short: for each element of the axes from `table_first_` on, its source offset, or -1 for fill.
    // Offsets are relative to the start given by the axes before, which are always in range. The table is made when
    // something is copied for the first time, since most plans are made to learn what a step needs.
    std::size_t table_first_ = 0;
    std::size_t table_size_ = 0;
    mutable std::once_flag table_made_;
    mutable std::vector<std::int32_t> table_;
};

}  // namespace assay::engine::fused
