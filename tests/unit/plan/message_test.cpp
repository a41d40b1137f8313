// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include <core/canonical/partial.hpp>
#include <verifier/plan/message.hpp>

using namespace assay;
using namespace assay::plan;
using canonical::DType;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Source;

namespace {

canonical::Input state_input(std::uint32_t index, DType dtype, Shape shape) {
    return {.source = Source::kState, .index = index, .dtype = dtype, .shape = shape};
}

Node product(std::uint32_t rows, std::uint32_t cols, std::uint32_t depth, std::uint32_t chunk) {
    const std::uint32_t chunks = (depth + chunk - 1) / chunk;
    return {
        .op = Op::kContract,
        .dtype = DType::kF32,
        .shape = {rows, cols},
        .attributes = {8, chunk},
        .inputs = {
            state_input(0, DType::kI32, {rows, depth}), state_input(1, DType::kI32, {rows, chunks}),
            state_input(2, DType::kI32, {cols, depth}), state_input(3, DType::kI32, {cols, chunks})}};
}

Node row_exponent(std::uint32_t rows, std::uint32_t depth, std::uint32_t chunk) {
    return {
        .op = Op::kRowExponent,
        .dtype = DType::kI32,
        .shape = {rows, (depth + chunk - 1) / chunk},
        .attributes = {chunk, 0},
        .inputs = {state_input(0, DType::kF32, {rows, depth})}};
}

Node scatter(std::uint32_t rows, std::uint32_t depth, std::uint32_t cols, std::uint32_t width) {
    return {
        .op = Op::kScatterAddRows,
        .dtype = DType::kI64,
        .shape = {rows, width},
        .attributes = {},
        .inputs = {state_input(0, DType::kI32, {depth, cols * width}), state_input(1, DType::kI32, {depth, cols})}};
}

Node row_sum(std::uint32_t rows, std::uint32_t depth) {
    return {
        .op = Op::kRowSum,
        .dtype = DType::kI64,
        .shape = {rows, 1},
        .attributes = {},
        .inputs = {state_input(0, DType::kI32, {rows, depth})}};
}

Passage part_of(const Node& node, std::uint32_t begin, std::uint32_t end) {
    return {
        .source = Source::kNode, .index = 0, .block = whole(node.shape), .width = 4, .positions = IndexSet(begin, end)};
}

Passage part_of(const Node& node, const IndexSet& positions) {
    Passage out = part_of(node, 0, 1);
    out.positions = positions;
    return out;
}

IndexSet set_of(std::initializer_list<IndexSet::Range> ranges) {
    IndexSet out;
    for (const IndexSet::Range& range : ranges) {
        out.add(range.begin, range.end);
    }
    return out;
}

// The partials of each piece read exactly the tiles of input 0 that have positions of the part (NUM-23).
void check_partials(const Node& node, const IndexSet& positions) {
    CAPTURE(canonical::to_string(node.op));
    const std::vector<Passage> message{part_of(node, positions)};
    const auto pieces = pieces_of(message, {node});
    REQUIRE(pieces.has_value());
    const std::uint32_t tile_cols = (node.inputs[0].shape.cols + 31) / 32;
    const bool is_by_rows = node.op == Op::kScatterAddRows;
    std::uint64_t elements = 0;
    for (const MessagePiece& piece : pieces->pieces) {
        REQUIRE(piece.part.has_value());
        const std::uint64_t tile = piece.row / 32 * ((node.shape.cols + 31) / 32) + piece.col / 32;
        REQUIRE(piece.part->is_well_formed());
        REQUIRE(piece.part->partial(piece.part->count - 1) < canonical::partial_count(node, tile));
        for (std::uint32_t p = 0; p < canonical::partial_count(node, tile); ++p) {
            for (const canonical::TileRef& ref : canonical::operands_of(node, tile, p)) {
                if (ref.input == 0) {
                    const std::uint64_t at = 32 * (is_by_rows ? ref.tile / tile_cols : ref.tile % tile_cols);
                    CHECK(piece.part->contains(p) == positions.contains(static_cast<std::uint32_t>(at)));
                }
            }
        }
        elements += std::uint64_t{piece.rows} * piece.cols;
    }
    for (const MessagePiece& zero : pieces->zeros) {
        elements += std::uint64_t{zero.rows} * zero.cols;
    }
    CHECK(elements == node.shape.element_count());
    CHECK(pieces->bytes == 4 * elements);
}

}  // namespace

