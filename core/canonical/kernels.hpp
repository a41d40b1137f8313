// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include <core/base/bytes.hpp>
#include <core/canonical/partial.hpp>
#include <core/canonical/tile.hpp>
#include <core/canonical/transcendental.hpp>
#include <core/canonical/view.hpp>

/// Internal to core/canonical: executes one partial on decoded tiles. Used by both execute_partial and execute_node, so
/// that the one-step verifier and a full execution cannot differ.
namespace assay::canonical {

static_assert(FLT_EVAL_METHOD == 0, "NUM-2: float and double operations round to their own type");
static_assert(FLT_MANT_DIG == 24 && DBL_MANT_DIG == 53, "NUM-2: IEEE 754 binary32 and binary64");

/// A decoded tile: i64 in `wide`, all others in `words`, f32 and bf16 as bits and i8 as a byte; the other array is
/// unused.
struct Block {
    alignas(64) std::array<std::uint32_t, kTileElements> words;
    alignas(64) std::array<std::uint64_t, kTileElements> wide;
};

/// A decoded accumulator; all zeros before partial 0.
struct State {
    alignas(64) std::array<std::uint32_t, kTileElements> words;
    alignas(64) std::array<std::uint64_t, kTileElements> wide;
    alignas(64) std::array<double, kTileElements> sum;
};

/// Number of elements of each array of State in an accumulator; its bytes are these arrays in this order.
struct StateSize {
    std::size_t words = 0;
    std::size_t wide = 0;
    std::size_t sum = 0;
    constexpr std::size_t bytes() const { return words * 4 + wide * 8 + sum * 8; }
};

inline constexpr std::size_t kMaxOperands = 4;
struct OperandList {
    std::array<TileRef, kMaxOperands> refs{};
    std::size_t size = 0;
    void add(std::uint32_t input, std::uint64_t tile) { refs[size++] = TileRef{input, tile}; }
};
/// `view` is the tile's view_tile for a kView and ignored for other nodes; likewise in partial_count below.
OperandList operand_list(const Node& node, std::uint64_t tile, std::uint32_t partial, const ViewTile* view) noexcept;
std::uint32_t partial_count(const Node& node, std::uint64_t tile, const ViewTile* view) noexcept;
/// view_tile for a kView; nullptr for every other node.
std::unique_ptr<const ViewTile> view_of(const Node& node, std::uint64_t tile);
std::optional<TileRef> gather_operand(
    const Node& node, std::uint64_t tile, std::uint32_t partial, const Block& index
) noexcept;
/// Contents of the accumulator after `partial`, which must not be the last.
StateSize state_size(const Node& node, std::uint32_t partial) noexcept;

/// One partial with its inputs and its location. `operands` are in operand_list's order, with padding cleared.
struct Work {
    const Node& node;
    std::uint64_t tile = 0;
    std::uint32_t partial = 0;
    bool is_first = false;  ///< nothing comes before it
    bool is_last = false;   ///< it leaves the tile
    bool is_part = false;   ///< of a part (NUM-41)
    const StepContext& context;
    std::array<const Block*, kMaxOperands> operands{};
    std::size_t operand_count = 0;
    ByteView dataset_values;         ///< kBatchRows only: the row's values in the tile's columns, 4 bytes each
    const ViewTile* view = nullptr;  ///< kView only

