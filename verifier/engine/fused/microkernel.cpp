// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/microkernel.hpp>

#include <algorithm>
#include <cstring>

#include <core/base/assert.hpp>
#include <verifier/engine/fused/microkernel_neon.hpp>
#include <verifier/engine/fused/packing.hpp>
#include <verifier/engine/fused/wide.hpp>

namespace assay::engine::fused {
namespace {

constexpr std::size_t kMostTile = std::size_t{8} * 48;       // elements of the largest tile
constexpr std::size_t kStripBytes = std::size_t{24} * 1024;  // of a panel's columns that stay in a first-level cache
constexpr std::size_t kTilesAtOnce = 8;                      // whose sums are kept from strip to strip

// tile = 2^12 tile + low: the product is exact, the sum is rounded.
void join_tiles(const double* low, std::size_t size, double* tile) {
    for (std::size_t i = 0; i < size; ++i) {
        tile[i] = tile[i] * 0x1.0p12 + low[i];
    }
}

void add_tile(const double* more, std::size_t size, double* tile) {
    for (std::size_t i = 0; i < size; ++i) {
        tile[i] += more[i];
    }
}

#if defined(__x86_64__) || defined(__aarch64__)

template <class T, class Square, std::size_t rows, std::size_t cols>
Microkernel<T> kernel(
    Instructions instructions, typename Microkernel<T>::MultiplyTile* multiply_tile,
    typename Microkernel<T>::FinishTile* finish_tile
) {
    using Stored = typename Microkernel<T>::Stored;
    static_assert(rows * cols <= kMostTile);
    return {
        .instructions = instructions,
        .left_rows = rows,
        .right_rows = cols,
        .pack_left = pack_panels<Square, rows, Microkernel<T>::kPair, Stored, T>,
        .pack_right = pack_panels<Square, cols, Microkernel<T>::kPair, Stored, T>,
        .multiply_tile = multiply_tile,
        .finish_tile = finish_tile};
}

template <class T>
std::vector<Microkernel<T>> known_kernels();

#endif

#if defined(__x86_64__)

#define IN_ORDER(value) __asm__ volatile("" : "+v"(value))

// Two 16-bit integers as one of 32.
int pair_at(const std::int16_t* from) {
    int pair = 0;
    std::memcpy(&pair, from, sizeof pair);
    return pair;
}

namespace avx2 {

#define TARGET ASSAY_AVX2

struct ShortVector {
    using Element = std::int16_t;
    using Operand = __m256i;
    using Sums = __m256i;
    static constexpr std::size_t kLanes = 8;
    static constexpr std::size_t kPair = 2;
    TARGET static Sums zero() { return _mm256_setzero_si256(); }
    TARGET static Operand load(const Element* from) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    }
    TARGET static Operand broadcast(const Element* from) { return _mm256_set1_epi32(pair_at(from)); }
    TARGET static Sums multiply_add(Sums sums, Operand a, Operand b) {
        // What _mm256_add_epi32 does, in place: g++ would move the sums from register to register.
        __asm__("vpaddd %1, %0, %0" : "+x"(sums) : "x"(_mm256_madd_epi16(a, b)));
        return sums;
    }
    TARGET static void store(Sums sums, double* out) {
        _mm256_storeu_pd(out, _mm256_cvtepi32_pd(_mm256_castsi256_si128(sums)));
        _mm256_storeu_pd(out + 4, _mm256_cvtepi32_pd(_mm256_extracti128_si256(sums, 1)));
    }
};

struct DoubleVector {
    using Element = double;
    using Operand = __m256d;
    using Sums = __m256d;
    static constexpr std::size_t kLanes = 4;
    static constexpr std::size_t kPair = 1;
    TARGET static Sums zero() { return _mm256_setzero_pd(); }
    TARGET static Operand load(const Element* from) { return _mm256_loadu_pd(from); }
    TARGET static Operand broadcast(const Element* from) { return _mm256_broadcast_sd(from); }
    TARGET static Sums multiply_add(Sums sums, Operand a, Operand b) { return _mm256_fmadd_pd(a, b, sums); }
    TARGET static void store(Sums sums, double* out) { _mm256_storeu_pd(out, sums); }
};

constexpr std::size_t kTileRows = 6;
constexpr std::size_t kTileVectors = 2;

namespace shorts {
using Vector = ShortVector;
#include <verifier/engine/fused/microkernel_tile.inc>
}  // namespace shorts

namespace doubles {
using Vector = DoubleVector;
#include <verifier/engine/fused/microkernel_tile.inc>
}  // namespace doubles

// Eight rows of eight pairs.
struct ShortSquare {
    static constexpr std::size_t kRows = 8;
    static constexpr std::size_t kColumns = 16;
    TARGET static void transpose(
        const std::int16_t* from, std::size_t stride, std::size_t rows, std::int16_t* out, std::size_t step
    ) {
        __m256i row[kRows];
        __m256i pair[kRows];
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kRows; ++i) {
            row[i] = ShortVector::load(from + std::min(i, rows - 1) * stride);
        }
#pragma GCC unroll 4
        for (std::size_t i = 0; i < kRows; i += 2) {
            pair[i] = _mm256_unpacklo_epi32(row[i], row[i + 1]);      // elements 0 1 | 4 5
            pair[i + 1] = _mm256_unpackhi_epi32(row[i], row[i + 1]);  // elements 2 3 | 6 7
        }
#pragma GCC unroll 2
        for (std::size_t half = 0; half < 2; ++half) {
            const __m256i upper_even = _mm256_unpacklo_epi64(pair[half], pair[2 + half]);
            const __m256i upper_odd = _mm256_unpackhi_epi64(pair[half], pair[2 + half]);
            const __m256i lower_even = _mm256_unpacklo_epi64(pair[4 + half], pair[6 + half]);
            const __m256i lower_odd = _mm256_unpackhi_epi64(pair[4 + half], pair[6 + half]);
            row[2 * half] = _mm256_permute2x128_si256(upper_even, lower_even, 0x20);
            row[2 * half + 1] = _mm256_permute2x128_si256(upper_odd, lower_odd, 0x20);
            row[2 * half + 4] = _mm256_permute2x128_si256(upper_even, lower_even, 0x31);
            row[2 * half + 5] = _mm256_permute2x128_si256(upper_odd, lower_odd, 0x31);
        }
#pragma GCC unroll 8
        for (std::size_t k = 0; k < kRows; ++k) {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + k * step), row[k]);
        }
    }
};

