// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <verifier/engine/fused/product_finish.hpp>

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

    /// Operands are laid out in blocks of this many rows, the last one filled up with zeros.
    static constexpr std::size_t kBlockRows = 32;
    std::size_t packed_size(std::size_t rows, std::size_t depth) const;
    /// `out` begins at a multiple of 64 bytes.
    template <class Stored>
    void pack_left(
        const Stored* from, std::size_t stride, std::size_t rows, std::size_t depth, std::int8_t* out
    ) const;
    template <class Stored>
    void pack_right(
        const Stored* from, std::size_t stride, std::size_t rows, std::size_t depth, std::int8_t* out
    ) const;

    /// left [rows, depth] times the transpose of right [cols, depth].
    void multiply(
        const std::int8_t* left, const std::int8_t* right, std::size_t rows, std::size_t cols, std::size_t depth,
        const ProductFinish& finish
    ) const;

  private:
    std::uint32_t precision_ = 0;
    std::size_t digits_ = 1;
};

}  // namespace assay::engine::fused
