// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/digit_kernel.hpp>

#include <algorithm>
#include <array>
#include <bit>

#include <core/base/assert.hpp>
#include <verifier/engine/fused/microkernel.hpp>
#include <verifier/engine/fused/transpose.hpp>

#if defined(__x86_64__) && defined(__linux__)
#define ASSAY_HAS_TILES
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#define ASSAY_TILES __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx512vnni,amx-tile,amx-int8")))
#endif

namespace assay::engine::fused {
namespace {

constexpr std::size_t kTileRows = 16;
constexpr std::size_t kTileDepth = 64;
constexpr std::size_t kTileBytes = kTileRows * kTileDepth;
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

bool has_byte_tiles() {
    constexpr unsigned kTile = 1U << 24U;
    constexpr unsigned kInt8 = 1U << 25U;
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & kTile) != 0 && (edx & kInt8) != 0;
}

// Linux keeps the tiles of a process that has asked.
bool is_allowed_tiles() {
    constexpr long kRequestPermission = 0x1023;
    constexpr long kTileData = 18;
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

// One row of each digit's tile. With 128 added to every digit the bytes of a number are its digits plus 128.
template <std::size_t digits>
ASSAY_TILES ASSAY_INLINE void pack_row(const float* from, std::size_t count, std::int8_t* out, std::size_t step) {
    constexpr std::size_t kWords = 16;
    const __m512i bias = _mm512_set1_epi32(static_cast<int>(0x80808080U >> (8U * (kMaxDigits - digits))));
    const __m128i sign = _mm_set1_epi8(-128);
    for (std::size_t k = 0; k < kTileDepth; k += kWords) {
        const std::size_t left = k < count ? std::min(count - k, kWords) : 0;
        const auto mask = static_cast<__mmask16>((1U << left) - 1U);
        const __m512i whole = _mm512_cvtps_epi32(_mm512_maskz_loadu_ps(mask, from + std::min(k, count)));
        const __m512i words = _mm512_add_epi32(whole, bias);
        for (std::size_t d = 0; d < digits; ++d) {
            const __m128i bytes = _mm512_cvtepi32_epi8(_mm512_srli_epi32(words, static_cast<unsigned>(8 * d)));
            _mm_store_si128(reinterpret_cast<__m128i*>(out + d * step + k), _mm_xor_si128(bytes, sign));
        }
    }
}

// The same of numbers that have two digits at most.
template <std::size_t digits>
ASSAY_TILES ASSAY_INLINE void pack_row(
    const std::int16_t* from, std::size_t count, std::int8_t* out, std::size_t step
) {
    static_assert(digits <= 2);
    constexpr std::size_t kWords = 32;
    const __m512i bias = _mm512_set1_epi16(static_cast<short>(digits == 1 ? 0x0080U : 0x8080U));
    const __m256i sign = _mm256_set1_epi8(-128);
    for (std::size_t k = 0; k < kTileDepth; k += kWords) {
        const std::size_t left = k < count ? std::min(count - k, kWords) : 0;
        const auto mask = static_cast<__mmask32>((std::uint64_t{1} << left) - 1U);
        const __m512i words = _mm512_add_epi16(_mm512_maskz_loadu_epi16(mask, from + std::min(k, count)), bias);
        for (std::size_t d = 0; d < digits; ++d) {
            const __m256i bytes = _mm512_cvtepi16_epi8(d == 0 ? words : _mm512_srli_epi16(words, 8));
            _mm256_store_si256(reinterpret_cast<__m256i*>(out + d * step + k), _mm256_xor_si256(bytes, sign));
        }
    }
}

// Of a matrix of 32-bit words.
ASSAY_TILES void transpose_tile(std::int8_t* tile) {
    auto* words = reinterpret_cast<std::uint32_t*>(tile);
    transpose_wide_square(words, kWideSquare, words, kWideSquare);
}

// Blocks of rows; in a block 64 columns after 64 columns, of those digit after digit, of each two tiles, one below the
// other.
template <std::size_t digits, bool is_transposed, class Stored>
ASSAY_TILES void pack(const Stored* from, std::size_t stride, std::size_t rows, std::size_t depth, std::int8_t* out) {
    constexpr std::size_t kStep = 2 * kTileBytes;
    for (std::size_t block = 0; block < rows; block += DigitKernel::kBlockRows) {
        for (std::size_t k = 0; k < depth; k += kTileDepth) {
            for (std::size_t i = 0; i < DigitKernel::kBlockRows; ++i) {
                const bool is_there = block + i < rows;
                const Stored* row = from + (is_there ? (block + i) * stride + k : 0);
                pack_row<digits>(row, is_there ? std::min(depth - k, kTileDepth) : 0, out + i * kTileDepth, kStep);
            }
            for (std::size_t tile = 0; is_transposed && tile < 2 * digits; ++tile) {
                transpose_tile(out + tile * kTileBytes);
            }
            out += digits * kStep;
        }
    }
}

template <bool is_transposed, class Stored>
void pack_digits(
    std::size_t digits, const Stored* from, std::size_t stride, std::size_t rows, std::size_t depth, std::int8_t* out
) {
    switch (digits) {
        case 1: return pack<1, is_transposed>(from, stride, rows, depth, out);
        case 2: return pack<2, is_transposed>(from, stride, rows, depth, out);
        default:
            if constexpr (sizeof(Stored) == sizeof(float)) {
                return digits == 3 ? pack<3, is_transposed>(from, stride, rows, depth, out)
                                   : pack<4, is_transposed>(from, stride, rows, depth, out);
            } else {
                ASSERT(false);  // 16-bit integers are of 8 bits at most
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
    constexpr std::size_t kStep = 2 * kTileBytes;
    for (std::size_t weight = 0; weight < 2 * digits - 1; ++weight) {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
        for (std::size_t i = weight < digits ? 0 : weight - digits + 1; i < digits && i <= weight; ++i) {
            const std::int8_t* a = left + i * kStep;
            const std::int8_t* b = right + (weight - i) * kStep;
            for (std::size_t k = 0; k < depth; k += kTileDepth, a += digits * kStep, b += digits * kStep) {
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
        for (std::size_t half = 0; half < kTileRows; half += kLanes) {
            const std::size_t col = sums.col + tile % 2 * kTileRows + half;
            const __mmask8 mask = columns_mask(col, cols);
            const std::size_t end = mask == 0 ? row : std::min(row + kTileRows, rows);
            const std::int32_t* from = sums.tiles[tile][0][0] + half;
            for (std::size_t i = row; i < end; ++i, from += kTileRows) {
                const __m512d scale_a = _mm512_set1_pd(finish.scale_a[i]);
                finish_vector(join_weights<digits, is_narrow>(from), scale_a, col, i * cols + col, mask, finish);
            }
        }
    }
}

template <std::size_t digits, bool is_narrow>
ASSAY_TILES void multiply_digits(
    const std::int8_t* left, const std::int8_t* right, std::size_t rows, std::size_t cols, std::size_t depth,
    const ProductFinish& finish
) {
    constexpr std::size_t kBlock = DigitKernel::kBlockRows;
    const std::size_t row_bytes = rounded_up(depth, kTileDepth) * digits;
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
            multiply_block<digits>(left + row * row_bytes, right + col * row_bytes, depth, block);
            if (blocks > 0) {
                finish_block<is_narrow>(sums[(blocks - 1) % 2], rows, cols, finish);
            }
        }
    }
    finish_block<is_narrow>(sums[(blocks - 1) % 2], rows, cols, finish);
    _tile_release();
}

#endif

}  // namespace

bool DigitKernel::is_available() {
#if defined(ASSAY_HAS_TILES)
    static const bool is_there = Microkernel<std::int16_t>::is_available() && has_byte_tiles() && is_allowed_tiles();
    return is_there;
#else
    return false;
#endif
}

bool DigitKernel::fits(std::uint32_t precision, std::size_t depth) { return digits_of(precision) * depth <= kMaxTerms; }

DigitKernel::DigitKernel(std::uint32_t precision) : precision_(precision), digits_(digits_of(precision)) {}

std::size_t DigitKernel::packed_size(std::size_t rows, std::size_t depth) const {
    return rounded_up(rows, kBlockRows) * rounded_up(depth, kTileDepth) * digits_;
}

template <class Stored>
void DigitKernel::pack_left(
    [[maybe_unused]] const Stored* from, [[maybe_unused]] std::size_t stride, [[maybe_unused]] std::size_t rows,
    [[maybe_unused]] std::size_t depth, [[maybe_unused]] std::int8_t* out
) const {
#if defined(ASSAY_HAS_TILES)
    pack_digits<false>(digits_, from, stride, rows, depth, out);
#endif
}

template <class Stored>
void DigitKernel::pack_right(
    [[maybe_unused]] const Stored* from, [[maybe_unused]] std::size_t stride, [[maybe_unused]] std::size_t rows,
    [[maybe_unused]] std::size_t depth, [[maybe_unused]] std::int8_t* out
) const {
#if defined(ASSAY_HAS_TILES)
    pack_digits<true>(digits_, from, stride, rows, depth, out);
#endif
}

void DigitKernel::multiply(
    [[maybe_unused]] const std::int8_t* left, [[maybe_unused]] const std::int8_t* right,
    [[maybe_unused]] std::size_t rows, [[maybe_unused]] std::size_t cols, [[maybe_unused]] std::size_t depth,
    [[maybe_unused]] const ProductFinish& finish
) const {
#if defined(ASSAY_HAS_TILES)
    switch (digits_) {
        case 1: return multiply_digits<1, true>(left, right, rows, cols, depth, finish);
        case 2:
            return is_sum_narrow(precision_, depth) ? multiply_digits<2, true>(left, right, rows, cols, depth, finish)
                                                    : multiply_digits<2, false>(left, right, rows, cols, depth, finish);
        case 3: return multiply_digits<3, false>(left, right, rows, cols, depth, finish);
        default: return multiply_digits<4, false>(left, right, rows, cols, depth, finish);
    }
#else
    ASSERT(false);  // is_available() says no
#endif
}

template void DigitKernel::pack_left(const float*, std::size_t, std::size_t, std::size_t, std::int8_t*) const;
template void DigitKernel::pack_left(const std::int16_t*, std::size_t, std::size_t, std::size_t, std::int8_t*) const;
template void DigitKernel::pack_right(const float*, std::size_t, std::size_t, std::size_t, std::int8_t*) const;
template void DigitKernel::pack_right(const std::int16_t*, std::size_t, std::size_t, std::size_t, std::int8_t*) const;

}  // namespace assay::engine::fused
