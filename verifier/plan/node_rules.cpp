// SPDX-License-Identifier: Apache-2.0
#include <verifier/plan/node_rules.hpp>

#include <algorithm>

#include <core/base/assert.hpp>
#include <core/canonical/view.hpp>

namespace assay::plan {

using canonical::Node;
using canonical::Op;
using canonical::Shape;

namespace {

IndexSet all(std::uint32_t size) { return {0, size}; }

// The chunks of `chunk` positions that lie in `positions` whole, or in part.
IndexSet chunks_of(const IndexSet& positions, std::uint32_t chunk, std::uint32_t size, bool is_whole) {
    IndexSet out;
    for (const IndexSet::Range& range : positions.ranges()) {
        const std::uint32_t first = is_whole ? (range.begin + chunk - 1) / chunk : range.begin / chunk;
        const std::uint32_t end = range.end == size || !is_whole ? (range.end + chunk - 1) / chunk : range.end / chunk;
        const std::uint32_t from = out.is_empty() ? first : std::max(first, out.ranges().back().end);
        out.add(from, end);
    }
    return out;
}

// The positions of some chunks.
IndexSet positions_of(const IndexSet& chunks, std::uint32_t chunk, std::uint32_t size) {
    IndexSet out;
    for (const IndexSet::Range& range : chunks.ranges()) {
        out.add(range.begin * chunk, std::min(std::uint64_t{range.end} * chunk, std::uint64_t{size}) & 0xffffffffU);
    }
    return out;
}

// The part of a broadcast operand for so many rows or columns.
IndexSet spread(std::uint32_t size, std::uint32_t full, const IndexSet& wanted) {
    return size == 1 && full != 1 ? all(1) : wanted;
}

Block needed_of_broadcast(const Node& node, std::size_t input, const Block& out) {
    const Shape shape = node.inputs[input].shape;
    return {spread(shape.rows, node.shape.rows, out.rows), spread(shape.cols, node.shape.cols, out.cols)};
}

// The rows of a product's right operand: those columns of each group of which there are rows.
IndexSet right_rows(const Node& node, const Block& out) {
    const std::uint32_t groups = canonical::group_count(node);
    const std::uint32_t rows = node.shape.rows / groups;
    const std::uint32_t cols = node.shape.cols;
    IndexSet present = chunks_of(out.rows, rows, node.shape.rows, false);
    IndexSet result;
    for (const IndexSet::Range& range : present.ranges()) {
        for (std::uint32_t group = range.begin; group < range.end; ++group) {
            for (const IndexSet::Range& col : out.cols.ranges()) {
                result.add(group * cols + col.begin, group * cols + col.end);
            }
        }
    }
    return result;
}

Block needed_of_product(const Node& node, std::size_t input, const Block& out, const IndexSet& depth) {
    const IndexSet rows = input < 2 ? out.rows : right_rows(node, out);
    return {rows, is_for_finish(node.op, input) ? all(node.inputs[input].shape.cols) : depth};
}

Block needed_of_view(const Node& node, const Block& out) {
    const std::uint32_t cols = node.shape.cols;
    const std::uint32_t input_cols = node.inputs[0].shape.cols;
    std::vector<bool> has_row(node.inputs[0].shape.rows);
    std::vector<bool> has_col(input_cols);
    canonical::ViewCursor cursor(*node.view);
    for (const IndexSet::Range& rows : out.rows.ranges()) {
        for (std::uint32_t row = rows.begin; row < rows.end; ++row) {
            for (const IndexSet::Range& range : out.cols.ranges()) {
                cursor.seek(std::uint64_t{row} * cols + range.begin);
                for (std::uint64_t left = range.end - range.begin; left > 0;) {
                    const canonical::ViewRun run = cursor.next(left);
                    for (std::uint64_t i = 0; i < run.count && !run.is_fill; ++i) {
                        const std::uint64_t source = run.source + i * static_cast<std::uint64_t>(run.step);
                        has_row[source / input_cols] = true;
                        has_col[source % input_cols] = true;
                    }
                    left -= run.count;
                }
            }
        }
    }
    const auto set_of = [](const std::vector<bool>& has) {
        IndexSet out_set;
        for (std::uint32_t i = 0; i < has.size(); ++i) {
            if (has[i]) {
                out_set.add(i, i + 1);
            }
        }
        return out_set;
    };
    return {set_of(has_row), set_of(has_col)};
}

Block computable_broadcast(const Node& node, std::span<const Block> held) {
    Block out = whole(node.shape);
    for (std::size_t i = 0; i < held.size(); ++i) {
        const Shape shape = node.inputs[i].shape;
        if (held[i].is_empty()) {
            return {};
        }
        if (shape.rows == node.shape.rows) {
            out.rows = intersection(out.rows, held[i].rows);
        }
        if (shape.cols == node.shape.cols) {
            out.cols = intersection(out.cols, held[i].cols);
        }
    }
    return out;
}

Block computable_quantise(const Node& node, std::span<const Block> held) {
    Block out = held[0];
    if (held[0].is_empty() || held[1].is_empty()) {
        return {};
    }
    const Shape exponents = node.inputs[1].shape;
    if (exponents.rows == node.shape.rows) {
        out.rows = intersection(out.rows, held[1].rows);
    }
    if (exponents.cols > 1) {
        out.cols = intersection(out.cols, positions_of(held[1].cols, node.attributes[1], node.shape.cols));
    }
    return out;
}

// The rows of groups of which the right operand's rows are all there. All groups that are left have the same number of
// rows, since a product has groups of one size.
IndexSet grouped_rows(const Node& node, const IndexSet& left, const IndexSet& right) {
    const std::uint32_t groups = canonical::group_count(node);
    const std::uint32_t rows = node.shape.rows / groups;
    IndexSet out;
    IndexSet full;
    std::uint32_t count = 0;
    bool is_uniform = true;
    for (std::uint32_t group = 0; group < groups; ++group) {
        if (!right.contains(IndexSet(group * node.shape.cols, (group + 1) * node.shape.cols))) {
            continue;
        }
        const IndexSet own = intersection(left, IndexSet(group * rows, (group + 1) * rows));
        is_uniform = is_uniform && (own.is_empty() || count == 0 || own.count() == count);
        count = own.is_empty() ? count : own.count();
        for (const IndexSet::Range& range : own.ranges()) {
            out.add(range.begin, range.end);
        }
        if (own.count() == rows) {
            full.add(group * rows, (group + 1) * rows);
        }
    }
    return is_uniform ? out : full;
}

Block product_block(const Node& node, const IndexSet& left, const IndexSet& right) {
    if (canonical::group_count(node) == 1) {
        return {left, right};
    }
    return {grouped_rows(node, left, right), all(node.shape.cols)};
}

Block computable_product(const Node& node, std::span<const Block> held) {
    for (std::size_t i = 0; i < held.size(); ++i) {
        if (held[i].cols.count() != node.inputs[i].shape.cols) {
            return {};
        }
    }
    return product_block(node, intersection(held[0].rows, held[1].rows), intersection(held[2].rows, held[3].rows));
}

bool is_whole(const Node& node, std::size_t input, const Block& held) {
    return held.shape() == node.inputs[input].shape;
}

}  // namespace

bool is_reduction(Op op) {
    return op == Op::kContract || op == Op::kRowSum || op == Op::kRowExponent || op == Op::kRowMax ||
           op == Op::kScatterAddRows;
}

std::uint32_t depth_of(const Node& node) {
    ASSERT(is_reduction(node.op));
    return node.op == Op::kScatterAddRows ? node.inputs[0].shape.rows : node.inputs[0].shape.cols;
}

bool is_for_finish(Op op, std::size_t input) { return op == Op::kContract && (input == 1 || input == 3); }

bool is_elementwise(Op op) {
    const auto number = static_cast<std::uint8_t>(op);
    return (number >= 15 && number <= 39) || (number >= 60 && number <= 63) || op == Op::kUniform || op == Op::kFill ||
           op == Op::kBernoulli || op == Op::kDequantise || op == Op::kQuantise;
}

Block needed(const Node& node, std::size_t input, const Block& out, const IndexSet& depth) {
    const Shape shape = node.inputs[input].shape;
    if (out.is_empty()) {
        return {};
    }
    switch (node.op) {
        case Op::kView:
            return needed_of_view(node, out);
        case Op::kContract:
            return needed_of_product(node, input, out, depth);
        case Op::kQuantise:
            if (input == 1) {
                return {
                    spread(shape.rows, node.shape.rows, out.rows),
                    shape.cols == 1 ? all(1) : chunks_of(out.cols, node.attributes[1], node.shape.cols, false)};
            }
            return out;
        case Op::kRowExponent:
            return {out.rows, intersection(depth, positions_of(out.cols, node.attributes[0], shape.cols))};
        case Op::kRowSum:
        case Op::kRowMax:
            return {out.rows, depth};
        case Op::kRowArgMax:
        case Op::kOneHot:
            return {out.rows, all(shape.cols)};
        case Op::kGatherRows:
            return input == 0 ? whole(shape) : Block{out.rows, all(shape.cols)};
        case Op::kScatterAddRows:
            return {depth, all(shape.cols)};
        default:
            return needed_of_broadcast(node, input, out);
    }
}

Block computable(const Node& node, std::span<const Block> held) {
    switch (node.op) {
        case Op::kContract:
            return computable_product(node, held);
        case Op::kQuantise:
            return computable_quantise(node, held);
        case Op::kRowExponent:
            return {held[0].rows, chunks_of(held[0].cols, node.attributes[0], node.inputs[0].shape.cols, true)};
        case Op::kRowSum:
        case Op::kRowMax:
        case Op::kRowArgMax:
        case Op::kOneHot:
            return held[0].cols.count() == node.inputs[0].shape.cols ? Block{held[0].rows, all(node.shape.cols)}
                                                                     : Block{};
        case Op::kGatherRows:
            return is_whole(node, 0, held[0]) && held[1].cols.count() == node.inputs[1].shape.cols
                       ? Block{held[1].rows, all(node.shape.cols)}
                       : Block{};
        case Op::kScatterAddRows:
            return is_whole(node, 0, held[0]) && is_whole(node, 1, held[1]) ? whole(node.shape) : Block{};
        default:
            return computable_broadcast(node, held);
    }
}

Part computable_part(const Node& node, std::span<const Block> held) {
    Part out;
    switch (node.op) {
        case Op::kContract:
            out = {product_block(node, held[0].rows, held[2].rows), intersection(held[0].cols, held[2].cols)};
            break;
        case Op::kScatterAddRows:
            if (held[0].cols.count() == node.inputs[0].shape.cols &&
                held[1].cols.count() == node.inputs[1].shape.cols) {
                out = {whole(node.shape), intersection(held[0].rows, held[1].rows)};
            }
            break;
        default:
            out = {{held[0].rows, all(node.shape.cols)}, held[0].cols};
            break;
    }
    return out.block.is_empty() || out.depth.is_empty() ? Part{} : out;
}

namespace {

// For each row and column of a view's output: the ranks that have all of its sources, and those that have any.
struct ViewMasks {
    std::vector<RankMask> row_all;
    std::vector<RankMask> row_any;
    std::vector<RankMask> col_all;
    std::vector<RankMask> col_any;
};

std::vector<RankMask> masks_of(const Placement& held, bool is_rows, std::uint32_t size) {
    std::vector<RankMask> out(size);
    for (std::size_t rank = 0; rank < held.size(); ++rank) {
        for (const IndexSet::Range& range : (is_rows ? held[rank].rows : held[rank].cols).ranges()) {
            for (std::uint32_t i = range.begin; i < range.end && !held[rank].is_empty(); ++i) {
                out[i] |= RankMask{1} << rank;
            }
        }
    }
    return out;
}

// Calls f(row, col, ranks that have its source) for each element that is no fill.
template <class F>
void for_each_element(const Node& node, const Placement& held, F f) {
    const Shape from = node.inputs[0].shape;
    const std::vector<RankMask> rows = masks_of(held, true, from.rows);
    const std::vector<RankMask> cols = masks_of(held, false, from.cols);
    canonical::ViewCursor cursor(*node.view);
    cursor.seek(0);
    const std::uint64_t count = node.shape.element_count();
    for (std::uint64_t n = 0; n < count;) {
        const canonical::ViewRun run = cursor.next(count - n);
        for (std::uint64_t i = 0; i < run.count && !run.is_fill; ++i) {
            const std::uint64_t source = run.source + i * static_cast<std::uint64_t>(run.step);
            f((n + i) / node.shape.cols, (n + i) % node.shape.cols,
              rows[source / from.cols] & cols[source % from.cols]);
        }
        n += run.count;
    }
}

IndexSet members(const std::vector<RankMask>& masks, std::size_t rank) {
    IndexSet out;
    for (std::uint32_t i = 0; i < masks.size(); ++i) {
        if (((masks[i] >> rank) & 1U) != 0) {
            out.add(i, i + 1);
        }
    }
    return out;
}

}  // namespace

Placement computable_view(const Node& node, const Placement& held) {
    const std::size_t ranks = held.size();
    if (std::all_of(held.begin(), held.end(), [&](const Block& block) { return is_whole(node, 0, block); })) {
        return Placement(ranks, whole(node.shape));
    }
    const Shape shape = node.shape;
    ViewMasks masks{
        std::vector<RankMask>(shape.rows, ~RankMask{0}), std::vector<RankMask>(shape.rows),
        std::vector<RankMask>(shape.cols, ~RankMask{0}), std::vector<RankMask>(shape.cols)};
    for_each_element(node, held, [&](std::uint64_t row, std::uint64_t col, RankMask mask) {
        masks.row_all[row] &= mask;
        masks.row_any[row] |= mask;
        masks.col_all[col] &= mask;
        masks.col_any[col] |= mask;
    });
    // What copies nothing can be made anywhere.
    const auto open_fill = [](std::vector<RankMask>& any, const std::vector<RankMask>& every) {
        for (std::size_t i = 0; i < any.size(); ++i) {
            any[i] = any[i] == 0 && every[i] == ~RankMask{0} ? every[i] : any[i];
        }
    };
    open_fill(masks.row_any, masks.row_all);
    open_fill(masks.col_any, masks.col_all);
    Placement rows_and_cols(ranks);  // rows and columns with anything: computable if nothing is missing in them
    RankMask complete = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        rows_and_cols[rank] = {members(masks.row_any, rank), members(masks.col_any, rank)};
        complete |= RankMask{1} << rank;
    }
    const std::vector<RankMask> rows = masks_of(rows_and_cols, true, shape.rows);
    const std::vector<RankMask> cols = masks_of(rows_and_cols, false, shape.cols);
    for_each_element(node, held, [&](std::uint64_t row, std::uint64_t col, RankMask mask) {
        complete &= ~(rows[row] & cols[col] & ~mask);
    });
    Placement out(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        if (((complete >> rank) & 1U) != 0) {
            out[rank] = rows_and_cols[rank];
            continue;
        }
        Block by_rows{members(masks.row_all, rank), all(shape.cols)};
        Block by_cols{all(shape.rows), members(masks.col_all, rank)};
        out[rank] = by_rows.element_count() >= by_cols.element_count() ? std::move(by_rows) : std::move(by_cols);
    }
    return out;
}

}  // namespace assay::plan