TEST_CASE("NUM-41: a part has the partials of the positions that it reduces") {
    check_partials(product(40, 70, 300, 128), {128, 192});
    check_partials(product(40, 70, 300, 128), {256, 300});
    check_partials(row_sum(70, 200), {32, 160});
    check_partials(row_sum(70, 200), {160, 200});
    check_partials(scatter(70, 200, 3, 64), {64, 128});
    check_partials(scatter(70, 200, 1, 64), {160, 200});
    check_partials(row_exponent(40, 300, 64), {64, 256});
    check_partials(row_exponent(40, 3000, 64), {1024, 2112});
    check_partials(row_exponent(40, 3000, 64), {2048, 3000});
}

TEST_CASE("NUM-41: runs of positions at equal distances are one part, as those of queries, keys and values") {
    check_partials(product(40, 70, 576, 1024), set_of({{0, 96}, {192, 288}, {384, 480}}));
    check_partials(product(40, 70, 300, 1024), set_of({{32, 96}, {160, 224}, {288, 300}}));
    check_partials(row_sum(70, 200), set_of({{0, 64}, {96, 160}, {192, 200}}));
    check_partials(scatter(70, 200, 3, 64), set_of({{32, 64}, {96, 128}, {160, 192}}));
    check_partials(row_exponent(40, 3000, 64), set_of({{64, 128}, {256, 320}, {448, 512}}));
    check_partials(row_exponent(40, 3000, 64), set_of({{2048, 2112}, {2304, 2368}}));
}

TEST_CASE("NUM-41: positions are divided into as few parts as have an equal distance, and lose none") {
    const Node sum = row_sum(70, 960);
    const auto parts = [](const Node& node, const IndexSet& depth) {
        std::vector<IndexSet> out;
        for (const PartSlice& slice : slices_of_part(node, depth, true)) {
            out.push_back(slice.positions);
        }
        return out;
    };
    using Parts = std::vector<IndexSet>;
    const IndexSet equal = set_of({{0, 96}, {320, 416}, {640, 736}});
    CHECK(parts(sum, equal) == Parts{equal});
    CHECK(parts(sum, set_of({{0, 96}, {320, 416}, {640, 704}})).size() == 1);  // the last run may be shorter
    CHECK(parts(sum, set_of({{0, 96}, {320, 384}, {640, 736}})) == Parts{set_of({{0, 96}, {320, 384}}), {640, 736}});
    CHECK(parts(sum, set_of({{0, 32}, {64, 128}})) == Parts{{0, 32}, {64, 128}});
    CHECK(parts(sum, set_of({{0, 32}, {64, 96}, {160, 192}})) == Parts{set_of({{0, 32}, {64, 96}}), {160, 192}});
    // Columns 0 to 2047 and those behind them belong to two tiles, each of which would have other runs.
    const IndexSet crossing = set_of({{1984, 2048}, {2176, 2240}});
    CHECK(parts(row_exponent(40, 3000, 64), crossing) == Parts{{1984, 2048}, {2176, 2240}});
    CHECK(parts(row_exponent(40, 3000, 64), set_of({{64, 2112}, {2176, 2240}})).size() == 2);
}

