// SPDX-License-Identifier: Apache-2.0
#include <verifier/canonical/kernels.hpp>

namespace assay::canonical {
namespace {

// NUM-9: bits are copied as they are.
void transpose(const Work& work, Block& out) {
    const Block& x = *work.operands[0];
    for (std::size_t i = 0; i < kTileDim; ++i) {
        for (std::size_t j = 0; j < kTileDim; ++j) {
            if (work.node.dtype == DType::kI64) {
                out.wide[i * kTileDim + j] = x.wide[j * kTileDim + i];
            } else {
                out.words[i * kTileDim + j] = x.words[j * kTileDim + i];
            }
        }
    }
}

void slice_cols(const Work& work, Block& out) {
    const std::size_t offset = work.node.attributes[0] % kTileDim;
    const std::size_t rows = work.rows();
    const std::size_t cols = work.cols();
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < cols; ++j) {
            const Block& x = *work.operands[(offset + j) / kTileDim];
            const std::size_t from = i * kTileDim + (offset + j) % kTileDim;
            if (work.node.dtype == DType::kI64) {
                out.wide[i * kTileDim + j] = x.wide[from];
            } else {
                out.words[i * kTileDim + j] = x.words[from];
            }
        }
    }
}

// NUM-33: one row of the tile per partial; the accumulator is the tile so far.
void batch_row_partial(const Work& work, State& state, Block& out) {
    const std::size_t row = work.partial;
    const std::size_t cols = work.cols();
    const std::size_t first = std::size_t{work.col_tile()} * kTileDim;
    for (std::size_t j = 0; j < cols; ++j) {
        state.words[row * kTileDim + j] = load_u32(work.dataset_row.data() + (first + j) * 4);
    }
    if (work.is_last) {
        out.words = state.words;
    }
}

// NUM-12: without a second operand the index was out of range and the row stays zero.
void gather_row_partial(const Work& work, State& state, Block& out) {
    const std::size_t row = work.partial;
    if (work.operand_count == 2) {
        const std::uint32_t depth = work.node.inputs[0].shape.cols;
        const std::size_t col = std::size_t{work.col_tile()} * kTileDim / depth % kTileDim;
        const std::uint32_t index = work.operands[0]->words[row * kTileDim + col];
        const std::uint32_t* from = work.operands[1]->words.data() + std::size_t{index % kTileDim} * kTileDim;
        std::copy_n(from, kTileDim, state.words.data() + row * kTileDim);
    }
    if (work.is_last) {
        out.words = state.words;
    }
}

// NUM-19: exact sums, modulo 2^64; an index outside the tile adds nothing to it.
void scatter_add_partial(const Work& work, State& state, Block& out) {
    const Shape index_shape = work.node.inputs[1].shape;
    const std::uint32_t row_block = work.partial / index_shape.cols;
    const std::size_t col = work.partial % index_shape.cols % kTileDim;
    const std::uint32_t rows = std::min(kTileDim, index_shape.rows - row_block * kTileDim);
    const std::int64_t first = std::int64_t{work.row_tile()} * kTileDim;
    for (std::size_t i = 0; i < rows; ++i) {
        const std::int64_t target = as_i32(work.operands[0]->words[i * kTileDim + col]) - first;
        if (target < 0 || target >= work.rows()) {
            continue;
        }
        const std::uint32_t* q = work.operands[1]->words.data() + i * kTileDim;
        std::uint64_t* to = state.wide.data() + static_cast<std::size_t>(target) * kTileDim;
        for (std::size_t j = 0; j < kTileDim; ++j) {
            to[j] += static_cast<std::uint64_t>(std::int64_t{as_i32(q[j])});
        }
    }
    if (work.is_last) {
        out.wide = state.wide;
    }
}

void one_hot(const Work& work, Block& out) {
    const std::int64_t first = std::int64_t{work.col_tile()} * kTileDim;
    const std::size_t rows = work.rows();
    for (std::size_t i = 0; i < rows; ++i) {
        const std::int64_t column = as_i32(work.operands[0]->words[i * kTileDim]) - first;
        if (column >= 0 && column < work.cols()) {
            out.words[i * kTileDim + static_cast<std::size_t>(column)] = std::bit_cast<std::uint32_t>(1.0F);
        }
    }
}

}  // namespace

void run_movement(const Work& work, State& state, Block& out) noexcept {
    switch (work.node.op) {
        case Op::kTranspose:
            return transpose(work, out);
        case Op::kSliceCols:
            return slice_cols(work, out);
        case Op::kBatchRows:
            return batch_row_partial(work, state, out);
        case Op::kGatherRows:
            return gather_row_partial(work, state, out);
        case Op::kScatterAddRows:
            return scatter_add_partial(work, state, out);
        default:
            return one_hot(work, out);
    }
}

}  // namespace assay::canonical
