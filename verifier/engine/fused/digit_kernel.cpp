// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/digit_kernel.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <type_traits>

#include <core/base/assert.hpp>
#include <verifier/engine/fused/instructions.hpp>
#include <verifier/engine/fused/transpose.hpp>

#if defined(__x86_64__) && defined(__linux__)
#define ASSAY_HAS_TILES
#define ASSAY_TILES __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx512vnni,amx-tile,amx-int8")))
#endif

namespace assay::engine::fused {
namespace {

constexpr std::size_t kTileRows = 16;
constexpr std::size_t kTileDepth = DigitKernel::kStepColumns;
constexpr std::size_t kTileBytes = kTileRows * kTileDepth;
constexpr std::size_t kDigitBytes = 2 * kTileBytes;  // a digit of a step of a block: a tile below another
constexpr std::size_t kMaxDigits = 4;
constexpr std::size_t kMaxTerms = (std::size_t{1} << 17U) - 1;  // products of two digits, each at most 2^14, below 2^31

// The fewest that hold the limit of NUM-14.
std::size_t digits_of(std::uint32_t precision) {
    return precision <= 7 ? 1 : precision <= 14 ? 2 : precision <= 22 ? 3 : 4;
}

// Whether a sum of products of operands, not only of their digits, is below 2^31.
bool is_sum_narrow(std::uint32_t precision, std::size_t depth) {
    return 2 * precision + static_cast<std::uint32_t>(std::bit_width(depth - 1)) <= 30;
}

constexpr std::size_t rounded_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

#if defined(ASSAY_HAS_TILES)

// A row's digits of one step, each kDigitBytes after the one before. With 128 added to every digit the bytes of a
// number are its digits plus 128. The columns come in another order, which is the same for all operands.
template <std::size_t digits>
ASSAY_TILES ASSAY_INLINE void store_digits(const __m512i (&words)[4], std::int8_t* out) {
    const __m512i bias = _mm512_set1_epi32(static_cast<int>(0x80808080U >> (8U * (kMaxDigits - digits))));
    const __m512i by_digit =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    const auto store = [out](std::size_t digit, __m512i bytes) ASSAY_TILES {
        _mm512_store_si512(out + digit * kDigitBytes, _mm512_xor_si512(bytes, _mm512_set1_epi8(-128)));
    };
    __m512i bytes[4];
#pragma GCC unroll 4
    for (std::size_t j = 0; j < 4; ++j) {
        bytes[j] = _mm512_shuffle_epi8(_mm512_add_epi32(words[j], bias), by_digit);
    }
    const __m512i lower_even = _mm512_unpacklo_epi32(bytes[0], bytes[1]);
    const __m512i lower_odd = _mm512_unpacklo_epi32(bytes[2], bytes[3]);
    store(0, _mm512_unpacklo_epi64(lower_even, lower_odd));
    if constexpr (digits > 1) {
        store(1, _mm512_unpackhi_epi64(lower_even, lower_odd));
    }
    if constexpr (digits > 2) {
        const __m512i upper_even = _mm512_unpackhi_epi32(bytes[0], bytes[1]);
        const __m512i upper_odd = _mm512_unpackhi_epi32(bytes[2], bytes[3]);
        store(2, _mm512_unpacklo_epi64(upper_even, upper_odd));
        if constexpr (digits > 3) {
            store(3, _mm512_unpackhi_epi64(upper_even, upper_odd));
        }
    }
}

// A row of `count` values, each of which `round` makes whole.
template <std::size_t digits, class Round>
ASSAY_TILES ASSAY_INLINE void take_apart(const float* from, std::size_t count, std::int8_t* out, const Round& round) {
    constexpr std::size_t kWords = 16;
    __m512i words[4];
    for (; count >= kTileDepth; count -= kTileDepth, from += kTileDepth, out += digits * kDigitBytes) {
#pragma GCC unroll 4
        for (std::size_t j = 0; j < 4; ++j) {
            words[j] = round(_mm512_loadu_ps(from + j * kWords));
        }
        store_digits<digits>(words, out);
    }
    if (count > 0) {
#pragma GCC unroll 4
        for (std::size_t j = 0; j < 4; ++j) {
            const std::size_t before = std::min(j * kWords, count);
            const std::size_t left = std::min(count - before, kWords);
            words[j] = round(_mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << left) - 1U), from + before));
        }
        store_digits<digits>(words, out);
    }
}

struct RoundWhole {
    ASSAY_TILES ASSAY_INLINE __m512i operator()(__m512 x) const { return _mm512_cvtps_epi32(x); }
};

ASSAY_TILES ASSAY_INLINE __mmask16 is_finite(__m512 x) {
    const __m512 infinity = _mm512_set1_ps(std::numeric_limits<float>::infinity());
    return _mm512_cmp_ps_mask(_mm512_abs_ps(x), infinity, _CMP_LT_OQ);
}

