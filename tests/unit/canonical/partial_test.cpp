// SPDX-License-Identifier: Apache-2.0
#include <core/canonical/partial.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>

#include <tests/unit/canonical/samples.hpp>

using namespace assay;
using namespace assay::canonical;
using test::Kind;

namespace {

// What partial `partial` of tile `tile` of `s` reads, with `before` for every partial but the first.
PartialInput input_for(const test::Sample& s, const RowSource& rows, std::uint64_t tile, std::uint32_t partial) {
    PartialInput input;
    for (std::uint32_t p = 0; p <= partial; ++p) {
        input.tiles.clear();
        for (const TileRef& ref : operands_of(s.node, tile, p)) {
            input.tiles.push_back(tile_of(s.inputs[ref.input], ref.tile));
        }
        if (const auto ref = dependent_operand(s.node, tile, p, input.tiles)) {
            input.tiles.push_back(tile_of(s.inputs[ref->input], ref->tile));
        }
        if (const auto span = dataset_span_of(s.node, tile, p, s.context)) {
            const Bytes row = rows.row(span->row);
            const auto first = row.begin() + 4 * std::ptrdiff_t{span->first};
            input.dataset_values = Bytes(first, first + 4 * std::ptrdiff_t{span->count});
        }
        if (p < partial) {
            auto out = execute_partial(s.node, tile, p, s.context, input);
            REQUIRE(out.has_value());
            input.before = out->accumulator;
        }
    }
    return input;
}

bool refused(
    const test::Sample& s, std::uint64_t tile, std::uint32_t partial, const PartialInput& input, PartialError error
) {
    const auto result = execute_partial(s.node, tile, partial, s.context, input);
    return !result && result.error() == error;
}

}  // namespace

TEST_CASE("NUM-22: chaining the partials of every primitive equals executing the node") {
    for (const Op op : test::all_ops()) {
        CAPTURE(std::string(to_string(op)));
        test::Random random(static_cast<std::uint64_t>(op) * 31 + 7);
        for (int round = 0; round < 8; ++round) {
            CAPTURE(round);
            const test::Sample s = test::random_sample(op, random, round % 2 == 0 ? Kind::kPlain : Kind::kHostile);
            const test::CountingRows rows(s.context.dataset);
            const bool equal =
                test::execute_by_partials(s, rows) == execute_node(s.node, s.context, rows, s.pointers());
            REQUIRE(equal);
        }
    }
}

TEST_CASE("NUM-23: a partial names at most four tiles, each of them in its input") {
    for (const Op op : test::all_ops()) {
        test::Random random(static_cast<std::uint64_t>(op) * 13);
        for (int round = 0; round < 8; ++round) {
            const test::Sample s = test::random_sample(op, random, Kind::kHostile);
            for (std::uint64_t tile = 0; tile < tile_count(s.node.shape); ++tile) {
                for (std::uint32_t p = 0; p < partial_count(s.node, tile); ++p) {
                    const auto refs = operands_of(s.node, tile, p);
                    REQUIRE(refs.size() <= 4);
                    for (const TileRef& ref : refs) {
                        REQUIRE(ref.input < s.inputs.size());
                        REQUIRE(ref.tile < tile_count(s.inputs[ref.input].shape));
                    }
                }
            }
        }
    }
}

TEST_CASE("NUM-24: a contraction's accumulator grows by the sum once a chunk has ended") {
    test::Sample s;
    s.node = {Op::kContract, DType::kF32, {1, 1}, {8, 64}, {}};
    s.inputs = {
        make_tensor(DType::kI32, {1, 128}), make_tensor(DType::kI32, {1, 2}), make_tensor(DType::kI32, {1, 128}),
        make_tensor(DType::kI32, {1, 2})};
    for (const Tensor& tensor : s.inputs) {
        s.node.inputs.push_back(test::input_of(tensor));
    }
    REQUIRE(check_node(s.node).has_value());
    const test::CountingRows rows({});
    CHECK(operands_of(s.node, 0, 0) == std::vector<TileRef>{{0, 0}, {2, 0}});
    CHECK(operands_of(s.node, 0, 1) == std::vector<TileRef>{{0, 1}, {2, 1}, {1, 0}, {3, 0}});
    CHECK(input_for(s, rows, 0, 1).before->data.size() == 8192);
    CHECK(input_for(s, rows, 0, 2).before->data.size() == 16384);
    CHECK(input_for(s, rows, 0, 3).before->data.size() == 16384);
}

TEST_CASE("NUM-24: any accumulator of the right length is executed") {
    test::Random random(99);
    for (const Op op : test::all_ops()) {
        for (int round = 0; round < 6; ++round) {
            const test::Sample s = test::random_sample(op, random, Kind::kHostile);
            const test::CountingRows rows(s.context.dataset);
            const std::uint32_t count = partial_count(s.node, 0);
            if (count < 2) {
                continue;
            }
            PartialInput input = input_for(s, rows, 0, count - 1);
            for (std::uint8_t& byte : input.before->data) {
                byte = static_cast<std::uint8_t>(random.next_u32());
            }
            const auto first = execute_partial(s.node, 0, count - 1, s.context, input);
            REQUIRE(first.has_value());
            REQUIRE(first->tile.has_value());
        }
    }
}