TEST_CASE("what a rank has no positions of is zero, and no piece") {
    const Node node = row_exponent(40, 3000, 64);  // 47 chunks: those of tile 0 are columns 0 to 2047
    const std::vector<Passage> message{part_of(node, 2048, 3000)};
    const auto pieces = pieces_of(message, {node}).value();
    REQUIRE(pieces.pieces.size() == 2);
    REQUIRE(pieces.zeros.size() == 2);
    CHECK(pieces.zeros[0].col == 0);
    CHECK(pieces.pieces[0].col == 32);
    CHECK(pieces.pieces[0].part == canonical::PartRange::consecutive(0, 30));
}

TEST_CASE("a part that breaks a partial has no pieces") {
    const Node node = product(40, 70, 300, 128);
    for (const auto& [begin, end] : {std::pair{16U, 64U}, {32U, 80U}, {0U, 299U}}) {
        const std::vector<Passage> message{part_of(node, begin, end)};
        CHECK(pieces_of(message, {node}).error() == MessageError::kBrokenPartial);
    }
    for (const IndexSet& positions : {set_of({{0, 32}, {64, 128}}), set_of({{0, 32}, {64, 80}}), IndexSet()}) {
        CHECK(pieces_of(std::vector{part_of(node, positions)}, {node}).error() == MessageError::kBrokenPartial);
    }
}

TEST_CASE("positions are sliced by chunks, and into parts where each slice is stated") {
    const Node node = product(40, 70, 300, 128);
    IndexSet depth(32, 64);
    depth.add(96, 160);
    depth.add(256, 300);
    const auto chunks = slices_of_part(node, depth, false);
    REQUIRE(chunks.size() == 3);
    CHECK(chunks[0].positions.count() == 64);
    const auto runs = slices_of_part(node, depth, true);
    REQUIRE(runs.size() == 3);
    const std::vector<std::pair<std::uint32_t, IndexSet>> expected{
        {0, set_of({{32, 64}, {96, 128}})}, {1, {128, 160}}, {2, {256, 300}}};
    for (std::size_t i = 0; i < runs.size(); ++i) {
        CHECK(runs[i].chunk == expected[i].first);
        CHECK(runs[i].positions == expected[i].second);
    }
    CHECK(slices_of_part(row_sum(3, 100), depth, false).size() == 1);
    CHECK(slices_of_part(row_sum(3, 100), IndexSet(), true).empty());
}

TEST_CASE("STM-1: pieces lie within tiles, and their values are where the message has them") {
    IndexSet rows(30, 35);
    rows.add(60, 70);
    IndexSet cols(0, 3);
    cols.add(31, 66);
    const Block block{rows, cols};
    const Passage first{.source = Source::kState, .index = 3, .block = whole({2, 2}), .width = 8, .positions = {}};
    const Passage second{.source = Source::kNode, .index = 7, .block = block, .width = 2, .positions = {}};
    const auto pieces = pieces_of(std::vector<Passage>{first, second}, {}).value();
    CHECK(pieces.bytes == 4 * 8 + block.element_count() * 2);
    Bytes message(32);
    for (const std::uint32_t row : rows.indices()) {
        for (const std::uint32_t col : cols.indices()) {
            message.push_back(static_cast<std::uint8_t>(row));
            message.push_back(static_cast<std::uint8_t>(col));
        }
    }
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (const MessagePiece& piece : pieces.pieces) {
        CHECK(piece.row % 32 + piece.rows <= 32);
        CHECK(piece.col % 32 + piece.cols <= 32);
        if (piece.source == Source::kState) {
            CHECK(values_of(piece, message) == Bytes(32));
            continue;
        }
        Bytes expected;
        for (std::uint32_t i = 0; i < piece.rows; ++i) {
            for (std::uint32_t j = 0; j < piece.cols; ++j) {
                expected.push_back(static_cast<std::uint8_t>(piece.row + i));
                expected.push_back(static_cast<std::uint8_t>(piece.col + j));
                CHECK(seen.emplace(piece.row + i, piece.col + j).second);
            }
        }
        CHECK(values_of(piece, message) == expected);
    }
    CHECK(seen.size() == block.element_count());
}
