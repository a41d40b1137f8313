// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include <tests/unit/canonical/samples.hpp>

using namespace assay;
using namespace assay::canonical;
using test::Kind;

namespace {

void check_against_reference(Op op, int rounds) {
    test::Random random(static_cast<std::uint64_t>(op) * 77);
    for (int round = 0; round < rounds; ++round) {
        CAPTURE(round);
        const test::Sample s = test::random_sample(op, random, round % 2 == 0 ? Kind::kPlain : Kind::kHostile);
        const bool equal = execute_node(s.node, s.context, test::CountingRows({}), s.pointers()) ==
                           test::reference(s, test::CountingRows({}));
        REQUIRE(equal);
    }
}

Tensor apply(
    Op op, DType dtype, Shape shape, std::array<std::uint32_t, 2> attributes, const std::vector<Tensor>& inputs
) {
    Node node{op, dtype, shape, attributes, {}};
    std::vector<const Tensor*> pointers;
    for (const Tensor& tensor : inputs) {
        node.inputs.push_back(test::input_of(tensor));
        pointers.push_back(&tensor);
    }
    REQUIRE(check_node(node).has_value());
    return execute_node(node, {}, test::CountingRows({}), pointers);
}

std::int32_t quantise_one(float x, std::int32_t e, std::uint32_t precision) {
    Tensor value = make_tensor(DType::kF32, {1, 1});
    Tensor exponent = make_tensor(DType::kI32, {1, 1});
    test::set_f32(value, 0, x);
    test::set_i32(exponent, 0, e);
    return test::get_i32(apply(Op::kQuantise, DType::kI32, {1, 1}, {precision, 0}, {value, exponent}), 0);
}

// a * b^T through row_exponent, quantise and contract.
Tensor multiply(
    const Tensor& a, const Tensor& b, std::uint32_t precision, std::uint32_t chunk, std::uint32_t groups = 1
) {
    const std::uint32_t chunks = (a.shape.cols + chunk - 1) / chunk;
    const Tensor ea = apply(Op::kRowExponent, DType::kI32, {a.shape.rows, chunks}, {chunk, 0}, {a});
    const Tensor eb = apply(Op::kRowExponent, DType::kI32, {b.shape.rows, chunks}, {chunk, 0}, {b});
    const Tensor qa = apply(Op::kQuantise, DType::kI32, a.shape, {precision, chunk}, {a, ea});
    const Tensor qb = apply(Op::kQuantise, DType::kI32, b.shape, {precision, chunk}, {b, eb});
    const Shape shape{a.shape.rows, b.shape.rows / groups};
    return apply(Op::kContract, DType::kF32, shape, {precision, chunk}, {qa, ea, qb, eb});
}

}  // namespace

TEST_CASE("NUM-14: quantise equals a plain loop on any operands") { check_against_reference(Op::kQuantise, 80); }
TEST_CASE("NUM-15: dequantise equals a plain loop on any operands") { check_against_reference(Op::kDequantise, 80); }
TEST_CASE("NUM-16: a contraction equals a 128-bit integer loop on any operands") {
    check_against_reference(Op::kContract, 60);
}

TEST_CASE("NUM-11: quantise rounds halves to the even integer") {
    CHECK(quantise_one(0.5F, 1, 1) == 0);
    CHECK(quantise_one(1.5F, 2, 2) == 2);
    CHECK(quantise_one(2.5F, 3, 3) == 2);
    CHECK(quantise_one(-2.5F, 3, 3) == -2);
    CHECK(quantise_one(-3.5F, 3, 3) == -4);
    CHECK(quantise_one(0x1.fffffep-1F, 0, 21) == 1 << 21);
}

TEST_CASE("NUM-14: quantise clamps to its precision and drops what is not finite") {
    CHECK(quantise_one(5.0F, 0, 4) == 16);
    CHECK(quantise_one(-5.0F, 0, 4) == -16);
    CHECK(quantise_one(std::numeric_limits<float>::max(), std::numeric_limits<std::int32_t>::min(), 30) == 1 << 30);
    CHECK(quantise_one(std::numeric_limits<float>::max(), std::numeric_limits<std::int32_t>::max(), 30) == 0);
    CHECK(quantise_one(std::numeric_limits<float>::infinity(), 0, 21) == 0);
    CHECK(quantise_one(-std::numeric_limits<float>::infinity(), 0, 21) == 0);
    CHECK(quantise_one(std::numeric_limits<float>::quiet_NaN(), 0, 21) == 0);
}

