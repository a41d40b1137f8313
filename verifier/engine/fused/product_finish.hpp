// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <verifier/engine/fused/wide.hpp>

namespace assay::engine::fused {

/// How the exact sums of one chunk of a product are scaled and accumulated (NUM-17).
struct ProductFinish {
    const double* scale_a = nullptr;  ///< 2^(ea-p) for each row
    const double* scale_b = nullptr;  ///< 2^(eb-p) for each column
    double* sums = nullptr;           ///< [rows, cols], accumulated over chunks; unused if there is only one
    float* out = nullptr;             ///< [rows, cols], rows `stride` apart, written at the last chunk
    std::size_t stride = 0;
    bool is_first = true;
    bool is_last = true;
};

/// Scales the sum of an element of the result, whose rows have `cols` elements, then accumulates or rounds it.
inline void finish_element(double exact, std::size_t row, std::size_t col, std::size_t cols, const ProductFinish& f) {
    double v = exact * f.scale_a[row] * f.scale_b[col];
    if (!f.is_first) {
        v = f.sums[row * cols + col] + v;
    }
    if (f.is_last) {
        f.out[row * f.stride + col] = static_cast<float>(v) + 0.0F;
    } else {
        f.sums[row * cols + col] = v;
    }
}

#if defined(__x86_64__)

inline constexpr std::size_t kLanes = 8;  ///< doubles in a vector

/// The same for eight sums of a row, from column `col` on. `mask` selects the columns that exist.
ASSAY_WIDE ASSAY_INLINE void finish_vector(
    __m512d exact, __m512d scale_a, std::size_t row, std::size_t col, std::size_t cols, __mmask8 mask,
    const ProductFinish& f
) {
    const std::size_t at = row * cols + col;
    __m512d v = _mm512_mul_pd(_mm512_mul_pd(exact, scale_a), _mm512_maskz_loadu_pd(mask, f.scale_b + col));
    if (!f.is_first) {
        v = _mm512_add_pd(_mm512_maskz_loadu_pd(mask, f.sums + at), v);
    }
    if (!f.is_last) {
        return _mm512_mask_storeu_pd(f.sums + at, mask, v);
    }
    // Adding zero turns -0 into +0 (NUM-7); finite integers times powers of two never give NaN.
    const __m256 rounded = _mm256_add_ps(_mm512_cvtpd_ps(v), _mm256_setzero_ps());
    _mm256_mask_storeu_ps(f.out + row * f.stride + col, mask, rounded);
}

ASSAY_WIDE ASSAY_INLINE __mmask8 columns_mask(std::size_t col, std::size_t cols) {
    return col >= cols ? __mmask8{0} : static_cast<__mmask8>((1U << std::min<std::size_t>(cols - col, kLanes)) - 1U);
}

#endif

}  // namespace assay::engine::fused
