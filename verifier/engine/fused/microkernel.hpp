// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <verifier/engine/fused/product_finish.hpp>

namespace assay::engine::fused {

/// Exact integer products on CPUs with 512-bit vectors: a BLAS-style microkernel on packed operands that also applies
/// the scaling of NUM-17 while a result tile is in registers. T is double, exact for sums below 2^53, or std::int16_t,
/// exact for sums below 2^31.
template <class T>
struct Microkernel {
    /// Whether the CPU supports it.
    static bool is_available();

    /// Operands are packed in panels of kLeftRows or kRightRows rows; the last panel is padded with zeros.
    static constexpr std::size_t kLeftRows = 8;
    static constexpr std::size_t kRightRows = sizeof(T) == 8 ? 24 : 48;
    static constexpr std::size_t left_size(std::size_t rows, std::size_t depth) {
        return (rows + kLeftRows - 1) / kLeftRows * kLeftRows * padded(depth);
    }
    static constexpr std::size_t right_size(std::size_t rows, std::size_t depth) {
        return (rows + kRightRows - 1) / kRightRows * kRightRows * padded(depth);
    }
    /// Depth after padding: a whole number of pairs of 16-bit integers.
    static constexpr std::size_t padded(std::size_t depth) { return sizeof(T) == 8 ? depth : (depth + 1) / 2 * 2; }

    /// Operands of double products are stored as floats, which hold them exactly.
    using Stored = std::conditional_t<sizeof(T) == 8, float, T>;
    static void pack_left(const Stored* from, std::size_t stride, std::size_t rows, std::size_t depth, T* out);
    static void pack_right(const Stored* from, std::size_t stride, std::size_t rows, std::size_t depth, T* out);

    /// Multiplies left [rows, depth] by right [cols, depth] transposed. With `right_low` (doubles only) the right
    /// operand is 2^12 * right + right_low: both products are exact and their sum is rounded once.
    static void multiply(
        const T* left, const T* right, const T* right_low, std::size_t rows, std::size_t cols, std::size_t depth,
        const ProductFinish& finish
    );
};

extern template struct Microkernel<double>;
extern template struct Microkernel<std::int16_t>;

}  // namespace assay::engine::fused