// Four rows of four floats, as doubles.
struct DoubleSquare {
    static constexpr std::size_t kRows = 4;
    static constexpr std::size_t kColumns = 4;
    TARGET static void transpose(
        const float* from, std::size_t stride, std::size_t rows, double* out, std::size_t step
    ) {
        __m256d row[kRows];
        __m256d pair[kRows];
#pragma GCC unroll 4
        for (std::size_t i = 0; i < kRows; ++i) {
            row[i] = _mm256_cvtps_pd(_mm_loadu_ps(from + std::min(i, rows - 1) * stride));
        }
#pragma GCC unroll 2
        for (std::size_t i = 0; i < kRows; i += 2) {
            pair[i] = _mm256_unpacklo_pd(row[i], row[i + 1]);      // elements 0 | 2
            pair[i + 1] = _mm256_unpackhi_pd(row[i], row[i + 1]);  // elements 1 | 3
        }
        _mm256_storeu_pd(out, _mm256_permute2f128_pd(pair[0], pair[2], 0x20));
        _mm256_storeu_pd(out + step, _mm256_permute2f128_pd(pair[1], pair[3], 0x20));
        _mm256_storeu_pd(out + 2 * step, _mm256_permute2f128_pd(pair[0], pair[2], 0x31));
        _mm256_storeu_pd(out + 3 * step, _mm256_permute2f128_pd(pair[1], pair[3], 0x31));
    }
};

