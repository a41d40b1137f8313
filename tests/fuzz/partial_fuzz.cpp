// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <tests/fuzz/fuzz.hpp>
#include <tests/fuzz/shapes.hpp>
#include <core/canonical/executor.hpp>
#include <core/canonical/partial.hpp>
#include <core/canonical/tile.hpp>
#include <core/canonical/view.hpp>

/// Any node that check_node accepts, with any tiles at all.
namespace assay::fuzz {
namespace {

using namespace canonical;

constexpr std::uint32_t kChainMax = 4;

Bytes repeated(ByteView pattern, std::size_t size, std::size_t from) {
    Bytes out(size);
    for (std::size_t i = 0; i < size; ++i) {
        out[i] = pattern[(from + i) % pattern.size()];
    }
    return out;
}

Tile tile_from(ByteView pattern, DType dtype, std::size_t from) {
    Tile tile = make_tile(dtype);
    tile.data = repeated(pattern, tile.data.size(), from);
    return tile;
}

/// Operands of the right number, type and size, whatever they hold.
PartialInput lawful_input(const PartialCase& c, std::uint64_t tile, std::uint32_t partial, const StepContext& context) {
    PartialInput input;
    for (const TileRef& ref : operands_of(c.node, tile, partial)) {
        ASSERT(ref.input < c.node.inputs.size());
        const Input& from = c.node.inputs[ref.input];
        ASSERT(ref.tile < tile_count(from.shape));
        input.tiles.push_back(tile_from(c.pattern, from.dtype, ref.tile));
    }
    if (const auto ref = dependent_operand(c.node, tile, partial, input.tiles)) {
        ASSERT(ref->input < c.node.inputs.size());
        const Input& from = c.node.inputs[ref->input];
        ASSERT(ref->tile < tile_count(from.shape));
        input.tiles.push_back(tile_from(c.pattern, from.dtype, ref->tile));
    }
    if (const auto span = dataset_span_of(c.node, tile, partial, context)) {
        ASSERT(context.dataset.rows == 0 || span->row < context.dataset.rows);
        ASSERT(span->count >= 1 && span->first + std::uint64_t{span->count} <= c.node.shape.cols);
        input.dataset_values = repeated(c.pattern, std::size_t{span->count} * 4, 0);
    }
    return input;
}

/// The first partials of the tile, each on what the one before it left.
void run_chain(const PartialCase& c, std::uint64_t tile, const StepContext& context) {
    const std::uint32_t count = partial_count(c.node, tile);
    std::optional<Accumulator> before;
    for (std::uint32_t partial = 0; partial < std::min(count, kChainMax); ++partial) {
        PartialInput input = lawful_input(c, tile, partial, context);
        input.before = before;
        const auto output = execute_partial(c.node, tile, partial, context, input);
        ASSERT(output.has_value());
        const bool is_last = partial + 1 == count;
        ASSERT(output->tile.has_value() == is_last);
        ASSERT(output->accumulator.has_value() != is_last);
        if (is_last) {
            ASSERT(is_well_formed(*output->tile) && output->tile->dtype == c.node.dtype);
            return;
        }
        before = output->accumulator;
        ASSERT(before->data.size() <= kMaxAccumulatorBytes);
    }
}

/// What the cursor says of a tile of a view is what the definition says of each of its elements.
void check_view(const Node& node, std::uint64_t tile) {
    const ViewTile view = view_tile(node, tile);
    const Shape from = node.inputs[0].shape;
    for (std::uint64_t i = 0; i < kTileElements; ++i) {
        const std::uint64_t row = tile / tile_cols(node.shape) * kTileDim + i / kTileDim;
        const std::uint64_t col = tile % tile_cols(node.shape) * kTileDim + i % kTileDim;
        if (row >= node.shape.rows || col >= node.shape.cols) {
            ASSERT(view.tile[i] == ViewTile::kNone);
            continue;
        }
        const auto source = flat_source(*node.view, row * node.shape.cols + col);
        ASSERT(source.has_value() == (view.tile[i] != ViewTile::kNone));
        if (source) {
            const std::uint64_t from_row = view.tile[i] / tile_cols(from) * kTileDim + view.element[i] / kTileDim;
            const std::uint64_t from_col = view.tile[i] % tile_cols(from) * kTileDim + view.element[i] % kTileDim;
            ASSERT(from_col < from.cols && from_row * from.cols + from_col == *source);
        }
    }
}

}  // namespace

void run(ByteView input) {
    const auto c = round_trip<PartialCase>(input);
    if (!c || !check_node(c->node) || c->node.op == Op::kCommit) {
        return;
    }
    // What check_program and check_node together ask of a node that reads the dataset.
    if (c->node.op == Op::kBatchRows && (!is_valid(c->dataset) || c->dataset.width != c->node.shape.cols)) {
        return;
    }
    const StepContext context{.seed = c->seed, .step = c->step, .dataset = c->dataset};
    const std::uint64_t tile = c->tile % tile_count(c->node.shape);
    const std::uint32_t partial = c->partial % partial_count(c->node, tile);
    if (c->node.op == Op::kView) {
        check_view(c->node, tile);
    }
    const PartialInput hostile{.before = c->before, .tiles = c->tiles, .dataset_values = c->row};
    if (const auto output = execute_partial(c->node, tile, partial, context, hostile)) {
        ASSERT(output->tile.has_value() != output->accumulator.has_value());
    }
    if (!c->pattern.empty()) {
        run_chain(*c, tile, context);
        // An accumulator from anywhere, at any place of the chain.
        PartialInput middle = lawful_input(*c, tile, partial, context);
        middle.before = c->before;
        (void)execute_partial(c->node, tile, partial, context, middle).has_value();
    }
}

}  // namespace assay::fuzz