// NUM-14 in floats.
struct RoundFloats {
    __m512 scale;
    __m512 limit;
    ASSAY_TILES ASSAY_INLINE __m512i operator()(__m512 x) const {
        const __m512 lowest = _mm512_sub_ps(_mm512_setzero_ps(), limit);
        const __m512 scaled = _mm512_maskz_mul_ps(is_finite(x), x, scale);
        return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_max_ps(scaled, lowest), limit));
    }
};

// NUM-14
struct RoundDoubles {
    __m512d scale;
    __m512d limit;
    ASSAY_TILES ASSAY_INLINE __m256i half(__m256 x) const {
        const __m512d lowest = _mm512_sub_pd(_mm512_setzero_pd(), limit);
        const __m512d scaled = _mm512_mul_pd(_mm512_cvtps_pd(x), scale);
        return _mm512_cvtpd_epi32(_mm512_min_pd(_mm512_max_pd(scaled, lowest), limit));
    }
    ASSAY_TILES ASSAY_INLINE __m512i operator()(__m512 x) const {
        const __m512 finite = _mm512_maskz_mov_ps(is_finite(x), x);
        return _mm512_inserti64x4(
            _mm512_castsi256_si512(half(_mm512_castps512_ps256(finite))), half(_mm512_extractf32x8_ps(finite, 1)), 1
        );
    }
};

// Of a matrix of 32-bit words.
ASSAY_TILES void transpose_tile(std::int8_t* tile) {
    auto* words = reinterpret_cast<std::uint32_t*>(tile);
    transpose_wide_square(words, kWideSquare, words, kWideSquare);
}

// Blocks of rows; in a block step after step, of those digit after digit.
template <std::size_t digits, bool is_right>
ASSAY_TILES void pack(const float* from, std::size_t stride, std::size_t rows, std::size_t depth, std::int8_t* out) {
    const std::size_t block_bytes = rounded_up(depth, kTileDepth) * DigitKernel::kBlockRows * digits;
    for (std::size_t i = 0; i < rows; ++i) {
        std::int8_t* row = out + i / DigitKernel::kBlockRows * block_bytes + i % DigitKernel::kBlockRows * kTileDepth;
        take_apart<digits>(from + i * stride, depth, row, RoundWhole{});
    }
    const std::size_t size = rounded_up(rows, DigitKernel::kBlockRows) / DigitKernel::kBlockRows * block_bytes;
    for (std::size_t tile = 0; is_right && tile < size; tile += kTileBytes) {
        transpose_tile(out + tile);
    }
}

// Row `i` of those that `how` has the exponents of.
template <std::size_t digits>
ASSAY_TILES void quantise_row(
    const float* x, std::size_t cols, const Quantisation& how, std::size_t i, std::int8_t* out
) {
    const std::int32_t* exponents = how.is_shared ? how.exponent : how.exponent + i * how.chunks;
    const double limit = limit_of(how.precision);
    const __m512 float_limit = _mm512_set1_ps(static_cast<float>(limit));
    for (std::size_t first = 0; first < cols; first += how.chunk) {
        const std::int64_t k = std::int64_t{how.precision} - *exponents++;
        const double scale = power_of_two(k);
        const std::size_t count = std::min(how.chunk, cols - first);
        std::int8_t* to = out + first / kTileDepth * digits * kDigitBytes;
        if (fits_floats(how.precision, k)) {
            const __m512 float_scale = _mm512_set1_ps(static_cast<float>(scale));
            take_apart<digits>(x + first, count, to, RoundFloats{float_scale, float_limit});
        } else {
            take_apart<digits>(x + first, count, to, RoundDoubles{_mm512_set1_pd(scale), _mm512_set1_pd(limit)});
        }
    }
}

template <std::size_t digits, bool is_right>
ASSAY_TILES void quantise(Extent at, const float* x, const Quantisation& how, std::int8_t* out) {
    const std::size_t block_bytes = rounded_up(at.cols, kTileDepth) * DigitKernel::kBlockRows * digits;
    for (std::size_t i = 0; i < at.rows; ++i) {
        const std::size_t row = at.first_row + i;
        std::int8_t* block = out + row / DigitKernel::kBlockRows * block_bytes;
        quantise_row<digits>(x + i * at.cols, at.cols, how, i, block + row % DigitKernel::kBlockRows * kTileDepth);
        if (!is_right || (row % kTileRows + 1 != kTileRows && i + 1 != at.rows)) {
            continue;
        }
        std::int8_t* tiles = block + row % DigitKernel::kBlockRows / kTileRows * kTileBytes;
        for (std::size_t tile = 0; tile < block_bytes; tile += kDigitBytes) {
            transpose_tile(tiles + tile);
        }
    }
}

