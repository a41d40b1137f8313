// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <verifier/engine/fused/wide.hpp>

#if defined(__x86_64__)

namespace assay::engine::fused {

inline constexpr std::int64_t kWideSquare = 16;  ///< rows and columns; a row is one cache line

/// out[i * stride + j] = from[i + j * step] for i, j < 16, with 512-bit vectors. `out` may be `from`.
ASSAY_WIDE inline void transpose_wide_square(
    const std::uint32_t* from, std::int64_t step, std::uint32_t* out, std::int64_t stride
) {
    __m512i row[kWideSquare];
    __m512i pair[kWideSquare];
#pragma GCC unroll 16
    for (std::int64_t j = 0; j < kWideSquare; ++j) {
        row[j] = _mm512_loadu_si512(from + j * step);
    }
#pragma GCC unroll 8
    for (std::int64_t j = 0; j < kWideSquare; j += 2) {
        pair[j] = _mm512_unpacklo_epi32(row[j], row[j + 1]);
        pair[j + 1] = _mm512_unpackhi_epi32(row[j], row[j + 1]);
    }
    // row[4a + c]: lane l holds column 4l + c of rows 4a .. 4a + 3
#pragma GCC unroll 4
    for (std::int64_t j = 0; j < kWideSquare; j += 4) {
        row[j] = _mm512_unpacklo_epi64(pair[j], pair[j + 2]);
        row[j + 1] = _mm512_unpackhi_epi64(pair[j], pair[j + 2]);
        row[j + 2] = _mm512_unpacklo_epi64(pair[j + 1], pair[j + 3]);
        row[j + 3] = _mm512_unpackhi_epi64(pair[j + 1], pair[j + 3]);
    }
#pragma GCC unroll 4
    for (std::int64_t c = 0; c < 4; ++c) {
        const __m512i upper_even = _mm512_shuffle_i32x4(row[c], row[4 + c], 0x88);
        const __m512i upper_odd = _mm512_shuffle_i32x4(row[c], row[4 + c], 0xdd);
        const __m512i lower_even = _mm512_shuffle_i32x4(row[8 + c], row[12 + c], 0x88);
        const __m512i lower_odd = _mm512_shuffle_i32x4(row[8 + c], row[12 + c], 0xdd);
        _mm512_storeu_si512(out + c * stride, _mm512_shuffle_i32x4(upper_even, lower_even, 0x88));
        _mm512_storeu_si512(out + (4 + c) * stride, _mm512_shuffle_i32x4(upper_odd, lower_odd, 0x88));
        _mm512_storeu_si512(out + (8 + c) * stride, _mm512_shuffle_i32x4(upper_even, lower_even, 0xdd));
        _mm512_storeu_si512(out + (12 + c) * stride, _mm512_shuffle_i32x4(upper_odd, lower_odd, 0xdd));
    }
}

}  // namespace assay::engine::fused

#endif
