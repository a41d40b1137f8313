// SPDX-License-Identifier: Apache-2.0
#include <core/canonical/kernels.hpp>

namespace assay::canonical {
namespace {

// NUM-14
std::int32_t quantise_one(std::uint32_t bits, double scale, double limit) {
    if ((bits & 0x7f800000U) == 0x7f800000U) {
        return 0;
    }
    double scaled = static_cast<double>(as_f32(bits)) * scale;
    scaled = scaled > limit ? limit : scaled;
    scaled = scaled < -limit ? -limit : scaled;
    return static_cast<std::int32_t>(round_half_even(scaled));
}

// NUM-16: acc += qa * qb^T, modulo 2^64 (rows of operand 1 are columns of the product).
void multiply_accumulate(const Block& qa, const Block& qb, State& state) {
    alignas(64) std::array<std::int64_t, kTileElements> columns;
    for (std::size_t n = 0; n < kTileDim; ++n) {
        for (std::size_t k = 0; k < kTileDim; ++k) {
            columns[k * kTileDim + n] = as_i32(qb.words[n * kTileDim + k]);
        }
    }
    for (std::size_t m = 0; m < kTileDim; ++m) {
        std::uint64_t* acc = state.wide.data() + m * kTileDim;
        for (std::size_t k = 0; k < kTileDim; ++k) {
            const std::int64_t a = as_i32(qa.words[m * kTileDim + k]);
            const std::int64_t* b = columns.data() + k * kTileDim;
            for (std::size_t n = 0; n < kTileDim; ++n) {
                acc[n] += static_cast<std::uint64_t>(a * b[n]);
            }
        }
    }
}

// NUM-17: v = RN64(acc) * 2^(ea-p) * 2^(eb-p), added to the sum of the chunks before.
void close_chunk(const Work& work, State& state, std::size_t chunk, bool is_first) {
    const std::int64_t precision = work.node.attributes[0];
    const std::size_t column = chunk % kTileDim;
    std::array<double, kTileDim> scale_b{};
    for (std::size_t j = 0; j < kTileDim; ++j) {
        scale_b[j] = power_of_two(as_i32(work.operands[3]->words[j * kTileDim + column]) - precision);
    }
    for (std::size_t i = 0; i < kTileDim; ++i) {
        const double scale_a = power_of_two(as_i32(work.operands[2]->words[i * kTileDim + column]) - precision);
        for (std::size_t j = 0; j < kTileDim; ++j) {
            const std::size_t at = i * kTileDim + j;
            const auto exact = static_cast<double>(std::bit_cast<std::int64_t>(state.wide[at]));
            const double v = exact * scale_a * scale_b[j];
            state.sum[at] = is_first ? v : state.sum[at] + v;
            state.wide[at] = 0;
        }
    }
}

}  // namespace

void run_quantise(const Work& work, Block& out) noexcept {
    const auto [precision, chunk] = work.node.attributes;
    const Shape e_shape = work.node.inputs[1].shape;
    const std::size_t e_col = e_shape.cols == 1 ? 0 : std::uint64_t{work.col_tile()} * kTileDim / chunk % kTileDim;
    // With 7 bits the values are those of an int8.
    const double limit = precision == 7 ? 127.0 : power_of_two(precision);
    const std::size_t rows = work.rows();
    const std::size_t cols = work.cols();
    for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t e_row = e_shape.rows == 1 ? 0 : i;
        const std::int64_t e = as_i32(work.operands[1]->words[e_row * kTileDim + e_col]);
        const double scale = power_of_two(std::int64_t{precision} - e);
        const std::size_t row = i * kTileDim;
        for (std::size_t j = 0; j < cols; ++j) {
            const std::int32_t q = quantise_one(work.operands[0]->words[row + j], scale, limit);
            out.words[row + j] = std::bit_cast<std::uint32_t>(q);
        }
    }
}

// NUM-15
void run_dequantise(const Work& work, Block& out) noexcept {
    const Shape e_shape = work.node.inputs[1].shape;
    const std::size_t rows = work.rows();
    const std::size_t cols = work.cols();
    for (std::size_t i = 0; i < rows; ++i) {
        const std::int64_t e = as_i32(work.operands[1]->words[(e_shape.rows == 1 ? 0 : i) * kTileDim]);
        const double scale = power_of_two(e - std::int64_t{work.node.attributes[0]});
        for (std::size_t j = 0; j < cols; ++j) {
            const std::size_t at = i * kTileDim + j;
            const auto q = static_cast<double>(std::bit_cast<std::int64_t>(work.operands[0]->wide[at]));
            out.words[at] = canonical_bits(static_cast<float>(q * scale));
        }
    }
}

void run_contract(const Work& work, State& state, Block& out) noexcept {
    multiply_accumulate(*work.operands[0], *work.operands[1], state);
    if (work.is_part) {
        return;  // NUM-41
    }
    const std::uint64_t chunk_tiles = work.node.attributes[1] / kTileDim;
    const std::uint64_t chunk = work.partial / chunk_tiles;
    if (work.is_last || (work.partial + std::uint64_t{1}) % chunk_tiles == 0) {
        close_chunk(work, state, chunk, chunk == 0);
    }
    if (!work.is_last) {
        return;
    }
    const std::size_t rows = work.rows();
    const std::size_t cols = work.cols();
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < cols; ++j) {
            const std::size_t at = i * kTileDim + j;
            out.words[at] = canonical_bits(static_cast<float>(state.sum[at]));
        }
    }
}

}  // namespace assay::canonical
