// SPDX-License-Identifier: Apache-2.0
#include <core/canonical/partial.hpp>

#include <memory>

#include <core/base/assert.hpp>
#include <core/canonical/executor.hpp>
#include <core/canonical/kernels.hpp>

namespace assay::canonical {
namespace {

std::uint64_t row_tile_of(const Node& node, std::uint64_t tile) { return tile / tile_cols(node.shape); }
std::uint64_t col_tile_of(const Node& node, std::uint64_t tile) { return tile % tile_cols(node.shape); }
std::uint64_t tile_at(Shape shape, std::uint64_t row_tile, std::uint64_t col_tile) {
    return row_tile * tile_cols(shape) + col_tile;
}
// The tile of a broadcast operand under output tile (row_tile, col_tile).
std::uint64_t broadcast_tile(Shape shape, std::uint64_t row_tile, std::uint64_t col_tile) {
    return tile_at(shape, shape.rows == 1 ? 0 : row_tile, shape.cols == 1 ? 0 : col_tile);
}

// The column of the index tensor that output tile column `col_tile` of a gather reads.
std::uint64_t gather_index_col(const Node& node, std::uint64_t col_tile) {
    return col_tile * kTileDim / node.inputs[0].shape.cols;
}

void contract_operands(
    const Node& node, std::uint64_t row, std::uint64_t col, std::uint32_t partial, OperandList& out
) {
    const std::uint32_t groups = group_count(node);
    const std::uint64_t group = groups == 1 ? 0 : row / (tile_rows(node.shape) / groups);
    const std::uint64_t right = group * tile_cols(node.shape) + col;
    out.add(0, tile_at(node.inputs[0].shape, row, partial));
    out.add(2, tile_at(node.inputs[2].shape, right, partial));
    const std::uint64_t chunk_tiles = node.attributes[1] / kTileDim;
    const bool is_last = partial + 1 == tile_cols(node.inputs[0].shape);
    if (is_last || (partial + std::uint64_t{1}) % chunk_tiles == 0) {
        const std::uint64_t exponent_col = partial / chunk_tiles / kTileDim;
        out.add(1, tile_at(node.inputs[1].shape, row, exponent_col));
        out.add(3, tile_at(node.inputs[3].shape, right, exponent_col));
    }
}

void decode(const Tile& tile, Block& block) { load_elements(tile.data.data(), tile.dtype, kTileElements, block, 0); }

Tile encode(const Block& block, DType dtype) {
    Tile out = make_tile(dtype);
    store_elements(block, 0, dtype, kTileElements, out.data.data());
    return out;
}

void decode(const Accumulator& from, StateSize size, State& state) {
    const std::uint8_t* at = from.data.data();
    for (std::size_t i = 0; i < size.words; ++i, at += 4) {
        state.words[i] = load_u32(at);
    }
    for (std::size_t i = 0; i < size.wide; ++i, at += 8) {
        state.wide[i] = load_u64(at);
    }
    for (std::size_t i = 0; i < size.sum; ++i, at += 8) {
        state.sum[i] = std::bit_cast<double>(load_u64(at));
    }
}

Accumulator encode(const State& state, StateSize size) {
    Accumulator out{Bytes(size.bytes())};
    std::uint8_t* at = out.data.data();
    for (std::size_t i = 0; i < size.words; ++i, at += 4) {
        store_u32(at, state.words[i]);
    }
    for (std::size_t i = 0; i < size.wide; ++i, at += 8) {
        store_u64(at, state.wide[i]);
    }
    for (std::size_t i = 0; i < size.sum; ++i, at += 8) {
        // NUM-7: a NaN has one encoding here too.
        const double x = state.sum[i];
        store_u64(at, x != x ? 0x7ff8000000000000U : std::bit_cast<std::uint64_t>(x));
    }
    return out;
}

// Everything that one execute_partial decodes; on the heap, for it is 70 KB.
struct PartialWorkspace {
    std::array<Block, kMaxOperands> operands;
    State state;
    Block out;
};

using Checked = Result<void, PartialError>;

// Decodes and checks the tiles; fills `work`.
Checked decode_operands(const Node& node, const PartialInput& input, PartialWorkspace& space, Work& work) {
    OperandList list = operand_list(node, work.tile, work.partial, work.view);
    for (std::size_t i = 0; i < list.size; ++i) {
        const Input& from = node.inputs[list.refs[i].input];
        if (i >= input.tiles.size() || input.tiles[i].dtype != from.dtype || !is_well_formed(input.tiles[i])) {
            return Unexpected{PartialError::kMissingOperand};
        }
        decode(input.tiles[i], space.operands[i]);
        clear_padding(space.operands[i], from.dtype, from.shape, list.refs[i].tile);
        if (i == 0 && node.op == Op::kGatherRows) {
            if (const auto table = gather_operand(node, work.tile, work.partial, space.operands[0])) {
                list.add(table->input, table->tile);
            }
        }
        work.operands[i] = &space.operands[i];
    }
    work.operand_count = list.size;
    return input.tiles.size() == list.size ? Checked{} : Unexpected{PartialError::kMissingOperand};
}

Checked check_dataset_values(const Node& node, const PartialInput& input, const Work& work) {
    const auto span = dataset_span_of(node, work.tile, work.partial, work.context);
    const bool is_missing = node.op == Op::kBatchRows && !span;
    const std::size_t wanted = span ? std::size_t{span->count} * 4 : 0;
    const bool fits =
        input.dataset_values.has_value() == span.has_value() && (!span || input.dataset_values->size() == wanted);
    return fits && !is_missing ? Checked{} : Unexpected{PartialError::kMissingOperand};
}

}  // namespace

void clear_padding(Block& block, DType dtype, Shape shape, std::uint64_t tile) noexcept {
    const std::uint64_t row = tile / tile_cols(shape) * kTileDim;
    const std::uint64_t col = tile % tile_cols(shape) * kTileDim;
    if (row + kTileDim <= shape.rows && col + kTileDim <= shape.cols) {
        return;
    }
    for (std::size_t i = 0; i < kTileElements; ++i) {
        if (row + i / kTileDim >= shape.rows || col + i % kTileDim >= shape.cols) {
            if (dtype == DType::kI64) {
                block.wide[i] = 0;
            } else {
                block.words[i] = 0;
            }
        }
    }
}

void clear(Block& block, DType dtype) noexcept {
    if (dtype == DType::kI64) {
        block.wide.fill(0);
    } else {
        block.words.fill(0);
    }
}

void clear(State& state) noexcept {
    state.words.fill(0);
    state.wide.fill(0);
    state.sum.fill(0.0);
}

// NUM-22
std::uint32_t partial_count(const Node& node, std::uint64_t tile, const ViewTile* view) noexcept {
    switch (node.op) {
        case Op::kView:
            return std::max(1U, static_cast<std::uint32_t>(view->touched.size()));
        case Op::kBatchRows:
        case Op::kGatherRows:
            return static_cast<std::uint32_t>(
                std::min<std::uint64_t>(kTileDim, node.shape.rows - row_tile_of(node, tile) * kTileDim)
            );
        case Op::kScatterAddRows:
            return tile_rows(node.inputs[1].shape) * node.inputs[1].shape.cols;
        case Op::kRowMax:
        case Op::kRowSum:
        case Op::kRowArgMax:
        case Op::kContract:
            return tile_cols(node.inputs[0].shape);
        case Op::kRowExponent: {
            const std::uint64_t span = std::uint64_t{node.attributes[0]};
            const std::uint64_t first = col_tile_of(node, tile) * span;
            return static_cast<std::uint32_t>(std::min(span, tile_cols(node.inputs[0].shape) - first));
        }
        default:
            return 1;
    }
}

std::uint32_t partial_count(const Node& node, std::uint64_t tile) noexcept {
    return partial_count(node, tile, view_of(node, tile).get());
}

std::unique_ptr<const ViewTile> view_of(const Node& node, std::uint64_t tile) {
    return node.op == Op::kView ? std::make_unique<const ViewTile>(view_tile(node, tile)) : nullptr;
}

// NUM-23
OperandList operand_list(const Node& node, std::uint64_t tile, std::uint32_t partial, const ViewTile* view) noexcept {
    const std::uint64_t row = row_tile_of(node, tile);
    const std::uint64_t col = col_tile_of(node, tile);
    OperandList out;
    switch (node.op) {
        case Op::kBatchRows:
        case Op::kUniform:
        case Op::kFill:
        case Op::kBernoulli:
        case Op::kStepCount:
        case Op::kCommit:
            break;
        case Op::kView:
            if (partial < view->touched.size()) {
                out.add(0, view->touched[partial]);
            }
            break;
        case Op::kGatherRows:
            out.add(1, tile_at(node.inputs[1].shape, row, gather_index_col(node, col) / kTileDim));
            break;
        case Op::kScatterAddRows: {
            const std::uint32_t cols = node.inputs[1].shape.cols;
            out.add(1, tile_at(node.inputs[1].shape, partial / cols, partial % cols / kTileDim));
            const std::uint64_t q_col = std::uint64_t{partial % cols} * tile_cols(node.shape) + col;
            out.add(0, tile_at(node.inputs[0].shape, partial / cols, q_col));
            break;
        }
        case Op::kOneHot:
            out.add(0, row);
            break;
        case Op::kRowMax:
        case Op::kRowSum:
        case Op::kRowArgMax:
            out.add(0, tile_at(node.inputs[0].shape, row, partial));
            break;
        case Op::kRowExponent:
            out.add(0, tile_at(node.inputs[0].shape, row, col * node.attributes[0] + partial));
            break;
        case Op::kQuantise: {
            const Shape e = node.inputs[1].shape;
            out.add(0, tile);
            const std::uint64_t chunk = e.cols == 1 ? 0 : col * kTileDim / node.attributes[1];
            out.add(1, tile_at(e, e.rows == 1 ? 0 : row, chunk / kTileDim));
            break;
        }
        case Op::kContract:
            contract_operands(node, row, col, partial, out);
            break;
        default:
            // Elementwise: operands after the first are broadcast; kDequantise's exponents are too.
            out.add(0, tile);
            for (std::uint32_t i = 1; i < node.inputs.size(); ++i) {
                out.add(i, broadcast_tile(node.inputs[i].shape, row, col));
            }
            break;
    }
    return out;
}

// NUM-24
StateSize state_size(const Node& node, std::uint32_t partial) noexcept {
    switch (node.op) {
        case Op::kBatchRows:
        case Op::kGatherRows:
        case Op::kRowExponent:
            return {.words = kTileElements};
        case Op::kScatterAddRows:
            return {.wide = kTileElements};
        case Op::kView:
            return node.dtype == DType::kI64 ? StateSize{.wide = kTileElements} : StateSize{.words = kTileElements};
        case Op::kRowMax:
            return {.words = kTileDim};
        case Op::kRowArgMax:
            return {.words = 2 * std::size_t{kTileDim}};
        case Op::kRowSum:
            return {.wide = kTileDim};
        case Op::kContract: {
            const bool has_sum = partial + std::uint64_t{1} >= node.attributes[1] / kTileDim;
            return {.wide = kTileElements, .sum = has_sum ? std::size_t{kTileElements} : 0};
        }
        default:
            return {};
    }
}

std::optional<TileRef> gather_operand(
    const Node& node, std::uint64_t tile, std::uint32_t partial, const Block& index
) noexcept {
    const Shape table = node.inputs[0].shape;
    const std::uint64_t col = col_tile_of(node, tile);
    const std::size_t index_col = gather_index_col(node, col) % kTileDim;
    const std::int32_t row = as_i32(index.words[std::size_t{partial} * kTileDim + index_col]);
    if (row < 0 || static_cast<std::uint32_t>(row) >= table.rows) {
        return std::nullopt;
    }
    return TileRef{0, tile_at(table, static_cast<std::uint32_t>(row) / kTileDim, col % tile_cols(table))};
}

std::vector<TileRef> operands_of(const Node& node, std::uint64_t tile, std::uint32_t partial) noexcept {
    const OperandList list = operand_list(node, tile, partial, view_of(node, tile).get());
    return {list.refs.begin(), list.refs.begin() + static_cast<std::ptrdiff_t>(list.size)};
}

std::optional<TileRef> dependent_operand(
    const Node& node, std::uint64_t tile, std::uint32_t partial, std::span<const Tile> known
) noexcept {
    if (node.op != Op::kGatherRows || known.empty() || !is_well_formed(known[0]) || known[0].dtype != DType::kI32 ||
        partial >= kTileDim) {
        return std::nullopt;
    }
    const auto index = std::make_unique<Block>();
    decode(known[0], *index);
    clear_padding(*index, DType::kI32, node.inputs[1].shape, operand_list(node, tile, partial, nullptr).refs[0].tile);
    return gather_operand(node, tile, partial, *index);
}

std::optional<DatasetSpan> dataset_span_of(
    const Node& node, std::uint64_t tile, std::uint32_t partial, const StepContext& context
) noexcept {
    const std::uint64_t row = row_tile_of(node, tile) * kTileDim + partial;
    if (node.op != Op::kBatchRows || partial >= kTileDim || row >= node.shape.rows || context.dataset.rows == 0) {
        return std::nullopt;
    }
    const std::uint64_t first = col_tile_of(node, tile) * kTileDim;
    return DatasetSpan{
        .row = batch_row(context.seed, context.step * node.shape.rows + row, context.dataset.rows),
        .first = static_cast<std::uint32_t>(first),
        .count = static_cast<std::uint32_t>(std::min<std::uint64_t>(kTileDim, node.shape.cols - first))};
}

void run_partial(const Work& work, State& state, Block& out) noexcept {
    switch (work.node.op) {
        case Op::kUniform:
        case Op::kBernoulli:
            return run_random(work, out);
        case Op::kBatchRows:
        case Op::kView:
        case Op::kGatherRows:
        case Op::kScatterAddRows:
        case Op::kOneHot:
            return run_movement(work, state, out);
        case Op::kRowMax:
        case Op::kRowExponent:
        case Op::kRowSum:
        case Op::kRowArgMax:
            return run_reduction(work, state, out);
        case Op::kQuantise:
            return run_quantise(work, out);
        case Op::kDequantise:
            return run_dequantise(work, out);
        case Op::kContract:
            return run_contract(work, state, out);
        default:
            return run_elementwise(work, out);
    }
}

namespace {

/// A partial with what it reads, ready to be run.
struct Prepared {
    explicit Prepared(const Node& node, std::uint64_t tile, std::uint32_t partial, const StepContext& context)
        : view(view_of(node, tile)),
          work{.node = node, .tile = tile, .partial = partial, .context = context, .dataset_values = {}} {
        work.view = view.get();
        clear(space->state);
        clear(space->out, node.dtype);
    }
    Result<void, PartialError> read(const PartialInput& input) {
        TRY(check_dataset_values(work.node, input, work));
        TRY(decode_operands(work.node, input, *space, work));
        if (input.dataset_values) {
            work.dataset_values = *input.dataset_values;
        }
        return {};
    }
    /// Takes the accumulator before the partial, which has to be there unless it is the first.
    Result<void, PartialError> take(const std::optional<Accumulator>& before, const StateSize& size) {
        if (before.has_value() == work.is_first || (before && before->data.size() != size.bytes())) {
            return Unexpected{PartialError::kBadAccumulator};
        }
        if (before) {
            decode(*before, size, space->state);
        }
        return {};
    }