TEST_CASE("NUM-4: padding of an operand is read as zero") {
    test::Random random(44);
    for (const Op op : test::all_ops()) {
        CAPTURE(std::string(to_string(op)));
        for (int round = 0; round < 6; ++round) {
            const test::Sample s = test::random_sample(op, random, Kind::kHostile);
            const test::CountingRows rows(s.context.dataset);
            const std::uint64_t tile = tile_count(s.node.shape) - 1;
            const std::uint32_t last = partial_count(s.node, tile) - 1;
            const PartialInput clean = input_for(s, rows, tile, last);
            PartialInput dirty = clean;
            const auto refs = operands_of(s.node, tile, last);
            for (std::size_t i = 0; i < refs.size(); ++i) {
                Tensor scratch = make_tensor(clean.tiles[i].dtype, s.inputs[refs[i].input].shape);
                store_tile(scratch, refs[i].tile, Tile{clean.tiles[i].dtype, Bytes(clean.tiles[i].data.size(), 0xff)});
                const Tile inside = tile_of(scratch, refs[i].tile);
                for (std::size_t k = 0; k < inside.data.size(); ++k) {
                    if (inside.data[k] == 0) {
                        dirty.tiles[i].data[k] = 0x3f;
                    }
                }
            }
            const auto expected = execute_partial(s.node, tile, last, s.context, clean);
            const auto got = execute_partial(s.node, tile, last, s.context, dirty);
            REQUIRE(expected.has_value());
            REQUIRE(got.has_value());
            const bool equal = *expected->tile == *got->tile;
            CHECK(equal);
        }
    }
}

TEST_CASE("DSP-20: a partial with operands missing, extra or of the wrong kind is refused") {
    test::Random random(1);
    for (const Op op : test::all_ops()) {
        CAPTURE(std::string(to_string(op)));
        const test::Sample s = test::random_sample(op, random, Kind::kPlain);
        const test::CountingRows rows(s.context.dataset);
        const PartialInput good = input_for(s, rows, 0, 0);
        REQUIRE(execute_partial(s.node, 0, 0, s.context, good).has_value());
        PartialInput extra = good;
        extra.tiles.push_back(make_tile(DType::kF32));
        CHECK(refused(s, 0, 0, extra, PartialError::kMissingOperand));
        if (!good.tiles.empty()) {
            PartialInput missing = good;
            missing.tiles.pop_back();
            CHECK(refused(s, 0, 0, missing, PartialError::kMissingOperand));
            PartialInput other = good;
            other.tiles[0] = make_tile(other.tiles[0].dtype == DType::kI64 ? DType::kI32 : DType::kI64);
            CHECK(refused(s, 0, 0, other, PartialError::kMissingOperand));
            PartialInput shorter = good;
            shorter.tiles[0].data.pop_back();
            CHECK(refused(s, 0, 0, shorter, PartialError::kMissingOperand));
        }
        PartialInput row = good;
        row.dataset_values = Bytes(3);
        CHECK(refused(s, 0, 0, row, PartialError::kMissingOperand));
        if (op == Op::kBatchRows) {
            row.dataset_values = std::nullopt;
            CHECK(refused(s, 0, 0, row, PartialError::kMissingOperand));
        }
        CHECK(refused(s, tile_count(s.node.shape), 0, good, PartialError::kMissingOperand));
        CHECK(refused(s, 0, partial_count(s.node, 0), good, PartialError::kMissingOperand));
    }
}

TEST_CASE("DSP-20: an accumulator absent, unasked for or of the wrong length is refused") {
    test::Random random(2);
    for (const Op op : test::all_ops()) {
        CAPTURE(std::string(to_string(op)));
        const test::Sample s = test::random_sample(op, random, Kind::kPlain);
        const test::CountingRows rows(s.context.dataset);
        PartialInput first = input_for(s, rows, 0, 0);
        first.before = Accumulator{Bytes(4096)};
        CHECK(refused(s, 0, 0, first, PartialError::kBadAccumulator));
        if (partial_count(s.node, 0) > 1) {
            PartialInput second = input_for(s, rows, 0, 1);
            second.before->data.push_back(0);
            CHECK(refused(s, 0, 1, second, PartialError::kBadAccumulator));
            second.before = std::nullopt;
            CHECK(refused(s, 0, 1, second, PartialError::kBadAccumulator));
        }
    }
}

