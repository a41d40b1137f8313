// SPDX-License-Identifier: Apache-2.0
#include <core/canonical/kernels.hpp>

namespace assay::canonical {
namespace {

// NUM-34: what elements that copy nothing hold, everything else zero.
void fill_view(const Work& work, State& state) {
    const std::uint32_t bits = work.node.attributes[0];
    const std::uint32_t fill = work.node.dtype == DType::kF32 ? canonical_bits(as_f32(bits)) : bits;
    const std::size_t rows = work.rows();
    const std::size_t cols = work.cols();
    for (std::size_t i = 0; i < rows && work.node.dtype != DType::kI64; ++i) {
        for (std::size_t j = 0; j < cols; ++j) {
            const std::size_t at = i * kTileDim + j;
            state.words[at] = work.view->tile[at] == ViewTile::kNone ? fill : 0;
        }
    }
}

// NUM-34, NUM-9: one tile of the input per partial; the accumulator is the tile so far.
void view_partial(const Work& work, State& state, Block& out) {
    const ViewTile& view = *work.view;
    const bool is_wide = work.node.dtype == DType::kI64;
    if (work.partial == 0) {
        fill_view(work, state);
    }
    for (std::size_t i = 0; work.operand_count == 1 && i < kTileElements; ++i) {
        if (view.tile[i] != view.touched[work.partial]) {
            continue;
        }
        if (is_wide) {
            state.wide[i] = work.operands[0]->wide[view.element[i]];
        } else {
            state.words[i] = work.operands[0]->words[view.element[i]];
        }
    }
    if (work.is_last && is_wide) {
        out.wide = state.wide;
    } else if (work.is_last) {
        out.words = state.words;
    }
}

// NUM-33: one row of the tile per partial; the accumulator is the tile so far.
void batch_row_partial(const Work& work, State& state, Block& out) {
    const std::size_t row = work.partial;
    const std::size_t cols = work.cols();
    for (std::size_t j = 0; j < cols; ++j) {
        state.words[row * kTileDim + j] = load_u32(work.dataset_values.data() + j * 4);
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
        case Op::kView:
            return view_partial(work, state, out);
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