    std::uint32_t row_tile() const { return static_cast<std::uint32_t>(tile / tile_cols(node.shape)); }
    std::uint32_t col_tile() const { return static_cast<std::uint32_t>(tile % tile_cols(node.shape)); }
    /// Number of rows and columns of the output tile without padding.
    std::uint32_t rows() const { return std::min(kTileDim, node.shape.rows - row_tile() * kTileDim); }
    std::uint32_t cols() const { return std::min(kTileDim, node.shape.cols - col_tile() * kTileDim); }
};

/// Advances `state` by one partial. If it is the last, fills `out`, which must be all zeros.
void run_partial(const Work& work, State& state, Block& out) noexcept;

// By group of operations; run_partial dispatches to them.
void run_movement(const Work& work, State& state, Block& out) noexcept;
void run_elementwise(const Work& work, Block& out) noexcept;
void run_reduction(const Work& work, State& state, Block& out) noexcept;
void run_quantise(const Work& work, Block& out) noexcept;
void run_dequantise(const Work& work, Block& out) noexcept;
void run_contract(const Work& work, State& state, Block& out) noexcept;
void run_random(const Work& work, Block& out) noexcept;

/// Zeroes the elements of `block`, which is tile `tile` of a tensor, that lie outside `shape` (NUM-4).
void clear_padding(Block& block, DType dtype, Shape shape, std::uint64_t tile) noexcept;
void clear(Block& block, DType dtype) noexcept;
void clear(State& state) noexcept;

inline std::uint32_t load_u32(const std::uint8_t* from) {
    std::uint32_t out = 0;
    std::memcpy(&out, from, sizeof out);
    return std::endian::native == std::endian::big ? __builtin_bswap32(out) : out;
}
inline std::uint64_t load_u64(const std::uint8_t* from) {
    std::uint64_t out = 0;
    std::memcpy(&out, from, sizeof out);
    return std::endian::native == std::endian::big ? __builtin_bswap64(out) : out;
}
inline void store_u32(std::uint8_t* to, std::uint32_t value) {
    value = std::endian::native == std::endian::big ? __builtin_bswap32(value) : value;
    std::memcpy(to, &value, sizeof value);
}
inline void store_u64(std::uint8_t* to, std::uint64_t value) {
    value = std::endian::native == std::endian::big ? __builtin_bswap64(value) : value;
    std::memcpy(to, &value, sizeof value);
}

/// Decodes `count` little-endian elements from `from` on into a block, from place `at` on; store_elements is the
/// reverse.
inline void load_elements(const std::uint8_t* from, DType dtype, std::size_t count, Block& block, std::size_t at) {
    const auto each = [&](auto& to, std::size_t size, auto load) {
        for (std::size_t i = 0; i < count; ++i) {
            to[at + i] = load(from + i * size);
        }
    };
    switch (dtype) {
        case DType::kI64:
            return each(block.wide, 8, load_u64);
        case DType::kBf16:
            return each(block.words, 2, [](const std::uint8_t* x) { return x[0] | std::uint32_t{x[1]} << 8U; });
        case DType::kI8:
            return each(block.words, 1, [](const std::uint8_t* x) { return std::uint32_t{*x}; });
        default:
            return each(block.words, 4, load_u32);
    }
}
inline void store_elements(const Block& block, std::size_t at, DType dtype, std::size_t count, std::uint8_t* to) {
    const auto each = [&](const auto& from, std::size_t size, auto store) {
        for (std::size_t i = 0; i < count; ++i) {
            store(to + i * size, from[at + i]);
        }
    };
    switch (dtype) {
        case DType::kI64:
            return each(block.wide, 8, store_u64);
        case DType::kBf16:
            return each(block.words, 2, [](std::uint8_t* x, std::uint32_t bits) {
                x[0] = static_cast<std::uint8_t>(bits);
                x[1] = static_cast<std::uint8_t>(bits >> 8U);
            });
        case DType::kI8:
            return each(block.words, 1, [](std::uint8_t* x, std::uint32_t bits) {
                *x = static_cast<std::uint8_t>(bits);
            });
        default:
            return each(block.words, 4, store_u32);
    }
}

inline float as_f32(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline std::int32_t as_i32(std::uint32_t bits) { return std::bit_cast<std::int32_t>(bits); }
inline constexpr std::uint32_t kCanonicalNan = 0x7fc00000;
/// NUM-7: bits of an f32 result in canonical form: a single NaN, no negative zero.
inline std::uint32_t canonical_bits(float x) { return x != x ? kCanonicalNan : std::bit_cast<std::uint32_t>(x + 0.0F); }

/// NUM-10: 2^k, built from its bits; k is clamped to -1000..1000.
inline double power_of_two(std::int64_t k) {
    const std::int64_t clamped = std::clamp<std::int64_t>(k, -1000, 1000);
    return std::bit_cast<double>(static_cast<std::uint64_t>(clamped + 1023) << 52U);
}
/// NUM-11: rint for |x| <= 2^51 with ties to even; requires the rounding mode to nearest (NUM-3).
inline double round_half_even(double x) { return (x + kRoundingBias) - kRoundingBias; }

/// Index of the broadcast operand's element for element (row, col) of an output tile.
inline std::size_t broadcast_index(Shape shape, std::size_t row, std::size_t col) {
    return (shape.rows == 1 ? 0 : row) * kTileDim + (shape.cols == 1 ? 0 : col);
}

}  // namespace assay::canonical