// Whole vectors of the first `rows` rows of a tile.
template <std::size_t tile_cols, bool is_first, bool is_last>
TARGET void finish_vectors(
    const double* __restrict exact, std::size_t rows, std::size_t width, const double* __restrict scale_a,
    const double* __restrict scale_b, double* __restrict sums, std::size_t cols, float* __restrict out,
    std::size_t stride
) {
    for (std::size_t i = 0; i < rows; ++i) {
        const __m256d row_scale = _mm256_broadcast_sd(scale_a + i);
        for (std::size_t j = 0; j + DoubleVector::kLanes <= width; j += DoubleVector::kLanes) {
            __m256d v = _mm256_mul_pd(_mm256_loadu_pd(exact + i * tile_cols + j), row_scale);
            v = _mm256_mul_pd(v, _mm256_loadu_pd(scale_b + j));
            if constexpr (!is_first) {
                v = _mm256_add_pd(_mm256_loadu_pd(sums + i * cols + j), v);
            }
            if constexpr (is_last) {
                // Adding zero turns -0 into +0 (NUM-7).
                _mm_storeu_ps(out + i * stride + j, _mm_add_ps(_mm256_cvtpd_ps(v), _mm_setzero_ps()));
            } else {
                _mm256_storeu_pd(sums + i * cols + j, v);
            }
        }
    }
}

template <std::size_t tile_cols>
void finish_tile(
    const double* tile, std::size_t row, std::size_t rows, std::size_t col, std::size_t cols, const ProductFinish& f
) {
    const std::size_t height = std::min(kTileRows, rows - row);
    const std::size_t width = std::min(tile_cols, cols - col);
    const auto finish =
        f.is_first ? (f.is_last ? finish_vectors<tile_cols, true, true> : finish_vectors<tile_cols, true, false>)
                   : (f.is_last ? finish_vectors<tile_cols, false, true> : finish_vectors<tile_cols, false, false>);
    double* const sums = f.sums == nullptr ? nullptr : f.sums + row * cols + col;
    float* const out = f.out + row * f.stride + col;
    finish(tile, height, width, f.scale_a + row, f.scale_b + col, sums, cols, out, f.stride);
    for (std::size_t i = 0; i < height; ++i) {
        for (std::size_t j = width / DoubleVector::kLanes * DoubleVector::kLanes; j < width; ++j) {
            finish_element(tile[i * tile_cols + j], row + i, col + j, cols, f);
        }
    }
}

#undef TARGET

}  // namespace avx2

namespace avx_vnni {

#define TARGET ASSAY_AVX_VNNI

struct Vector : avx2::ShortVector {
    TARGET static Sums multiply_add(Sums sums, Operand a, Operand b) { return _mm256_dpwssd_avx_epi32(sums, a, b); }
};

constexpr std::size_t kTileRows = avx2::kTileRows;
constexpr std::size_t kTileVectors = avx2::kTileVectors;
#include <verifier/engine/fused/microkernel_tile.inc>

#undef TARGET

}  // namespace avx_vnni

namespace avx512 {

#define TARGET ASSAY_WIDE

struct ShortVector {
    using Element = std::int16_t;
    using Operand = __m512i;
    using Sums = __m512i;
    static constexpr std::size_t kLanes = 16;
    static constexpr std::size_t kPair = 2;
    TARGET static Sums zero() { return _mm512_setzero_si512(); }
    TARGET static Operand load(const Element* from) { return _mm512_loadu_si512(from); }
    TARGET static Operand broadcast(const Element* from) { return _mm512_set1_epi32(pair_at(from)); }
    TARGET static Sums multiply_add(Sums sums, Operand a, Operand b) {
        return _mm512_add_epi32(sums, _mm512_madd_epi16(a, b));
    }
    TARGET static void store(Sums sums, double* out) {
        _mm512_storeu_pd(out, _mm512_cvtepi32_pd(_mm512_castsi512_si256(sums)));
        _mm512_storeu_pd(out + 8, _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(sums, 1)));
    }
};