TEST_CASE("NUM-14: seven bits are those of an int8") {
    CHECK(quantise_one(1.0F, 0, 7) == 127);
    CHECK(quantise_one(-1.0F, 0, 7) == -127);
    CHECK(quantise_one(0x1.fffffep-1F, 0, 7) == 127);
    CHECK(quantise_one(0x1.fbp-1F, 0, 7) == 127);
    CHECK(quantise_one(0x1.f9p-1F, 0, 7) == 126);
    CHECK(quantise_one(1.0F, 0, 6) == 64);
    CHECK(quantise_one(1.0F, 0, 8) == 256);
}

TEST_CASE("NUM-16: a contraction in groups is the groups' products one above the other") {
    test::Random random(16);
    const auto rows = [](const Tensor& x, std::uint32_t first, std::uint32_t count) {
        Tensor out = make_tensor(x.dtype, {count, x.shape.cols});
        const std::size_t row = std::size_t{x.shape.cols} * size_of(x.dtype);
        std::copy_n(x.data.begin() + static_cast<std::ptrdiff_t>(first * row), count * row, out.data.begin());
        return out;
    };
    for (const std::uint32_t groups : {1U, 2U, 5U}) {
        const std::uint32_t m = 64;
        const std::uint32_t n = 96;
        const Tensor a = test::random_f32({groups * m, 70}, random, Kind::kHostile);
        const Tensor b = test::random_f32({groups * n, 70}, random, Kind::kHostile);
        const Tensor all = multiply(a, b, 21, 64, groups);
        for (std::uint32_t g = 0; g < groups; ++g) {
            const bool equal = rows(all, g * m, m) == multiply(rows(a, g * m, m), rows(b, g * n, n), 21, 64);
            CHECK(equal);
        }
    }
}

TEST_CASE("NUM-10: exponents beyond a double's range are clamped, not wrapped") {
    Tensor q = make_tensor(DType::kI64, {1, 1});
    test::set_i64(q, 0, 3);
    for (const std::int32_t e : {std::numeric_limits<std::int32_t>::max(), 1100, 1001}) {
        Tensor exponent = make_tensor(DType::kI32, {1, 1});
        test::set_i32(exponent, 0, e);
        const Tensor up = apply(Op::kDequantise, DType::kF32, {1, 1}, {0, 0}, {q, exponent});
        CHECK(std::isinf(test::get_f32(up, 0)));
        test::set_i32(exponent, 0, -e);
        const Tensor down = apply(Op::kDequantise, DType::kF32, {1, 1}, {0, 0}, {q, exponent});
        CHECK(test::get_u32(down, 0) == 0);
    }
}

TEST_CASE("NUM-17: a contraction of training-sized values is close to the product in long double") {
    test::Random random(5);
    for (const std::uint32_t chunk : {64U, 2048U}) {
        const Tensor a = test::random_f32({33, 200}, random, Kind::kPlain);
        const Tensor b = test::random_f32({40, 200}, random, Kind::kPlain);
        const Tensor c = multiply(a, b, 21, chunk);
        for (std::size_t i = 0; i < 33; ++i) {
            for (std::size_t j = 0; j < 40; ++j) {
                long double sum = 0;
                long double bound = 0;
                long double largest_a = 0;
                long double largest_b = 0;
                for (std::size_t k = 0; k < 200; ++k) {
                    const auto x = static_cast<long double>(test::get_f32(a, i * 200 + k));
                    const auto y = static_cast<long double>(test::get_f32(b, j * 200 + k));
                    sum += x * y;
                    largest_a = std::max(largest_a, std::fabs(x));
                    largest_b = std::max(largest_b, std::fabs(y));
                }
                bound = 200 * largest_a * largest_b * 0x1p-19L;
                REQUIRE(std::fabs(static_cast<long double>(test::get_f32(c, i * 40 + j)) - sum) <= bound);
            }
        }
    }
}

TEST_CASE("NUM-17: rows of zeros, denormals and one outlier contract to what the integers say") {
    Tensor a = make_tensor(DType::kF32, {3, 96});
    Tensor b = make_tensor(DType::kF32, {1, 96});
    for (std::size_t k = 0; k < 96; ++k) {
        test::set_f32(a, 96 + k, 0x1p-149F);
        test::set_f32(a, 192 + k, k == 5 ? 0x1p60F : 1.0F);
        test::set_f32(b, k, 1.0F);
    }
    const Tensor c = multiply(a, b, 21, 96);
    CHECK(test::get_u32(c, 0) == 0);
    CHECK(test::get_f32(c, 1) == 96 * 0x1p-149F);
    CHECK(test::get_f32(c, 2) == 0x1p60F);
    // In chunks of 32 the outlier hides only its own chunk's ones: 2^60 + 64 in f64, then one rounding.
    CHECK(test::get_f32(multiply(a, b, 21, 32), 2) == 0x1p60F);
    test::set_f32(a, 192 + 5, 0x1p23F);
    CHECK(test::get_f32(multiply(a, b, 21, 32), 2) == 0x1p23F + 64.0F);
}