namespace {

/// What a part of `count` partials from `first` on leaves of `tile`.
Accumulator run_part(const test::Sample& s, std::uint64_t tile, std::uint32_t first, std::uint32_t count) {
    std::optional<Accumulator> left;
    for (std::uint32_t p = first; p < first + count; ++p) {
        PartialInput input{.before = left, .tiles = {}};
        for (const TileRef& ref : operands_of(s.node, tile, p)) {
            input.tiles.push_back(tile_of(s.inputs[ref.input], ref.tile));
        }
        const auto next = execute_part(s.node, tile, p, s.context, input);
        REQUIRE(next.has_value());
        left = *next;
    }
    return *left;
}

/// The sum of the exact products of 32 * `count` positions from 32 * `first` on, in whatever chunks they are.
std::int64_t plain_product(
    const test::Sample& s, std::uint32_t row, std::uint32_t col, std::uint32_t first, std::uint32_t count
) {
    const Shape a = s.inputs[0].shape;
    const std::uint32_t group = row / (s.node.shape.rows / (s.inputs[2].shape.rows / s.node.shape.cols));
    std::uint64_t sum = 0;
    for (std::uint32_t k = first * kTileDim; k < std::min((first + count) * kTileDim, a.cols); ++k) {
        const std::int64_t x = test::get_i32(s.inputs[0], std::size_t{row} * a.cols + k);
        const std::int64_t y = test::get_i32(s.inputs[2], (std::size_t{group} * s.node.shape.cols + col) * a.cols + k);
        sum += static_cast<std::uint64_t>(x * y);
    }
    return static_cast<std::int64_t>(sum);
}

}  // namespace

TEST_CASE("NUM-41: a part of a product is the exact sum of its positions, across chunks") {
    test::Random random(41);
    std::uint32_t across = 0;
    for (int round = 0; round < 40; ++round) {
        const test::Sample s = test::random_sample(Op::kContract, random, Kind::kPlain);
        const std::uint64_t tile = random.below(static_cast<std::uint32_t>(tile_count(s.node.shape)));
        const std::uint32_t partials = partial_count(s.node, tile);
        const std::uint32_t first = random.below(partials);
        const std::uint32_t count = 1 + random.below(partials - first);
        across += (first * kTileDim / s.node.attributes[1] != ((first + count) * kTileDim - 1) / s.node.attributes[1]);
        const Accumulator left = run_part(s, tile, first, count);
        const std::uint64_t cols = tile_cols(s.node.shape);
        const auto row = static_cast<std::uint32_t>(tile / cols * kTileDim);
        const auto col = static_cast<std::uint32_t>(tile % cols * kTileDim);
        const auto value = part_value(s.node, left, 0, 0);
        REQUIRE(value.has_value());
        std::int64_t sum = 0;
        std::memcpy(&sum, value->data(), sizeof sum);
        CHECK(sum == plain_product(s, row, col, first, count));
    }
    CHECK(across > 0);
}

TEST_CASE("NUM-41: a part of a maximum is that of its columns, and parts together are the whole") {
    for (const Op op : {Op::kRowMax, Op::kRowSum}) {
        CAPTURE(std::string(to_string(op)));
        test::Random random(static_cast<std::uint64_t>(op));
        for (int round = 0; round < 20; ++round) {
            const test::Sample s = test::random_sample(op, random, Kind::kPlain);
            const std::uint32_t partials = partial_count(s.node, 0);
            const std::uint32_t cut = random.below(partials) + 1;
            const auto get = [&](const Accumulator& part) {
                const Bytes value = part_value(s.node, part, 0, 0).value();
                std::int64_t sum = 0;
                std::memcpy(&sum, value.data(), value.size());
                return sum;
            };
            const auto as_float = [](std::int64_t bits) {
                return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
            };
            std::int64_t joined = get(run_part(s, 0, 0, cut));
            if (cut < partials) {
                const std::int64_t rest = get(run_part(s, 0, cut, partials - cut));
                if (op == Op::kRowSum) {
                    joined += rest;
                } else if (s.node.dtype == DType::kF32) {
                    joined = as_float(rest) > as_float(joined) ? rest : joined;
                } else {
                    joined = std::max(static_cast<std::int32_t>(rest), static_cast<std::int32_t>(joined));
                }
            }
            const test::CountingRows rows(s.context.dataset);
            const Tensor whole = execute_node(s.node, s.context, rows, s.pointers());
            if (op == Op::kRowSum) {
                CHECK(joined == test::get_i64(whole, 0));
            } else {
                CHECK(static_cast<std::uint32_t>(joined) == test::get_u32(whole, 0));
            }
        }
    }
}

TEST_CASE("NUM-41: other operations have no parts, and an accumulator has its length") {
    test::Random random(5);
    for (const Op op : test::all_ops()) {
        CAPTURE(std::string(to_string(op)));
        const test::Sample s = test::random_sample(op, random, Kind::kPlain);
        PartialInput input = input_for(s, test::CountingRows(s.context.dataset), 0, 0);
        const auto left = execute_part(s.node, 0, 0, s.context, input);
        CHECK(left.has_value() == has_parts(op));
        if (left) {
            CHECK(part_value(s.node, *left, 0, 0).has_value());
            CHECK_FALSE(part_value(s.node, *left, 32, 0));
            CHECK_FALSE(part_value(s.node, Accumulator{Bytes(left->data.size() - 4)}, 0, 0));
            input.before = Accumulator{Bytes(3)};
            CHECK(execute_part(s.node, 0, 0, s.context, input).error() == PartialError::kBadAccumulator);
            CHECK(execute_part(s.node, 1U << 30U, 0, s.context, input).error() == PartialError::kMissingOperand);
        }
    }
}
