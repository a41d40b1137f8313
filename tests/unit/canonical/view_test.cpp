// SPDX-License-Identifier: Apache-2.0
#include <core/canonical/view.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include <tests/unit/canonical/samples.hpp>
#include <core/canonical/partial.hpp>

using namespace assay;
using namespace assay::canonical;
using test::Kind;

namespace {

using Words = std::vector<std::uint32_t>;

// 0, 1, 2, ... as f32 or i32 or i64.
Tensor counting(DType dtype, Shape shape) {
    Tensor out = make_tensor(dtype, shape);
    for (std::size_t i = 0; i < shape.element_count(); ++i) {
        if (dtype == DType::kI64) {
            test::set_i64(out, i, static_cast<std::int64_t>(i));
        } else if (dtype == DType::kI32) {
            test::set_u32(out, i, static_cast<std::uint32_t>(i));
        } else {
            test::set_f32(out, i, static_cast<float>(i));
        }
    }
    return out;
}

Node view_node(const Tensor& x, Shape shape, View view, std::uint32_t fill = 0) {
    return {Op::kView, x.dtype, shape, {fill, 0}, {test::input_of(x)}, std::move(view)};
}

// The elements of a view of counting(kI32, from).
Words apply(Shape from, Shape to, View view, std::uint32_t fill = 0) {
    const Tensor x = counting(DType::kI32, from);
    const Node node = view_node(x, to, std::move(view), fill);
    REQUIRE(check_node(node).has_value());
    const Tensor* pointer = &x;
    const Tensor y = execute_node(node, {}, test::CountingRows({}), {&pointer, 1});
    Words out;
    for (std::size_t i = 0; i < to.element_count(); ++i) {
        out.push_back(test::get_u32(y, i));
    }
    return out;
}

View transpose(std::uint32_t rows, std::uint32_t cols) {
    return {{cols, rows}, {{rows, 0, 1, {0, 1}}, {cols, 0, 1, {1, 0}}}};
}

}  // namespace

TEST_CASE("NUM-34: reshapes, transposes, slices, reversals and expansions are views") {
    CHECK(apply({2, 3}, {3, 2}, {{6}, {{6, 0, 1, {1}}}}) == Words{0, 1, 2, 3, 4, 5});
    CHECK(apply({2, 3}, {3, 2}, transpose(2, 3)) == Words{0, 3, 1, 4, 2, 5});
    CHECK(apply({2, 3}, {2, 2}, {{2, 2}, {{2, 0, 1, {1, 0}}, {3, 1, 1, {0, 1}}}}) == Words{1, 2, 4, 5});
    CHECK(apply({1, 5}, {1, 3}, {{3}, {{5, 4, 1, {-2}}}}) == Words{4, 2, 0});
    CHECK(apply({2, 1}, {2, 3}, {{2, 3}, {{2, 0, 1, {1, 0}}}}) == Words{0, 0, 0, 1, 1, 1});
}

TEST_CASE("NUM-34: elements that a coordinate misses are the fill") {
    const std::uint32_t f = 99;
    CHECK(apply({1, 3}, {1, 6}, {{6}, {{3, -2, 1, {1}}}}, f) == Words{f, f, 0, 1, 2, f});
    // Every second position of an axis of 3: what the adjoint of a step of 2 reads.
    CHECK(apply({1, 3}, {1, 7}, {{7}, {{3, -1, 2, {1}}}}, f) == Words{f, 0, f, 1, f, 2, f});
    // A divisor that divides the stride, at an offset that it does not divide.
    CHECK(apply({1, 3}, {1, 3}, {{3}, {{3, 1, 2, {2}}}}, f) == Words{f, f, f});
    CHECK(apply({1, 3}, {1, 2}, {{2}, {{3, 0, 1, {std::numeric_limits<std::int32_t>::max()}}}}, f) == Words{0, f});
    CHECK(apply({1, 3}, {1, 2}, {{2}, {{3, 0, 1, {std::numeric_limits<std::int32_t>::min()}}}}, f) == Words{0, f});
}