struct DoubleVector {
    using Element = double;
    using Operand = __m512d;
    using Sums = __m512d;
    static constexpr std::size_t kLanes = 8;
    static constexpr std::size_t kPair = 1;
    TARGET static Sums zero() { return _mm512_setzero_pd(); }
    TARGET static Operand load(const Element* from) { return _mm512_loadu_pd(from); }
    TARGET static Operand broadcast(const Element* from) { return _mm512_set1_pd(*from); }
    TARGET static Sums multiply_add(Sums sums, Operand a, Operand b) { return _mm512_fmadd_pd(a, b, sums); }
    TARGET static void store(Sums sums, double* out) { _mm512_storeu_pd(out, sums); }
};

constexpr std::size_t kTileRows = 8;
constexpr std::size_t kTileVectors = 3;

namespace shorts {
using Vector = ShortVector;
#include <verifier/engine/fused/microkernel_tile.inc>
}  // namespace shorts

namespace doubles {
using Vector = DoubleVector;
#include <verifier/engine/fused/microkernel_tile.inc>
}  // namespace doubles

// Eight rows of eight floats, as doubles.
struct DoubleSquare {
    static constexpr std::size_t kRows = 8;
    static constexpr std::size_t kColumns = 8;
    TARGET static void transpose(
        const float* from, std::size_t stride, std::size_t rows, double* out, std::size_t step
    ) {
        __m512d row[kRows];
        __m512d pair[kRows];
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kRows; ++i) {
            row[i] = _mm512_cvtps_pd(_mm256_loadu_ps(from + std::min(i, rows - 1) * stride));
        }
#pragma GCC unroll 4
        for (std::size_t i = 0; i < kRows; i += 2) {
            pair[i] = _mm512_unpacklo_pd(row[i], row[i + 1]);
            pair[i + 1] = _mm512_unpackhi_pd(row[i], row[i + 1]);
        }
#pragma GCC unroll 2
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
};

template <std::size_t tile_cols>
TARGET void finish_tile(
    const double* tile, std::size_t row, std::size_t rows, std::size_t col, std::size_t cols, const ProductFinish& f
) {
    for (std::size_t i = 0; i < std::min(kTileRows, rows - row); ++i) {
        const __m512d scale_a = _mm512_set1_pd(f.scale_a[row + i]);
        for (std::size_t j = 0; j < tile_cols; j += kLanes) {
            if (const __mmask8 mask = columns_mask(col + j, cols); mask != 0) {
                finish_vector(_mm512_loadu_pd(tile + i * tile_cols + j), scale_a, row + i, col + j, cols, mask, f);
            }
        }
    }
}

#undef TARGET

}  // namespace avx512

namespace avx512_vnni {

#define TARGET ASSAY_WIDE_VNNI

struct Vector : avx512::ShortVector {
    TARGET static Sums multiply_add(Sums sums, Operand a, Operand b) { return _mm512_dpwssd_epi32(sums, a, b); }
};

constexpr std::size_t kTileRows = avx512::kTileRows;
constexpr std::size_t kTileVectors = avx512::kTileVectors;
#include <verifier/engine/fused/microkernel_tile.inc>

#undef TARGET

}  // namespace avx512_vnni

#undef IN_ORDER

template <>
std::vector<Microkernel<double>> known_kernels() {
    return {
        kernel<
            double, avx512::DoubleSquare, 8,
            24>(Instructions::kAvx512, avx512::doubles::multiply_tile, avx512::finish_tile<24>),
        kernel<
            double, avx2::DoubleSquare, 6, 8>(Instructions::kAvx2, avx2::doubles::multiply_tile, avx2::finish_tile<8>)};
}

