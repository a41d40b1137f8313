// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <verifier/engine/fused/instructions.hpp>
#include <verifier/engine/fused/product_finish.hpp>

namespace assay::engine::fused {

/// Exact integer products with the vectors of one instruction set: a BLAS-style microkernel on packed operands that
/// also applies the scaling of NUM-17 while a tile of the result is in the first-level cache. T is double, exact for
/// sums below 2^53, or std::int16_t, exact for values within +-2^14 and sums below 2^31.
template <class T>
struct Microkernel {
    /// Operands of double products are stored as floats, which hold them exactly.
    using Stored = std::conditional_t<sizeof(T) == 8, float, T>;
    using Pack = void(const Stored* from, std::size_t stride, std::size_t rows, std::size_t depth, T* out);
    using MultiplyTile = void(const T* left, const T* right, std::size_t depth, double* tile);
    using FinishTile = void(
        const double* tile, std::size_t row, std::size_t rows, std::size_t col, std::size_t cols, const ProductFinish& f
    );

    Instructions instructions = Instructions::kNone;
    /// Operands are packed in panels of so many rows; the last is filled up with zeros.
    std::size_t left_rows = 0;
    std::size_t right_rows = 0;
    Pack* pack_left = nullptr;
    Pack* pack_right = nullptr;
    /// Computes a tile of left_rows rows and right_rows columns of exact sums.
    MultiplyTile* multiply_tile = nullptr;
    /// Scales what exists of a tile, from element [row, col] of the result [rows, cols] on.
    FinishTile* finish_tile = nullptr;

    static constexpr std::size_t kPair = sizeof(T) == 8 ? 1 : 2;  ///< elements of a row that are multiplied at once
    static constexpr std::size_t padded(std::size_t depth) { return (depth + kPair - 1) / kPair * kPair; }
    /// Elements that an operand takes when it is packed, with what packing may write behind it.
    std::size_t left_size(std::size_t rows, std::size_t depth) const { return size(rows, depth, left_rows); }
    std::size_t right_size(std::size_t rows, std::size_t depth) const { return size(rows, depth, right_rows); }

    /// Multiplies left [rows, depth] by right [cols, depth] transposed. With `right_low` (doubles only) the right
    /// operand is 2^12 * right + right_low: both products are exact and their sum is rounded once.
    void multiply(
        const T* left, const T* right, const T* right_low, std::size_t rows, std::size_t cols, std::size_t depth,
        const ProductFinish& finish
    ) const;

  private:
    static std::size_t size(std::size_t rows, std::size_t depth, std::size_t panel) {
        constexpr std::size_t kBehind = 64 / sizeof(T);
        return (rows + panel - 1) / panel * panel * padded(depth) + kBehind;
    }
};

/// Returns the kernels that may be used on this CPU, the preferred one first.
template <class T>
const std::vector<Microkernel<T>>& microkernels();

extern template struct Microkernel<double>;
extern template struct Microkernel<std::int16_t>;

}  // namespace assay::engine::fused
