// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <verifier/engine/fused/product_finish.hpp>
#include <verifier/engine/fused/row_kernels.hpp>

namespace assay::engine::fused {

/// Exact integer products on the CPU's byte matrix unit (AMX), where it has one. Operands are split into base-256
/// digits of -128 to 127. Digit products are summed in int32, separately for each place value, and the sums are
/// combined in 64-bit integers, exactly as NUM-16 defines.
class DigitKernel {
  public:
    /// Whether the CPU supports it and the operating system permits it.
    static bool is_available();
    /// Whether the sums of `depth` digit products fit an int32 at this precision.
    static bool fits(std::uint32_t precision, std::size_t depth);

    explicit DigitKernel(std::uint32_t precision);

    /// Operands are packed in blocks of kBlockRows rows; a block is a sequence of steps of kStepColumns columns.
    /// Padding beyond the last row may have any value; padding beyond the last column is zero.
    static constexpr std::size_t kBlockRows = 32;
    static constexpr std::size_t kStepColumns = 64;
    std::size_t packed_size(std::size_t rows, std::size_t depth) const;
    /// Pack an operand. `out` must be aligned to 64 bytes.
    void pack_left(const float* from, std::size_t stride, std::size_t rows, std::size_t depth, std::int8_t* out) const;
    void pack_right(const float* from, std::size_t stride, std::size_t rows, std::size_t depth, std::int8_t* out) const;

    /// Quantise rows of an operand (NUM-14) directly into the packed layout of pack_left or pack_right; `out` is the
    /// start of the whole packed operand. The first row of a right-hand part must be a multiple of 16. A chunk must be
    /// all columns or a multiple of kStepColumns.
    void quantise_left(Extent at, const float* x, const Quantisation& how, std::int8_t* out) const;
    void quantise_right(Extent at, const float* x, const Quantisation& how, std::int8_t* out) const;

    /// A part of a packed operand: whole blocks from some row on, whole steps from some column on.
    struct Digits {
        const std::int8_t* at = nullptr;
        std::size_t block_bytes = 0;
    };
    /// Returns the part of packed operand `whole`, which has `depth` columns, from first_row and first_column on.
    Digits part(const std::int8_t* whole, std::size_t depth, std::size_t first_row, std::size_t first_column) const;

    /// Multiplies left [rows, depth] by right [cols, depth] transposed.
    void multiply(
        Digits left, Digits right, std::size_t rows, std::size_t cols, std::size_t depth, const ProductFinish& finish
    ) const;

  private:
    std::uint32_t precision_ = 0;
    std::size_t digits_ = 1;
};

}  // namespace assay::engine::fused