TEST_CASE("NUM-34: windows of a convolution overlap and reach into the padding") {
    // [3,3], a 2x2 kernel, stride 2, padding 1 before: windows at -1 and 1.
    const View windows{{2, 2, 2, 2}, {{3, -1, 1, {2, 0, 1, 0}}, {3, -1, 1, {0, 2, 0, 1}}}};
    const std::uint32_t f = 77;
    CHECK(apply({3, 3}, {4, 4}, windows, f) == Words{f, f, f, 0, f, f, 1, 2, f, 3, f, 6, 4, 5, 7, 8});
}

TEST_CASE("NUM-34: the fill of an f32 is canonical, that of an i32 is its bits, that of an i64 is zero") {
    const View nothing{{2}, {{1, -9, 1, {0}}}};
    for (const std::uint32_t bits : {0x80000000U, 0xffc12345U, 0x7f800000U, 0x3f800000U}) {
        CHECK(apply({1, 1}, {1, 2}, nothing, bits) == Words{bits, bits});
        const Tensor x = counting(DType::kF32, {1, 1});
        const Tensor* pointer = &x;
        const Tensor y = execute_node(view_node(x, {1, 2}, nothing, bits), {}, test::CountingRows({}), {&pointer, 1});
        const std::uint32_t canonical = bits == 0x80000000U ? 0 : bits == 0xffc12345U ? 0x7fc00000U : bits;
        CHECK(test::get_u32(y, 1) == canonical);
    }
    const Tensor x = counting(DType::kI64, {1, 3});
    const Tensor* pointer = &x;
    const View shifted{{3}, {{3, 1, 1, {1}}}};
    const Tensor y = execute_node(view_node(x, {1, 3}, shifted), {}, test::CountingRows({}), {&pointer, 1});
    CHECK(test::get_i64(y, 1) == 2);
    CHECK(test::get_i64(y, 2) == 0);
}

TEST_CASE("NUM-9: a view copies negative zeros and NaN payloads") {
    Tensor x = make_tensor(DType::kF32, {1, 2});
    test::set_u32(x, 0, 0x80000000U);
    test::set_u32(x, 1, 0xffc12345U);
    const Tensor* pointer = &x;
    const Tensor y =
        execute_node(view_node(x, {2, 1}, {{2}, {{2, 1, 1, {-1}}}}), {}, test::CountingRows({}), {&pointer, 1});
    CHECK(test::get_u32(y, 0) == 0xffc12345U);
    CHECK(test::get_u32(y, 1) == 0x80000000U);
}

TEST_CASE("NUM-34: a cursor gives what the definition gives, from anywhere and in runs of any length") {
    test::Random random(34);
    for (int round = 0; round < 400; ++round) {
        CAPTURE(round);
        const test::Sample s = test::random_sample(Op::kView, random, round % 2 == 0 ? Kind::kPlain : Kind::kHostile);
        const View& view = *s.node.view;
        const std::uint64_t count = s.node.shape.element_count();
        std::uint64_t n = round % 3 == 0 ? 0 : random.next() % count;
        ViewCursor cursor(view);
        cursor.seek(n);
        bool equal = true;
        while (n < count) {
            const std::uint64_t most = 1 + random.below(80);
            const ViewRun run = cursor.next(most);
            REQUIRE(run.count >= 1);
            REQUIRE(run.count <= std::min(most, count - n));
            for (std::uint64_t i = 0; i < run.count; ++i, ++n) {
                const auto expected = flat_source(view, n);
                const std::uint64_t got = run.source + static_cast<std::uint64_t>(run.step) * i;
                equal = equal && expected.has_value() != run.is_fill && (run.is_fill || *expected == got);
            }
        }
        REQUIRE(equal);
    }
}

TEST_CASE("NUM-34: a run of one element has no step, however far its strides would lead") {
    // 2^18 steps along an axis of weight 3 * 2^45 are -2^63 in 64 bits: arithmetic with it would overflow (UBSan).
    const Shape from{1U << 24U, 3U << 22U};
    const View far{{2}, {{2, 0, 1, {1 << 18}}, {3U << 22U, 0, 1, {0}}, {1U << 23U, 0, 1, {0}}}};
    const Node node{Op::kView, DType::kI32, {1, 2}, {}, {{Source::kNode, 0, DType::kI32, from}}, far};
    REQUIRE(check_node(node).has_value());
    ViewCursor cursor(far);
    cursor.seek(0);
    const ViewRun run = cursor.next(2);
    CHECK(run.count == 1);
    CHECK(run.step == 0);
    const ViewTile tile = view_tile(node, 0);
    CHECK(tile.tile[0] == 0);
    CHECK(tile.tile[1] == ViewTile::kNone);
}

