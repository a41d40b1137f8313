// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <verifier/engine/fused/product_finish.hpp>

namespace assay::engine::fused {

/// Products of integers on this CPU's widest vectors, where it has 512-bit ones: what the BLAS does with operands laid
/// out for it, and then the scaling of NUM-17 while a tile of the result is still in registers. T is double, exact for
/// sums below 2^53, or std::int16_t, exact for sums below 2^31.
template <class T>
struct Microkernel {
    /// Whether this CPU can.
    static bool is_available();

    /// Operands are laid out in panels of this many rows, the last one filled up with zeros.
    static constexpr std::size_t kLeftRows = 8;
    static constexpr std::size_t kRightRows = sizeof(T) == 8 ? 24 : 48;
    static constexpr std::size_t left_size(std::size_t rows, std::size_t depth) {
        return (rows + kLeftRows - 1) / kLeftRows * kLeftRows * padded(depth);
    }
    static constexpr std::size_t right_size(std::size_t rows, std::size_t depth) {
        return (rows + kRightRows - 1) / kRightRows * kRightRows * padded(depth);
    }
    /// Depth is filled up to whole pairs of 16-bit numbers.
    static constexpr std::size_t padded(std::size_t depth) { return sizeof(T) == 8 ? depth : (depth + 1) / 2 * 2; }

    /// Operands of a product of doubles are kept as floats, which hold them exactly.
    using Stored = std::conditional_t<sizeof(T) == 8, float, T>;
    static void pack_left(const Stored* from, std::size_t stride, std::size_t rows, std::size_t depth, T* out);
    static void pack_right(const Stored* from, std::size_t stride, std::size_t rows, std::size_t depth, T* out);

    /// left [rows, depth] times the transpose of right [cols, depth]; with `right_low`, which only doubles may have,
    /// times that of 2^12 right + right_low, each product exact and their sum rounded once.
    static void multiply(
        const T* left, const T* right, const T* right_low, std::size_t rows, std::size_t cols, std::size_t depth,
        const ProductFinish& finish
    );
};

extern template struct Microkernel<double>;
extern template struct Microkernel<std::int16_t>;

}  // namespace assay::engine::fused
