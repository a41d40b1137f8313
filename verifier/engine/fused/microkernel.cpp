// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/microkernel.hpp>

#include <algorithm>
#include <cstring>

#include <core/base/assert.hpp>

namespace assay::engine::fused {
namespace {

constexpr std::size_t kRows = 8;     // of a tile of the result
constexpr std::size_t kVectors = 3;  // across a tile

constexpr std::size_t kSquare = 8;  // rows and elements (or pairs) that are transposed at once

#if defined(__x86_64__)

// out[k * step .. + 8] = element k of rows 0 .. 7.
ASSAY_WIDE inline void transpose_square(const float* from, std::size_t stride, double* out, std::size_t step) {
    __m512d row[kSquare];
    __m512d pair[kSquare];
    for (std::size_t i = 0; i < kSquare; ++i) {
        row[i] = _mm512_cvtps_pd(_mm256_loadu_ps(from + i * stride));
    }
    for (std::size_t i = 0; i < kSquare; i += 2) {
        pair[i] = _mm512_unpacklo_pd(row[i], row[i + 1]);
        pair[i + 1] = _mm512_unpackhi_pd(row[i], row[i + 1]);
    }
    for (std::size_t odd = 0; odd < 2; ++odd) {
        const __m512d upper04 = _mm512_shuffle_f64x2(pair[odd], pair[2 + odd], 0x88);
        const __m512d upper26 = _mm512_shuffle_f64x2(pair[odd], pair[2 + odd], 0xdd);
        const __m512d lower04 = _mm512_shuffle_f64x2(pair[4 + odd], pair[6 + odd], 0x88);
        const __m512d lower26 = _mm512_shuffle_f64x2(pair[4 + odd], pair[6 + odd], 0xdd);
        _mm512_storeu_pd(out + odd * step, _mm512_shuffle_f64x2(upper04, lower04, 0x88));
        _mm512_storeu_pd(out + (2 + odd) * step, _mm512_shuffle_f64x2(upper26, lower26, 0x88));
        _mm512_storeu_pd(out + (4 + odd) * step, _mm512_shuffle_f64x2(upper04, lower04, 0xdd));
        _mm512_storeu_pd(out + (6 + odd) * step, _mm512_shuffle_f64x2(upper26, lower26, 0xdd));
    }
}

// The same for pairs of 16-bit numbers, moved as 32 bits; stride and step count numbers.
ASSAY_WIDE inline void transpose_square(
    const std::int16_t* from, std::size_t stride, std::int16_t* out, std::size_t step
) {
    __m256i row[kSquare];
    __m256i pair[kSquare];
    for (std::size_t i = 0; i < kSquare; ++i) {
        row[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i * stride));
    }
    for (std::size_t i = 0; i < kSquare; i += 2) {
        pair[i] = _mm256_unpacklo_epi32(row[i], row[i + 1]);      // elements 0 1 | 4 5
        pair[i + 1] = _mm256_unpackhi_epi32(row[i], row[i + 1]);  // elements 2 3 | 6 7
    }
    for (std::size_t half = 0; half < 2; ++half) {
        const __m256i upper_even = _mm256_unpacklo_epi64(pair[half], pair[2 + half]);
        const __m256i upper_odd = _mm256_unpackhi_epi64(pair[half], pair[2 + half]);
        const __m256i lower_even = _mm256_unpacklo_epi64(pair[4 + half], pair[6 + half]);
        const __m256i lower_odd = _mm256_unpackhi_epi64(pair[4 + half], pair[6 + half]);
        const auto store = [&](std::size_t k, __m256i value)
                               ASSAY_WIDE { _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + k * step), value); };
        store(2 * half, _mm256_permute2x128_si256(upper_even, lower_even, 0x20));
        store(2 * half + 1, _mm256_permute2x128_si256(upper_odd, lower_odd, 0x20));
        store(2 * half + 4, _mm256_permute2x128_si256(upper_even, lower_even, 0x31));
        store(2 * half + 5, _mm256_permute2x128_si256(upper_odd, lower_odd, 0x31));
    }
}

#endif

// Panels of `panel` rows: all rows' element k (or pair of them) before any row's next.
template <std::size_t panel, std::size_t pair, class From, class T>
void pack(const From* from, std::size_t stride, std::size_t rows, std::size_t depth, T* out) {
    const std::size_t padded = (depth + pair - 1) / pair * pair;
    for (std::size_t first = 0; first < rows; first += panel) {
        const std::size_t count = std::min(panel, rows - first);
        T* const to = out + first * padded;
        if (count < panel || padded != depth) {
            std::fill_n(to, panel * padded, T{0});
        }
        for (std::size_t i0 = 0; i0 < count; i0 += kSquare) {
            const std::size_t i1 = std::min(i0 + kSquare, count);
            std::size_t k = 0;
#if defined(__x86_64__)
            for (; i1 - i0 == kSquare && k + kSquare * pair <= depth; k += kSquare * pair) {
                transpose_square(from + (first + i0) * stride + k, stride, to + k * panel + i0 * pair, panel * pair);
            }
#endif
            for (; k < depth; ++k) {
                for (std::size_t i = i0; i < i1; ++i) {
                    to[(k / pair * panel + i) * pair + k % pair] = static_cast<T>(from[(first + i) * stride + k]);
                }
            }
        }
    }
}

#if defined(__x86_64__)

// A tile of exact sums as doubles, one vector of eight columns after another.
struct Tile {
    __m512d sums[kRows][2 * kVectors];
};