template <>
std::vector<Microkernel<std::int16_t>> known_kernels() {
    using Square = avx2::ShortSquare;
    return {
        kernel<
            std::int16_t, Square, 8,
            48>(Instructions::kAvx512Vnni, avx512_vnni::multiply_tile, avx512::finish_tile<48>),
        kernel<
            std::int16_t, Square, 8, 48>(Instructions::kAvx512, avx512::shorts::multiply_tile, avx512::finish_tile<48>),
        kernel<std::int16_t, Square, 6, 16>(Instructions::kAvxVnni, avx_vnni::multiply_tile, avx2::finish_tile<16>),
        kernel<std::int16_t, Square, 6, 16>(Instructions::kAvx2, avx2::shorts::multiply_tile, avx2::finish_tile<16>)};
}

#elif defined(__aarch64__)

template <>
std::vector<Microkernel<double>> known_kernels() {
    return {kernel<double, NoSquare, 8, 4>(Instructions::kNeon, neon::doubles::multiply_tile, neon::finish_tile<4>)};
}

template <>
std::vector<Microkernel<std::int16_t>> known_kernels() {
    return {
        kernel<std::int16_t, NoSquare, 8, 8>(Instructions::kNeon, neon::shorts::multiply_tile, neon::finish_tile<8>)};
}

#else

template <class T>
std::vector<Microkernel<T>> known_kernels() {
    return {};
}

#endif

}  // namespace

template <class T>
const std::vector<Microkernel<T>>& microkernels() {
    static const std::vector<Microkernel<T>> kAvailable = [] {
        std::vector<Microkernel<T>> out;
        for (const Microkernel<T>& kernel : known_kernels<T>()) {
            if (may_use(kernel.instructions)) {
                out.push_back(kernel);
            }
        }
        return out;
    }();
    return kAvailable;
}

template const std::vector<Microkernel<double>>& microkernels<double>();
template const std::vector<Microkernel<std::int16_t>>& microkernels<std::int16_t>();

template <class T>
void Microkernel<T>::multiply(
    const T* left, const T* right, const T* right_low, std::size_t rows, std::size_t cols, std::size_t depth,
    const ProductFinish& finish
) const {
    const std::size_t whole = padded(depth);
    const std::size_t size = left_rows * right_rows;
    const std::size_t strip = std::max(kStripBytes / (right_rows * sizeof(T)) / kPair * kPair, kPair);
    double tiles[kTilesAtOnce][kMostTile];
    double lows[kTilesAtOnce][kMostTile];
    double more[kMostTile];
    const auto sum_up = [&](const T* columns, std::size_t row, std::size_t count, auto& out) {
        for (std::size_t k = 0; k < whole; k += strip) {
            for (std::size_t i = 0; i < count; ++i) {
                const T* from = left + (row + i * left_rows) * whole + k * left_rows;
                multiply_tile(from, columns + k * right_rows, std::min(strip, whole - k), k == 0 ? out[i] : more);
                if (k > 0) {
                    add_tile(more, size, out[i]);
                }
            }
        }
    };
    for (std::size_t col = 0; col < cols; col += right_rows) {
        for (std::size_t row = 0; row < rows; row += kTilesAtOnce * left_rows) {
            const std::size_t count = std::min(kTilesAtOnce, (rows - row + left_rows - 1) / left_rows);
            sum_up(right + col * whole, row, count, tiles);
            if (right_low != nullptr) {
                sum_up(right_low + col * whole, row, count, lows);
            }
            for (std::size_t i = 0; i < count; ++i) {
                if (right_low != nullptr) {
                    join_tiles(lows[i], size, tiles[i]);
                }
                finish_tile(tiles[i], row + i * left_rows, rows, col, cols, finish);
            }
        }
    }
}

template struct Microkernel<double>;
template struct Microkernel<std::int16_t>;

}  // namespace assay::engine::fused