    std::unique_ptr<const ViewTile> view;
    std::unique_ptr<PartialWorkspace> space = std::make_unique<PartialWorkspace>();
    Work work;
};

/// The accumulator of a part (NUM-41).
StateSize part_size(const Node& node) {
    return node.op == Op::kContract ? StateSize{.wide = kTileElements} : state_size(node, 0);
}

}  // namespace

Result<PartialOutput, PartialError> execute_partial(
    const Node& node, std::uint64_t tile, std::uint32_t partial, const StepContext& context, const PartialInput& input
) noexcept {
    if (node.op == Op::kCommit || tile >= tile_count(node.shape)) {
        return Unexpected{PartialError::kMissingOperand};
    }
    Prepared at(node, tile, partial, context);
    const std::uint32_t count = partial_count(node, tile, at.view.get());
    if (partial >= count) {
        return Unexpected{PartialError::kMissingOperand};
    }
    at.work.is_first = partial == 0;
    at.work.is_last = partial + 1 == count;
    TRY(at.read(input));
    TRY(at.take(input.before, partial > 0 ? state_size(node, partial - 1) : StateSize{}));
    run_partial(at.work, at.space->state, at.space->out);
    if (at.work.is_last) {
        return PartialOutput{.accumulator = {}, .tile = encode(at.space->out, node.dtype)};
    }
    return PartialOutput{.accumulator = encode(at.space->state, state_size(node, partial)), .tile = {}};
}

bool has_parts(Op op) noexcept {
    switch (op) {
        case Op::kContract:
        case Op::kRowSum:
        case Op::kRowMax:
        case Op::kRowExponent:
        case Op::kScatterAddRows:
            return true;
        default:
            return false;
    }
}

Result<Accumulator, PartialError> execute_part(
    const Node& node, std::uint64_t tile, std::uint32_t partial, const StepContext& context, const PartialInput& input
) noexcept {
    if (!has_parts(node.op) || tile >= tile_count(node.shape) || partial >= partial_count(node, tile)) {
        return Unexpected{PartialError::kMissingOperand};
    }
    Prepared at(node, tile, partial, context);
    at.work.is_first = !input.before;
    at.work.is_part = true;
    TRY(at.read(input));
    TRY(at.take(input.before, part_size(node)));
    run_partial(at.work, at.space->state, at.space->out);
    return encode(at.space->state, part_size(node));
}

std::optional<Bytes> part_value(const Node& node, const Accumulator& part, std::uint32_t row, std::uint32_t col) {
    if (!has_parts(node.op) || part.data.size() != part_size(node).bytes() || row >= kTileDim || col >= kTileDim) {
        return std::nullopt;
    }
    const bool is_row = node.op == Op::kRowSum || node.op == Op::kRowMax;
    if (is_row && col != 0) {
        return std::nullopt;
    }
    const std::size_t size = part_size(node).wide > 0 ? 8 : 4;
    const std::size_t at = size * (is_row ? row : std::size_t{row} * kTileDim + col);
    const auto begin = part.data.begin() + static_cast<std::ptrdiff_t>(at);
    return Bytes(begin, begin + static_cast<std::ptrdiff_t>(size));
}

}  // namespace assay::canonical
