// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>

#include <tests/unit/canonical/samples.hpp>

using namespace assay;
using namespace assay::canonical;
using test::Kind;

namespace {

// Random nodes of each op against the plain loops, over shapes and kinds of data.
void check_against_reference(std::initializer_list<Op> ops, int rounds) {
    for (const Op op : ops) {
        CAPTURE(std::string(to_string(op)));
        test::Random random(static_cast<std::uint64_t>(op) * 1000);
        for (int round = 0; round < rounds; ++round) {
            CAPTURE(round);
            const test::Sample s = test::random_sample(op, random, round % 2 == 0 ? Kind::kPlain : Kind::kHostile);
            const test::CountingRows rows(s.context.dataset);
            const bool equal = execute_node(s.node, s.context, rows, s.pointers()) == test::reference(s, rows);
            REQUIRE(equal);
        }
    }
}

Tensor run(const Node& node, const std::vector<Tensor>& inputs) {
    test::Sample s{node, {}, inputs};
    for (const Tensor& tensor : inputs) {
        s.node.inputs.push_back(test::input_of(tensor));
    }
    REQUIRE(check_node(s.node).has_value());
    return execute_node(s.node, s.context, test::CountingRows({}), s.pointers());
}

Tensor row_of(std::initializer_list<float> values) {
    Tensor out = make_tensor(DType::kF32, {1, static_cast<std::uint32_t>(values.size())});
    std::size_t i = 0;
    for (const float value : values) {
        test::set_f32(out, i++, value);
    }
    return out;
}

Tensor canonical_row(std::initializer_list<float> values) {
    Tensor out = row_of(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const float value = test::get_f32(out, i);
        test::set_u32(out, i, std::isnan(value) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(value + 0.0F));
    }
    return out;
}

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("NUM-8: every elementwise primitive equals a plain loop on any operands") {
    check_against_reference(
        {Op::kAdd,  Op::kSub,      Op::kMul, Op::kDiv,  Op::kSqrt,  Op::kScale,  Op::kAddConst,
         Op::kRelu, Op::kReluGrad, Op::kExp, Op::kLog,  Op::kFill,  Op::kAbs,    Op::kFloor,
         Op::kRint, Op::kMax,      Op::kMin, Op::kLess, Op::kEqual, Op::kSelect, Op::kCausalMask},
        40
    );
}

TEST_CASE("NUM-2: a product and a sum are rounded separately") {
    // fma(x, x, -1) with x = 1 + 2^-12 would keep 2^-24.
    const float x = 1.0F + 0x1p-12F;
    const Shape one{1, 1};
    const Tensor product = run({.op = Op::kMul, .shape = one}, {row_of({x}), row_of({x})});
    const Tensor sum =
        run({.op = Op::kAddConst, .shape = one, .attributes = {std::bit_cast<std::uint32_t>(-1.0F), 0}}, {product});
    CHECK(test::get_f32(sum, 0) == 0x1p-11F);
    // The same in f64, where exp_f64 and log_f64 live.
    const double y = exp_f64(0x1p-20);
    CHECK(y == 1.0 + 0x1p-20 + 0x1p-41);
}

TEST_CASE("NUM-7: results hold neither negative zero nor a NaN but one") {
    const Tensor x = row_of({-0.0F, kNan, -kNan, 1.0F});
    const Tensor y =
        run({.op = Op::kScale, .shape = {1, 4}, .attributes = {std::bit_cast<std::uint32_t>(-1.0F), 0}}, {x});
    CHECK(test::get_u32(y, 0) == 0);
    CHECK(test::get_u32(y, 1) == 0x7fc00000);
    CHECK(test::get_u32(y, 2) == 0x7fc00000);
    CHECK(test::get_f32(y, 3) == -1.0F);
    const Tensor fill = run({.op = Op::kFill, .shape = {1, 1}, .attributes = {0x80000000U, 0}}, {});
    CHECK(test::get_u32(fill, 0) == 0);
    const Tensor root = run({.op = Op::kSqrt, .shape = {1, 2}}, {row_of({-0.0F, -1.0F})});
    CHECK(test::get_u32(root, 0) == 0);
    CHECK(test::get_u32(root, 1) == 0x7fc00000);
}

TEST_CASE("NUM-9: data movement equals a plain loop on any operands") { check_against_reference({Op::kOneHot}, 60); }
TEST_CASE("NUM-25: tanh of whole tensors is the chain's") { check_against_reference({Op::kTanh}, 40); }
TEST_CASE("NUM-26: erf of whole tensors is the chain's") { check_against_reference({Op::kErf}, 40); }
TEST_CASE("NUM-27: sin and cos of whole tensors are the chain's") { check_against_reference({Op::kSin, Op::kCos}, 40); }
TEST_CASE("NUM-34: a view equals a plain loop on any map") { check_against_reference({Op::kView}, 400); }
TEST_CASE("NUM-8: floor and rint are exact, ties go to even, and what has no fraction stays") {
    const std::initializer_list<float> x{-2.5F,          -0.5F,           0.5F,           1.5F,
                                         0x1.fffffep-2F, -0x1p-149F,      0x1.fffffep22F, -0x1.fffffep22F,
                                         0x1p23F,        0x1.fffffep127F, -kInf,          kNan};
    const Shape shape{1, static_cast<std::uint32_t>(x.size())};
    CHECK(
        run({.op = Op::kFloor, .shape = shape}, {row_of(x)}) ==
        canonical_row(
            {-3.0F, -1.0F, 0.0F, 1.0F, 0.0F, -1.0F, 0x1.fffffcp22F, -0x1p23F, 0x1p23F, 0x1.fffffep127F, -kInf, kNan}
        )
    );
    CHECK(
        run({.op = Op::kRint, .shape = shape}, {row_of(x)}) ==
        canonical_row({-2.0F, 0.0F, 0.0F, 2.0F, 0.0F, 0.0F, 0x1p23F, -0x1p23F, 0x1p23F, 0x1.fffffep127F, -kInf, kNan})
    );
}

TEST_CASE("NUM-8: comparisons with NaN are false, and max, min and select follow from that") {
    const Shape shape{1, 6};
    const Tensor x = row_of({1.0F, kNan, 1.0F, -0.0F, kInf, kNan});
    const Tensor y = row_of({2.0F, 1.0F, kNan, 0.0F, kInf, kNan});
    CHECK(run({.op = Op::kMax, .shape = shape}, {x, y}) == canonical_row({2.0F, 1.0F, kNan, 0.0F, kInf, kNan}));
    CHECK(run({.op = Op::kMin, .shape = shape}, {x, y}) == canonical_row({1.0F, 1.0F, kNan, 0.0F, kInf, kNan}));
    CHECK(run({.op = Op::kLess, .shape = shape}, {x, y}) == row_of({1.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F}));
    CHECK(run({.op = Op::kEqual, .shape = shape}, {x, y}) == row_of({0.0F, 0.0F, 0.0F, 1.0F, 1.0F, 0.0F}));
    const Tensor c = row_of({0.0F, -0.0F, 1.0F, kNan, 0x1p-149F, 0.0F});
    CHECK(run({.op = Op::kSelect, .shape = shape}, {x, c, y}) == canonical_row({2.0F, 1.0F, 1.0F, 0.0F, kInf, kNan}));
}

TEST_CASE("NUM-8: a causal mask counts rows modulo the length of a sequence and columns in the whole matrix") {
    const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
    const Shape shape{80, 70};
    const Tensor x = run({.op = Op::kFill, .shape = shape, .attributes = {bits(2.0F), 0}}, {});
    const Tensor y = run({.op = Op::kCausalMask, .shape = shape, .attributes = {40, bits(-kInf)}}, {x});
    for (std::size_t i = 0; i < 80; ++i) {
        for (std::size_t j = 0; j < 70; ++j) {
            REQUIRE(test::get_f32(y, i * 70 + j) == (j <= i % 40 ? 2.0F : -kInf));
        }
    }
}

TEST_CASE("NUM-27: sin and cos are NaN beyond their limit") {
    const Shape shape{1, 5};
    const Tensor x = row_of({0x1p30F, 0x1.000002p30F, -0x1.000002p30F, kInf, kNan});
    for (const Op op : {Op::kSin, Op::kCos}) {
        const Tensor y = run({.op = op, .shape = shape}, {x});
        CHECK(std::isfinite(test::get_f32(y, 0)));
        for (std::size_t i = 1; i < 5; ++i) {
            CHECK(test::get_u32(y, i) == 0x7fc00000);
        }
    }
}

TEST_CASE("NUM-37: conversions equal the definition on any operands") {
    check_against_reference({Op::kFromBits, Op::kToFloat, Op::kToInt}, 40);
}

TEST_CASE("NUM-37: conversions are clamped, rounded and canonical") {
    const Shape shape{1, 8};
    const Tensor whole =
        run({.op = Op::kToInt, .dtype = DType::kI32, .shape = shape},
            {row_of({-1.9F, 1.9F, 0x1.fffffep30F, 0x1p31F, -0x1p31F, -0x1.000002p31F, kInf, kNan})});
    const std::array<std::int32_t, 8> expected{-1,         1, 2147483520, 2147483647, -2147483647 - 1, -2147483647 - 1,
                                               2147483647, 0};
    for (std::size_t i = 0; i < 8; ++i) {
        CHECK(test::get_i32(whole, i) == expected[i]);
    }
    Tensor bits = make_tensor(DType::kI32, {1, 4});
    test::set_u32(bits, 0, 0x80000000U);
    test::set_u32(bits, 1, 0xff812345U);
    test::set_u32(bits, 2, 16'777'217);
    test::set_u32(bits, 3, 0x7fffffffU);
    const Tensor same = run({.op = Op::kFromBits, .shape = {1, 4}}, {bits});
    CHECK(test::get_u32(same, 0) == 0);
    CHECK(test::get_u32(same, 1) == 0x7fc00000);
    CHECK(test::get_u32(same, 2) == 16'777'217);
    CHECK(test::get_u32(same, 3) == 0x7fc00000);
    const Tensor nearest = run({.op = Op::kToFloat, .shape = {1, 4}}, {bits});
    CHECK(nearest == row_of({-0x1p31F, -8314043.0F, 0x1p24F, 0x1p31F}));
}

TEST_CASE("NUM-39, NUM-40: narrowing and widening equal the definition on any operands") {
    check_against_reference({Op::kNarrow, Op::kWiden}, 80);
}

TEST_CASE("NUM-39: a bf16 is the nearest one, ties to even, and has one NaN and one zero") {
    Tensor x = make_tensor(DType::kF32, {1, 10});
    const std::array<std::array<std::uint32_t, 2>, 10> table{
        {{0x3f800000, 0x3f80},
         {0x3f808000, 0x3f80},
         {0x3f808001, 0x3f81},
         {0x3f818000, 0x3f82},
         {0x80000000, 0},
         {0x80000001, 0},
         {0x7f7f7fff, 0x7f7f},
         {0x7f7f8000, 0x7f80},
         {0xff800000, 0xff80},
         {0xffffffff, 0x7fc0}}};
    for (std::size_t i = 0; i < table.size(); ++i) {
        test::set_u32(x, i, table[i][0]);
    }
    const Tensor half = run({.op = Op::kNarrow, .dtype = DType::kBf16, .shape = x.shape}, {x});
    for (std::size_t i = 0; i < table.size(); ++i) {
        CHECK(test::get_u16(half, i) == table[i][1]);
    }
    CHECK(half.data.size() == 20);
    const Tensor wide = run({.op = Op::kWiden, .shape = x.shape}, {half});
    CHECK(test::get_u32(wide, 3) == 0x3f820000);
    CHECK(test::get_u32(wide, 9) == 0x7fc00000);
}

TEST_CASE("NUM-39: with a dither a number becomes each of its two neighbours as often as it is near to it") {
    constexpr std::uint32_t kCols = 1024;
    const Shape shape{1, kCols};
    Tensor dither = make_tensor(DType::kF32, shape);
    for (std::uint32_t i = 0; i < kCols; ++i) {
        test::set_f32(dither, i, (static_cast<float>(i) + 0.5F) / kCols - 0.5F);
    }
    for (const std::uint32_t quarters : {0U, 1U, 2U, 3U}) {
        for (const std::uint32_t sign : {0U, 0x80000000U}) {
            Tensor x = make_tensor(DType::kF32, shape);
            for (std::uint32_t i = 0; i < kCols; ++i) {
                test::set_u32(x, i, sign | (0x3f800000U + quarters * 0x4000U));
            }
            const Tensor half = run({.op = Op::kNarrow, .dtype = DType::kBf16, .shape = shape}, {x, dither});
            std::uint32_t upper = 0;
            for (std::uint32_t i = 0; i < kCols; ++i) {
                const std::uint32_t above = test::get_u16(half, i) - (sign >> 16U) - 0x3f80U;
                REQUIRE(above <= 1);
                upper += above;
            }
            CHECK(upper == quarters * kCols / 4);
        }
    }
}

TEST_CASE("NUM-39: an i8 is clamped, and a tile of narrow elements is as long as they are") {
    Tensor x = make_tensor(DType::kI32, {1, 5});
    const std::array<std::int32_t, 5> values{-129, -128, 127, 128, 2147483647};
    const std::array<std::int32_t, 5> expected{-128, -128, 127, 127, 127};
    for (std::size_t i = 0; i < 5; ++i) {
        test::set_i32(x, i, values[i]);
    }
    const Tensor bytes = run({.op = Op::kNarrow, .dtype = DType::kI8, .shape = x.shape}, {x});
    const Tensor back = run({.op = Op::kWiden, .dtype = DType::kI32, .shape = x.shape}, {bytes});
    for (std::size_t i = 0; i < 5; ++i) {
        CHECK(test::get_i32(back, i) == expected[i]);
    }
    CHECK(make_tile(DType::kBf16).data.size() == 2048);
    CHECK(make_tile(DType::kI8).data.size() == 1024);
    CHECK(tile_of(bytes, 0).data.size() == 1024);
}

TEST_CASE("NUM-38: the column of a row's maximum is the first that holds it") {
    check_against_reference({Op::kRowArgMax}, 60);
    const auto first = [](const Tensor& x) {
        return test::get_i32(run({.op = Op::kRowArgMax, .dtype = DType::kI32, .shape = {1, 1}}, {x}), 0);
    };
    CHECK(first(row_of({kNan, -kInf, kNan})) == 1);
    CHECK(first(row_of({kNan, kNan})) == 0);
    CHECK(first(row_of({kNan, -0.0F, 0.0F})) == 1);
    Tensor wide = make_tensor(DType::kF32, {1, 100});
    CHECK(first(wide) == 0);
    test::set_f32(wide, 40, 1.0F);
    test::set_f32(wide, 70, 1.0F);
    CHECK(first(wide) == 40);
    test::set_f32(wide, 99, 2.0F);
    CHECK(first(wide) == 99);
}

TEST_CASE("NUM-12: a gather equals a plain loop and an index out of range reads zeros") {
    check_against_reference({Op::kGatherRows}, 30);
}

TEST_CASE("NUM-33: a batch holds the dataset rows of the batch order") {
    check_against_reference({Op::kBatchRows}, 40);
}

TEST_CASE("NUM-13: row exponents equal frexp of the largest finite magnitude") {
    check_against_reference({Op::kRowExponent}, 60);
    const Tensor e =
        run({.op = Op::kRowExponent, .dtype = DType::kI32, .shape = {1, 1}, .attributes = {32, 0}},
            {row_of({0x1p-149F, kInf, kNan, -0x1.8p-140F})});
    CHECK(test::get_i32(e, 0) == -139);
    const Tensor none =
        run({.op = Op::kRowExponent, .dtype = DType::kI32, .shape = {1, 1}, .attributes = {32, 0}},
            {row_of({kInf, kNan, -0.0F})});
    CHECK(test::get_i32(none, 0) == 0);
}

TEST_CASE("NUM-18: row maxima equal a plain loop and pass over NaN") {
    check_against_reference({Op::kRowMax}, 60);
    const Tensor best = run({.op = Op::kRowMax, .shape = {1, 1}}, {row_of({kNan, -3.0F, kNan})});
    CHECK(test::get_f32(best, 0) == -3.0F);
    const Tensor none = run({.op = Op::kRowMax, .shape = {1, 1}}, {row_of({kNan, kNan})});
    CHECK(test::get_f32(none, 0) == -kInf);
}

TEST_CASE("NUM-19: row sums and scattered sums are exact") {
    check_against_reference({Op::kRowSum}, 60);
    check_against_reference({Op::kScatterAddRows}, 16);
}