// The sums of a block of the result, weight by weight in each tile: upper left, upper right, lower left, lower right.
template <std::size_t digits>
struct alignas(64) Sums {
    static constexpr std::size_t kWeights = 2 * digits - 1;
    std::int32_t tiles[4][kWeights][kTileRows][kTileRows];
    std::size_t row = 0;  // of the block in the result
    std::size_t col = 0;
};

// All tiles are whole.
struct alignas(64) TileConfig {
    std::uint8_t palette = 1;
    std::uint8_t start_row = 0;
    std::uint8_t reserved[14] = {};
    std::uint16_t bytes_per_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

template <std::size_t digits>
ASSAY_TILES void multiply_block(
    const std::int8_t* left, const std::int8_t* right, std::size_t depth, Sums<digits>& sums
) {
    for (std::size_t weight = 0; weight < 2 * digits - 1; ++weight) {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
        for (std::size_t i = weight < digits ? 0 : weight - digits + 1; i < digits && i <= weight; ++i) {
            const std::int8_t* a = left + i * kDigitBytes;
            const std::int8_t* b = right + (weight - i) * kDigitBytes;
            for (std::size_t k = 0; k < depth; k += kTileDepth, a += digits * kDigitBytes, b += digits * kDigitBytes) {
                _tile_loadd(4, a, kTileDepth);
                _tile_loadd(6, b, kTileDepth);
                _tile_dpbssd(0, 4, 6);
                _tile_loadd(7, b + kTileBytes, kTileDepth);
                _tile_dpbssd(1, 4, 7);
                _tile_loadd(5, a + kTileBytes, kTileDepth);
                _tile_dpbssd(2, 5, 6);
                _tile_dpbssd(3, 5, 7);
            }
        }
        _tile_stored(0, sums.tiles[0][weight], kTileDepth);
        _tile_stored(1, sums.tiles[1][weight], kTileDepth);
        _tile_stored(2, sums.tiles[2][weight], kTileDepth);
        _tile_stored(3, sums.tiles[3][weight], kTileDepth);
    }
}

// The sum over all weights of eight columns, as NUM-16 has it, rounded to doubles; `is_narrow` when it fits an int32.
template <std::size_t digits, bool is_narrow>
ASSAY_TILES ASSAY_INLINE __m512d join_weights(const std::int32_t* from) {
    constexpr std::size_t kTop = 2 * digits - 2;
    const auto load = [from](std::size_t weight) ASSAY_TILES {
        return _mm256_load_si256(reinterpret_cast<const __m256i*>(from + weight * kTileRows * kTileRows));
    };
    if constexpr (is_narrow) {
        __m256i sum = load(kTop);
        for (std::size_t weight = kTop; weight > 0; --weight) {
            sum = _mm256_add_epi32(_mm256_slli_epi32(sum, 8), load(weight - 1));
        }
        return _mm512_cvtepi32_pd(sum);
    } else {
        __m512i sum = _mm512_cvtepi32_epi64(load(kTop));
#pragma GCC unroll 8
        for (std::size_t weight = kTop; weight > 0; --weight) {
            sum = _mm512_add_epi64(_mm512_slli_epi64(sum, 8), _mm512_cvtepi32_epi64(load(weight - 1)));
        }
        return _mm512_cvtepi64_pd(sum);
    }
}

template <bool is_narrow, std::size_t digits>
ASSAY_TILES void finish_block(
    const Sums<digits>& sums, std::size_t rows, std::size_t cols, const ProductFinish& finish
) {
    for (std::size_t tile = 0; tile < 4; ++tile) {
        const std::size_t row = sums.row + tile / 2 * kTileRows;
        const std::size_t col = sums.col + tile % 2 * kTileRows;
        const __mmask8 left = columns_mask(col, cols);
        const __mmask8 right = columns_mask(col + kLanes, cols);
        const std::size_t end = left == 0 ? row : std::min(row + kTileRows, rows);
        const std::int32_t* from = sums.tiles[tile][0][0];
        for (std::size_t i = row; i < end; ++i, from += kTileRows) {
            const __m512d scale_a = _mm512_set1_pd(finish.scale_a[i]);
            finish_vector(join_weights<digits, is_narrow>(from), scale_a, i, col, cols, left, finish);
            finish_vector(
                join_weights<digits, is_narrow>(from + kLanes), scale_a, i, col + kLanes, cols, right, finish
            );
        }
    }
}

template <std::size_t digits, bool is_narrow>
ASSAY_TILES void multiply_digits(
    DigitKernel::Digits left, DigitKernel::Digits right, std::size_t rows, std::size_t cols, std::size_t depth,
    const ProductFinish& finish
) {
    constexpr std::size_t kBlock = DigitKernel::kBlockRows;
    const TileConfig config;
    // What the unit has stored can be read back only after a while, so a block is finished when the next is multiplied.
    std::array<Sums<digits>, 2> sums;
    std::size_t blocks = 0;
    _tile_loadconfig(&config);
    for (std::size_t col = 0; col < cols; col += kBlock) {
        for (std::size_t row = 0; row < rows; row += kBlock, ++blocks) {
            Sums<digits>& block = sums[blocks % 2];
            block.row = row;
            block.col = col;
            multiply_block<digits>(
                left.at + row / kBlock * left.block_bytes, right.at + col / kBlock * right.block_bytes, depth, block
            );
            if (blocks > 0) {
                finish_block<is_narrow>(sums[(blocks - 1) % 2], rows, cols, finish);
            }
        }
    }
    finish_block<is_narrow>(sums[(blocks - 1) % 2], rows, cols, finish);
    _tile_release();
}

// Calls f with the number of digits as a type.
template <class F>
void with_digits(std::size_t digits, F f) {
    switch (digits) {
        case 1:
            return f(std::integral_constant<std::size_t, 1>{});
        case 2:
            return f(std::integral_constant<std::size_t, 2>{});
        case 3:
            return f(std::integral_constant<std::size_t, 3>{});
        default:
            return f(std::integral_constant<std::size_t, 4>{});
    }
}

#endif

}  // namespace

