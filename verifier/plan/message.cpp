// SPDX-License-Identifier: Apache-2.0
#include <verifier/plan/message.hpp>

#include <algorithm>

#include <core/base/assert.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/plan/node_rules.hpp>

namespace assay::plan {

using canonical::kTileDim;
using canonical::Node;
using canonical::Op;
using canonical::PartRange;

namespace {

// Consecutive rows or columns within one tile, and how many of the block are before them.
struct Run {
    std::uint32_t first = 0;
    std::uint32_t position = 0;
    std::uint8_t count = 0;
};

std::vector<Run> runs_of(const IndexSet& set) {
    std::vector<Run> out;
    std::uint32_t position = 0;
    for (const IndexSet::Range& range : set.ranges()) {
        for (std::uint32_t at = range.begin; at < range.end;) {
            const std::uint32_t count = std::min(range.end - at, kTileDim - at % kTileDim);
            out.push_back({at, position, static_cast<std::uint8_t>(count)});
            at += count;
            position += count;
        }
    }
    return out;
}

// How many positions one tile column of the output reduces.
std::uint64_t reduced_by_column(const Node& node) {
    return node.op == Op::kRowExponent ? std::uint64_t{node.attributes[0]} * kTileDim : depth_of(node);
}

// How many of the ranges, from the first on, make one part (NUM-41): of equal length at equal distances, but for the
// last, which may be shorter, and all reduced by one tile column, since each column would have other runs of them.
std::size_t ranges_of_part(const Node& node, std::span<const IndexSet::Range> ranges) {
    const auto length = [&](std::size_t i) { return ranges[i].end - ranges[i].begin; };
    const auto distance = [&](std::size_t i) { return ranges[i].begin - ranges[i - 1].begin; };
    const std::uint64_t column = reduced_by_column(node);
    std::size_t count = 1;
    while (count < ranges.size() && length(count - 1) == length(0) && length(count) <= length(0) &&
           distance(count) == distance(1) && ranges[0].begin / column == (ranges[count].end - 1) / column) {
        ++count;
    }
    return count;
}

bool is_whole_partials(const Node& node, const IndexSet& positions) {
    const auto is_whole = [&](const IndexSet::Range& range) {
        return range.begin % kTileDim == 0 && (range.end % kTileDim == 0 || range.end == depth_of(node));
    };
    const std::vector<IndexSet::Range>& ranges = positions.ranges();
    return !ranges.empty() && std::all_of(ranges.begin(), ranges.end(), is_whole) &&
           ranges_of_part(node, ranges) == ranges.size();
}

// The partials of a tile in that tile column which reduce the positions (NUM-23); none if the tile has none of them.
std::optional<PartRange> partials_of(const Node& node, std::uint32_t tile_col, const IndexSet& positions) {
    const std::uint64_t column = reduced_by_column(node);
    const std::uint64_t first =
        node.op == Op::kRowExponent ? std::min<std::uint64_t>(tile_col * column, depth_of(node)) : 0;
    const std::uint64_t end = std::min<std::uint64_t>(first + column, depth_of(node));
    const IndexSet reduced =
        intersection(positions, IndexSet(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end)));
    if (reduced.is_empty()) {
        return std::nullopt;
    }
    const std::uint32_t each = node.op == Op::kScatterAddRows ? node.inputs[1].shape.cols : 1;
    const auto partials = [&](std::uint32_t count) { return (count + kTileDim - 1) / kTileDim * each; };
    const std::vector<IndexSet::Range>& runs = reduced.ranges();
    return PartRange{
        .first = partials(runs[0].begin - static_cast<std::uint32_t>(first)),
        .count = partials(reduced.count()),
        .run = partials(runs[0].end - runs[0].begin),
        .period = runs.size() > 1 ? partials(runs[1].begin - runs[0].begin) : 0};
}

Result<void, MessageError> add(const Passage& passage, const canonical::Graph& graph, MessagePieces& out) {
    const Node* node = passage.positions ? &graph[passage.index] : nullptr;
    if (node != nullptr && !is_whole_partials(*node, *passage.positions)) {
        return Unexpected{MessageError::kBrokenPartial};
    }
    const std::uint64_t stride = std::uint64_t{passage.block.cols.count()} * passage.width;
    const std::vector<Run> cols = runs_of(passage.block.cols);
    for (const Run& row : runs_of(passage.block.rows)) {
        for (const Run& col : cols) {
            MessagePiece piece{
                .source = passage.source,
                .index = passage.index,
                .part = {},
                .hop = passage.hop,
                .row = row.first,
                .col = col.first,
                .rows = row.count,
                .cols = col.count,
                .width = static_cast<std::uint8_t>(passage.width),
                .offset = out.bytes + row.position * stride + std::uint64_t{col.position} * passage.width,
                .stride = stride};
            if (node != nullptr) {
                piece.part = partials_of(*node, col.first / kTileDim, *passage.positions);
            }
            (node != nullptr && !piece.part ? out.zeros : out.pieces).push_back(piece);
        }
    }
    out.bytes += passage.block.element_count() * passage.width;
    return {};
}

}  // namespace