TEST_CASE("NUM-34: rows that are contiguous are one run") {
    const View crop{{8, 20}, {{10, 1, 1, {1, 0}}, {30, 5, 1, {0, 1}}}};
    ViewCursor cursor(crop);
    cursor.seek(20);
    const ViewRun run = cursor.next(1000);
    CHECK(run.count == 20);
    CHECK(run.source == 65);
    CHECK(run.step == 1);
    // Axes of 1 at the end do not cut runs.
    const View column{{50, 1, 1}, {{50, 0, 1, {1, 0, 0}}}};
    ViewCursor down(column);
    down.seek(3);
    CHECK(down.next(1000).count == 47);
}

TEST_CASE("NUM-22: a view has one partial for each tile that it touches, and one if it touches none") {
    const Tensor x = make_tensor(DType::kF32, {64, 96});
    const Node aligned = view_node(x, {96, 64}, transpose(64, 96));
    CHECK(partial_count(aligned, 0) == 1);
    // Tile (2, 1) of the transpose is tile (1, 2) of 2 x 3.
    CHECK(operands_of(aligned, 5, 0) == std::vector<TileRef>{{0, 5}});
    CHECK(operands_of(aligned, 3, 0) == std::vector<TileRef>{{0, 4}});
    const Node shifted = view_node(x, {64, 40}, {{64, 40}, {{64, 0, 1, {1, 0}}, {96, 20, 1, {0, 1}}}});
    CHECK(partial_count(shifted, 0) == 2);
    CHECK(operands_of(shifted, 0, 1) == std::vector<TileRef>{{0, 1}});
    CHECK(partial_count(shifted, 1) == 1);
    const Node nothing = view_node(x, {3, 3}, {{9}, {{64, -1, 1, {0}}, {96, 0, 1, {1}}}});
    CHECK(partial_count(nothing, 0) == 1);
    CHECK(operands_of(nothing, 0, 0).empty());
    const Tensor tall = make_tensor(DType::kF32, {32 * 1024, 1});
    const Node scattered = view_node(tall, {32, 32}, {{1024}, {{32 * 1024, 0, 1, {32}}}});
    CHECK(partial_count(scattered, 0) == 1024);
    CHECK(operands_of(scattered, 0, 1023) == std::vector<TileRef>{{0, 1023}});
}

TEST_CASE("NUM-23: a view reads its tiles in ascending order, none twice") {
    test::Random random(23);
    for (int round = 0; round < 60; ++round) {
        const test::Sample s = test::random_sample(Op::kView, random, Kind::kHostile);
        for (std::uint64_t tile = 0; tile < tile_count(s.node.shape); ++tile) {
            const auto touched = view_tile(s.node, tile).touched;
            REQUIRE(std::is_sorted(touched.begin(), touched.end()));
            REQUIRE(std::adjacent_find(touched.begin(), touched.end()) == touched.end());
            REQUIRE(partial_count(s.node, tile) == std::max<std::size_t>(1, touched.size()));
        }
    }
}

TEST_CASE("NUM-24: a view's accumulator is the tile so far") {
    for (const DType dtype : {DType::kF32, DType::kI64}) {
        const Tensor x = counting(dtype, {2, 64});
        const Node node = view_node(x, {2, 32}, {{2, 32}, {{2, 0, 1, {1, 0}}, {64, 16, 1, {0, 1}}}});
        REQUIRE(check_node(node).has_value());
        PartialInput input;
        input.tiles = {tile_of(x, 0)};
        const auto first = execute_partial(node, 0, 0, {}, input);
        REQUIRE(first.has_value());
        REQUIRE(first->accumulator.has_value());
        CHECK(first->accumulator->data.size() == std::size_t{1024} * size_of(dtype));
        const Tensor so_far{dtype, {32, 32}, first->accumulator->data};
        for (std::size_t j = 0; j < 32; ++j) {
            const std::int64_t expected = j < 16 ? 16 + static_cast<std::int64_t>(j) : 0;
            if (dtype == DType::kI64) {
                REQUIRE(test::get_i64(so_far, j) == expected);
            } else {
                REQUIRE(test::get_f32(so_far, j) == static_cast<float>(expected));
            }
        }
    }
}