template <std::size_t vectors>
ASSAY_WIDE inline __attribute__((always_inline)) void finish_tile(
    const Tile& tile, std::size_t row, std::size_t rows, std::size_t col, std::size_t cols, const ProductFinish& f
) {
    for (std::size_t i = 0; i < std::min(kRows, rows - row); ++i) {
        const __m512d scale_a = _mm512_set1_pd(f.scale_a[row + i]);
        for (std::size_t v = 0; v < vectors; ++v) {
            const std::size_t c = col + v * kLanes;
            if (const __mmask8 mask = columns_mask(c, cols); mask != 0) {
                finish_vector(tile.sums[i][v], scale_a, c, (row + i) * cols + c, mask, f);
            }
        }
    }
}

template <std::size_t vectors>
ASSAY_WIDE void finish_columns(
    const Tile& tile, std::size_t row, std::size_t rows, std::size_t col, std::size_t cols, const ProductFinish& f
) {
    finish_tile<vectors>(tile, row, rows, col, cols, f);
}

// tile = 2^12 tile + low: the product is exact, the sum is rounded.
ASSAY_WIDE void join_tiles(const Tile& low, Tile& tile) {
    const __m512d scale = _mm512_set1_pd(0x1.0p12);
    for (std::size_t i = 0; i < kRows; ++i) {
        for (std::size_t v = 0; v < kVectors; ++v) {
            tile.sums[i][v] = _mm512_add_pd(_mm512_mul_pd(tile.sums[i][v], scale), low.sums[i][v]);
        }
    }
}

ASSAY_WIDE void multiply_tile(
    const double* __restrict left, const double* __restrict right, std::size_t depth, Tile& tile
) {
    __m512d acc[kRows][kVectors];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
        for (std::size_t v = 0; v < kVectors; ++v) {
            acc[i][v] = _mm512_setzero_pd();
        }
    }
    for (std::size_t k = 0; k < depth; ++k) {
        const __m512d b0 = _mm512_loadu_pd(right);
        const __m512d b1 = _mm512_loadu_pd(right + kLanes);
        const __m512d b2 = _mm512_loadu_pd(right + 2 * kLanes);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kRows; ++i) {
            const __m512d a = _mm512_set1_pd(left[i]);
            acc[i][0] = _mm512_fmadd_pd(a, b0, acc[i][0]);
            acc[i][1] = _mm512_fmadd_pd(a, b1, acc[i][1]);
            acc[i][2] = _mm512_fmadd_pd(a, b2, acc[i][2]);
        }
        left += kRows;
        right += kVectors * kLanes;
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
        for (std::size_t v = 0; v < kVectors; ++v) {
            tile.sums[i][v] = acc[i][v];
        }
    }
}

ASSAY_WIDE void multiply_tile(
    const std::int16_t* __restrict left, const std::int16_t* __restrict right, std::size_t depth, Tile& tile
) {
    __m512i acc[kRows][kVectors];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
        for (std::size_t v = 0; v < kVectors; ++v) {
            acc[i][v] = _mm512_setzero_si512();
        }
    }
    for (std::size_t k = 0; k < depth; k += 2) {
        const __m512i b0 = _mm512_loadu_si512(right);
        const __m512i b1 = _mm512_loadu_si512(right + 4 * kLanes);
        const __m512i b2 = _mm512_loadu_si512(right + 8 * kLanes);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kRows; ++i) {
            int pair = 0;
            std::memcpy(&pair, left + 2 * i, sizeof pair);
            const __m512i a = _mm512_set1_epi32(pair);
            acc[i][0] = _mm512_dpwssd_epi32(acc[i][0], a, b0);
            acc[i][1] = _mm512_dpwssd_epi32(acc[i][1], a, b1);
            acc[i][2] = _mm512_dpwssd_epi32(acc[i][2], a, b2);
        }
        left += 2 * kRows;
        right += 4 * kVectors * kLanes;
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
        for (std::size_t v = 0; v < kVectors; ++v) {
            tile.sums[i][2 * v] = _mm512_cvtepi32_pd(_mm512_castsi512_si256(acc[i][v]));
            tile.sums[i][2 * v + 1] = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(acc[i][v], 1));
        }
    }
}

#endif

}  // namespace

template <class T>
bool Microkernel<T>::is_available() {
    return has_wide_vectors();
}

template <class T>
void Microkernel<T>::pack_left(const Stored* from, std::size_t stride, std::size_t rows, std::size_t depth, T* out) {
    pack<kLeftRows, sizeof(T) == 8 ? 1 : 2>(from, stride, rows, depth, out);
}

template <class T>
void Microkernel<T>::pack_right(const Stored* from, std::size_t stride, std::size_t rows, std::size_t depth, T* out) {
    pack<kRightRows, sizeof(T) == 8 ? 1 : 2>(from, stride, rows, depth, out);
}

template <class T>
void Microkernel<T>::multiply(
    [[maybe_unused]] const T* left, [[maybe_unused]] const T* right, [[maybe_unused]] const T* right_low,
    [[maybe_unused]] std::size_t rows, [[maybe_unused]] std::size_t cols, [[maybe_unused]] std::size_t depth,
    [[maybe_unused]] const ProductFinish& finish
) {
#if defined(__x86_64__)
    const std::size_t whole = padded(depth);
    Tile tile;
    for (std::size_t col = 0; col < cols; col += kRightRows) {
        for (std::size_t row = 0; row < rows; row += kLeftRows) {
            multiply_tile(left + row * whole, right + col * whole, whole, tile);
            if (right_low != nullptr) {
                Tile low;
                multiply_tile(left + row * whole, right_low + col * whole, whole, low);
                join_tiles(low, tile);
            }
            finish_columns<kRightRows / kLanes>(tile, row, rows, col, cols, finish);
        }
    }
#else
    ASSERT(false);  // is_available() says no
#endif
}

template struct Microkernel<double>;
template struct Microkernel<std::int16_t>;

}  // namespace assay::engine::fused