Bytes values_of(const MessagePiece& piece, ByteView message) {
    const std::size_t row_bytes = std::size_t{piece.cols} * piece.width;
    Bytes out;
    out.reserve(piece.rows * row_bytes);
    for (std::size_t i = 0; i < piece.rows; ++i) {
        append(out, message.subspan(piece.offset + i * piece.stride, row_bytes));
    }
    return out;
}

Result<MessagePieces, MessageError> pieces_of(std::span<const Passage> message, const canonical::Graph& graph) {
    MessagePieces out;
    for (const Passage& passage : message) {
        TRY(add(passage, graph, out));
    }
    return out;
}

std::vector<PartSlice> slices_of_part(const Node& node, const IndexSet& depth, bool is_stated) {
    std::vector<PartSlice> chunks;
    for (const std::uint32_t chunk : chunks_of_part(node, depth)) {
        IndexSet positions = depth;
        if (node.op == Op::kContract) {
            const std::uint64_t first = std::uint64_t{chunk} * node.attributes[1];
            const std::uint64_t end = std::min<std::uint64_t>(first + node.attributes[1], depth_of(node));
            positions =
                intersection(depth, IndexSet(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end)));
        }
        chunks.push_back({chunk, std::move(positions)});
    }
    if (!is_stated) {
        return chunks;
    }
    std::vector<PartSlice> out;
    for (const PartSlice& slice : chunks) {
        std::span<const IndexSet::Range> left = slice.positions.ranges();
        while (!left.empty()) {
            const std::size_t count = ranges_of_part(node, left);
            IndexSet positions;
            for (const IndexSet::Range& range : left.first(count)) {
                positions.add(range.begin, range.end);
            }
            out.push_back({slice.chunk, std::move(positions)});
            left = left.subspan(count);
        }
    }
    return out;
}

std::optional<std::uint32_t> unstatable_node(const Plan& plan, const canonical::Graph& graph) {
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        for (const IndexSet& depth : plan.nodes[i].depth) {
            for (const PartSlice& slice : slices_of_part(graph[i], depth, true)) {
                if (!is_whole_partials(graph[i], slice.positions)) {
                    return i;
                }
            }
        }
    }
    return std::nullopt;
}

bool hands_on_state(const Plan& plan, const canonical::Graph& graph) {
    for (std::uint32_t node = 0; node + 1 < graph.size(); ++node) {
        for (const Item& item : items_of(plan, graph, node)) {
            const std::vector<std::vector<Transfer>> sent = input_transfers(plan, graph, item);
            for (std::size_t i = 0; i < sent.size(); ++i) {
                const bool is_handed_on = std::any_of(sent[i].begin(), sent[i].end(), [](const Transfer& transfer) {
                    return transfer.from != 0;
                });
                if (graph[node].inputs[i].source == canonical::Source::kState && is_handed_on) {
                    return true;
                }
            }
        }
    }
    return false;
}

}  // namespace assay::plan
