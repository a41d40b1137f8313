// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <verifier/engine/fused/product_finish.hpp>
#include <verifier/engine/fused/row_kernels.hpp>

namespace assay::engine::fused {

/// Products of integers on this CPU's matrix unit, where it has one for bytes (AMX). Operands are taken apart into
/// digits of -128 to 127 to the base 256. Products of digits are summed in int32, those of one weight together, and the
/// weights are put together in 64-bit integers, which is NUM-16 to the letter.
class DigitKernel {
  public:
    /// Whether this CPU can and its system lets it.
    static bool is_available();
    /// Whether the sums of so many products of digits fit an int32.
    static bool fits(std::uint32_t precision, std::size_t depth);

    explicit DigitKernel(std::uint32_t precision);

    /// Operands are laid out in blocks of this many rows, in which steps of this many columns follow each other. What
    /// is beyond the last row is of no account, beyond the last column it is zero.
    static constexpr std::size_t kBlockRows = 32;
    static constexpr std::size_t kStepColumns = 64;
    std::size_t packed_size(std::size_t rows, std::size_t depth) const;
    /// `out` begins at a multiple of 64 bytes.
    void pack_left(
        const float* from, std::size_t stride, std::size_t rows, std::size_t depth, std::int8_t* out
    ) const;
    void pack_right(
        const float* from, std::size_t stride, std::size_t rows, std::size_t depth, std::int8_t* out
    ) const;

    /// Rounds these rows of an operand (NUM-14) and leaves them where pack_left would, or pack_right, of the whole
    /// operand, which begins at `out`. A part that is to be on the right begins with a row that is a multiple of 16.
    /// A chunk is all columns or a multiple of kStepColumns.
    void quantise_left(Extent at, const float* x, const Quantisation& how, std::int8_t* out) const;
    void quantise_right(Extent at, const float* x, const Quantisation& how, std::int8_t* out) const;

    /// A part of an operand laid out: whole blocks from some row, whole steps from some column on.
    struct Digits {
        const std::int8_t* at = nullptr;
        std::size_t block_bytes = 0;
    };
    /// `whole` has `depth` columns.
    Digits part(const std::int8_t* whole, std::size_t depth, std::size_t first_row, std::size_t first_column) const;

    /// left [rows, depth] times the transpose of right [cols, depth].
    void multiply(
        Digits left, Digits right, std::size_t rows, std::size_t cols, std::size_t depth, const ProductFinish& finish
    ) const;

  private:
    std::uint32_t precision_ = 0;
    std::size_t digits_ = 1;
};

}  // namespace assay::engine::fused
