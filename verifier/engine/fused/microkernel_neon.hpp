// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <verifier/engine/fused/product_finish.hpp>

/// Internal to microkernel.cpp: products on NEON, the vectors of 128 bits that every 64-bit ARM CPU has.
#if defined(__aarch64__)
#include <arm_neon.h>

namespace assay::engine::fused::neon {

#define TARGET
#define IN_ORDER(value)

struct ShortVector {
    using Element = std::int16_t;
    using Operand = int16x4x2_t;  // the first elements of four pairs, and the second ones
    using Sums = int32x4_t;
    static constexpr std::size_t kLanes = 4;
    static constexpr std::size_t kPair = 2;
    static Sums zero() { return vdupq_n_s32(0); }
    static Operand load(const Element* from) { return vld2_s16(from); }
    static Operand broadcast(const Element* from) { return {{vdup_n_s16(from[0]), vdup_n_s16(from[1])}}; }
    static Sums multiply_add(Sums sums, Operand a, Operand b) {
        return vmlal_s16(vmlal_s16(sums, a.val[0], b.val[0]), a.val[1], b.val[1]);
    }
    static void store(Sums sums, double* out) {
        vst1q_f64(out, vcvtq_f64_s64(vmovl_s32(vget_low_s32(sums))));
        vst1q_f64(out + 2, vcvtq_f64_s64(vmovl_high_s32(sums)));
    }
};

struct DoubleVector {
    using Element = double;
    using Operand = float64x2_t;
    using Sums = float64x2_t;
    static constexpr std::size_t kLanes = 2;
    static constexpr std::size_t kPair = 1;
    static Sums zero() { return vdupq_n_f64(0.0); }
    static Operand load(const Element* from) { return vld1q_f64(from); }
    static Operand broadcast(const Element* from) { return vdupq_n_f64(*from); }
    static Sums multiply_add(Sums sums, Operand a, Operand b) { return vfmaq_f64(sums, a, b); }
    static void store(Sums sums, double* out) { vst1q_f64(out, sums); }
};

// 16 of 32 registers have sums.
constexpr std::size_t kTileRows = 8;
constexpr std::size_t kTileVectors = 2;

namespace shorts {
using Vector = ShortVector;
#include <verifier/engine/fused/microkernel_tile.inc>
}  // namespace shorts

namespace doubles {
using Vector = DoubleVector;
#include <verifier/engine/fused/microkernel_tile.inc>
}  // namespace doubles

template <std::size_t tile_cols>
void finish_tile(
    const double* tile, std::size_t row, std::size_t rows, std::size_t col, std::size_t cols, const ProductFinish& f
) {
    for (std::size_t i = 0; i < std::min(kTileRows, rows - row); ++i) {
        for (std::size_t j = 0; j < std::min(tile_cols, cols - col); ++j) {
            finish_element(tile[i * tile_cols + j], row + i, col + j, cols, f);
        }
    }
}

#undef IN_ORDER
#undef TARGET

}  // namespace assay::engine::fused::neon

#endif