bool DigitKernel::is_available() {
#if defined(ASSAY_HAS_TILES)
    static const bool kIsThere = may_use(Instructions::kAmx);
    return kIsThere;
#else
    return false;
#endif
}

bool DigitKernel::fits(std::uint32_t precision, std::size_t depth) { return digits_of(precision) * depth <= kMaxTerms; }

DigitKernel::DigitKernel(std::uint32_t precision) : precision_(precision), digits_(digits_of(precision)) {}

std::size_t DigitKernel::packed_size(std::size_t rows, std::size_t depth) const {
    return rounded_up(rows, kBlockRows) * rounded_up(depth, kTileDepth) * digits_;
}

DigitKernel::Digits DigitKernel::part(
    const std::int8_t* whole, std::size_t depth, std::size_t first_row, std::size_t first_column
) const {
    ASSERT(first_row % kBlockRows == 0 && first_column % kStepColumns == 0);
    return {
        .at = whole + packed_size(first_row, depth) + packed_size(kBlockRows, first_column),
        .block_bytes = packed_size(kBlockRows, depth),
    };
}

#if defined(ASSAY_HAS_TILES)

void DigitKernel::pack_left(
    const float* from, std::size_t stride, std::size_t rows, std::size_t depth, std::int8_t* out
) const {
    with_digits(digits_, [&](auto digits) { pack<digits(), false>(from, stride, rows, depth, out); });
}

void DigitKernel::pack_right(
    const float* from, std::size_t stride, std::size_t rows, std::size_t depth, std::int8_t* out
) const {
    with_digits(digits_, [&](auto digits) { pack<digits(), true>(from, stride, rows, depth, out); });
}

void DigitKernel::quantise_left(Extent at, const float* x, const Quantisation& how, std::int8_t* out) const {
    with_digits(digits_, [&](auto digits) { quantise<digits(), false>(at, x, how, out); });
}

void DigitKernel::quantise_right(Extent at, const float* x, const Quantisation& how, std::int8_t* out) const {
    with_digits(digits_, [&](auto digits) { quantise<digits(), true>(at, x, how, out); });
}

void DigitKernel::multiply(
    Digits left, Digits right, std::size_t rows, std::size_t cols, std::size_t depth, const ProductFinish& finish
) const {
    const bool is_narrow = digits_ == 1 || (digits_ == 2 && is_sum_narrow(precision_, depth));
    with_digits(digits_, [&](auto digits) {
        if constexpr (digits() <= 2) {
            if (is_narrow) {
                return multiply_digits<digits(), true>(left, right, rows, cols, depth, finish);
            }
        }
        if constexpr (digits() >= 2) {
            multiply_digits<digits(), false>(left, right, rows, cols, depth, finish);
        }
    });
}

#else

// is_available() says no.
void DigitKernel::pack_left(const float*, std::size_t, std::size_t, std::size_t, std::int8_t*) const { ASSERT(false); }
void DigitKernel::pack_right(const float*, std::size_t, std::size_t, std::size_t, std::int8_t*) const { ASSERT(false); }
void DigitKernel::quantise_left(Extent, const float*, const Quantisation&, std::int8_t*) const { ASSERT(false); }
void DigitKernel::quantise_right(Extent, const float*, const Quantisation&, std::int8_t*) const { ASSERT(false); }
void DigitKernel::multiply(Digits, Digits, std::size_t, std::size_t, std::size_t, const ProductFinish&) const {
    ASSERT(false);
}

#endif

}  // namespace assay::engine::fused
