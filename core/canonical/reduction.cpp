// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <core/canonical/kernels.hpp>

namespace assay::canonical {
namespace {

constexpr std::uint32_t kMinusInfinity = 0xff800000;
constexpr std::uint32_t kMagnitude = 0x7fffffff;
constexpr std::uint32_t kInfinity = 0x7f800000;

// Columns of the input tile that this partial reads and that are not padding.
std::size_t input_cols(const Work& work, std::uint64_t input_col_tile) {
    return std::min<std::uint64_t>(kTileDim, work.node.inputs[0].shape.cols - input_col_tile * kTileDim);
}

// NUM-18
void row_max(const Work& work, State& state, Block& out) {
    const bool is_float = work.node.dtype == DType::kF32;
    const std::size_t rows = work.rows();
    const std::size_t cols = input_cols(work, work.partial);
    for (std::size_t i = 0; i < rows; ++i) {
        const std::uint32_t* x = work.operands[0]->words.data() + i * kTileDim;
        if (work.is_first) {
            state.words[i] =
                is_float ? kMinusInfinity : std::bit_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::min());
        }
        std::uint32_t best = state.words[i];
        for (std::size_t j = 0; j < cols; ++j) {
            // A comparison with NaN is false: NaN never becomes the maximum.
            const bool greater = is_float ? as_f32(x[j]) > as_f32(best) : as_i32(x[j]) > as_i32(best);
            best = greater ? x[j] : best;
        }
        state.words[i] = is_float ? canonical_bits(as_f32(best)) : best;
    }
    if (work.is_last) {
        for (std::size_t i = 0; i < rows; ++i) {
            out.words[i * kTileDim] = state.words[i];
        }
    }
}

// NUM-38: the accumulator holds the best value of each row, NaN while there is none, then its column.
void row_arg_max(const Work& work, State& state, Block& out) {
    const std::size_t rows = work.rows();
    const std::size_t cols = input_cols(work, work.partial);
    for (std::size_t i = 0; i < rows; ++i) {
        const std::uint32_t* x = work.operands[0]->words.data() + i * kTileDim;
        float best = work.partial == 0 ? as_f32(kCanonicalNan) : as_f32(state.words[i]);
        std::uint32_t column = state.words[kTileDim + i];
        for (std::size_t j = 0; j < cols; ++j) {
            const float value = as_f32(x[j]);
            if (value == value && !(value <= best)) {
                best = value;
                column = work.partial * kTileDim + static_cast<std::uint32_t>(j);
            }
        }
        state.words[i] = canonical_bits(best);
        state.words[kTileDim + i] = column;
    }
    if (work.is_last) {
        for (std::size_t i = 0; i < rows; ++i) {
            out.words[i * kTileDim] = state.words[kTileDim + i];
        }
    }
}

// NUM-19
void row_sum(const Work& work, State& state, Block& out) {
    const std::size_t rows = work.rows();
    const std::size_t cols = input_cols(work, work.partial);
    for (std::size_t i = 0; i < rows; ++i) {
        const std::uint32_t* x = work.operands[0]->words.data() + i * kTileDim;
        for (std::size_t j = 0; j < cols; ++j) {
            state.wide[i] += static_cast<std::uint64_t>(std::int64_t{as_i32(x[j])});
        }
    }
    if (work.is_last) {
        for (std::size_t i = 0; i < rows; ++i) {
            out.wide[i * kTileDim] = state.wide[i];
        }
    }
}

// NUM-13: the exponent that frexp gives to the finite magnitude with these bits; 0 for zero.
std::int32_t frexp_exponent(std::uint32_t magnitude) {
    if (magnitude == 0) {
        return 0;
    }
    const auto biased = static_cast<std::int32_t>(magnitude >> 23U);
    return biased != 0 ? biased - 126 : static_cast<std::int32_t>(std::bit_width(magnitude)) - 149;
}

// The accumulator holds the bits of the largest finite magnitude of each row and chunk: they order as integers.
void row_exponent(const Work& work, State& state, Block& out) {
    const std::uint64_t chunk = work.node.attributes[0];
    const std::uint64_t chunk_tiles = chunk / kTileDim;
    const std::uint64_t input_col_tile = std::uint64_t{work.col_tile()} * kTileDim * chunk_tiles + work.partial;
    const std::size_t column = work.partial / chunk_tiles;
    const std::size_t rows = work.rows();
    const std::size_t cols = input_cols(work, input_col_tile);
    for (std::size_t i = 0; i < rows; ++i) {
        const std::uint32_t* x = work.operands[0]->words.data() + i * kTileDim;
        std::uint32_t best = state.words[i * kTileDim + column];
        for (std::size_t j = 0; j < cols; ++j) {
            const std::uint32_t magnitude = x[j] & kMagnitude;
            best = magnitude < kInfinity && magnitude > best ? magnitude : best;
        }
        state.words[i * kTileDim + column] = best;
    }
    if (work.is_last) {
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t j = 0; j < work.cols(); ++j) {
                const std::size_t at = i * kTileDim + j;
                out.words[at] = static_cast<std::uint32_t>(frexp_exponent(state.words[at]));
            }
        }
    }
}

}  // namespace

void run_reduction(const Work& work, State& state, Block& out) noexcept {
    switch (work.node.op) {
        case Op::kRowMax:
            return row_max(work, state, out);
        case Op::kRowSum:
            return row_sum(work, state, out);
        case Op::kRowArgMax:
            return row_arg_max(work, state, out);
        default:
            return row_exponent(work, state, out);
    }
}

}  // namespace assay::canonical
