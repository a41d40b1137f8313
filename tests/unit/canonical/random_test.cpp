// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <tests/unit/canonical/samples.hpp>

using namespace assay;
using namespace assay::canonical;

TEST_CASE("NUM-30: Philox gives the known answers of Random123") {
    using Words = std::array<std::uint32_t, 4>;
    CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    const std::uint32_t f = 0xffffffff;
    CHECK(philox4x32({f, f, f, f}, {f, f}) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(
        philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}
    );
}

TEST_CASE("NUM-31: every epoch of the batch order is a permutation of the rows") {
    for (const std::uint64_t n : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 15U, 16U, 17U, 63U, 64U, 65U, 255U, 257U, 1000U, 4097U}) {
        for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
            std::vector<bool> seen(n);
            for (std::uint64_t i = 0; i < n; ++i) {
                const std::uint64_t row = batch_row(42, epoch * n + i, n);
                REQUIRE(row < n);
                REQUIRE_FALSE(seen[row]);
                seen[row] = true;
            }
        }
    }
}

TEST_CASE("NUM-31: epochs and seeds order the rows differently") {
    int same_epoch = 0;
    int same_seed = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        same_epoch += batch_row(1, i, 1000) == batch_row(1, 1000 + i, 1000) ? 1 : 0;
        same_seed += batch_row(1, i, 1000) == batch_row(2, i, 1000) ? 1 : 0;
    }
    CHECK(same_epoch < 20);
    CHECK(same_seed < 20);
}

TEST_CASE("NUM-31: the batch order is total for the largest of its arguments") {
    const std::uint64_t most = ~std::uint64_t{0};
    CHECK(batch_row(most, most, most) < most);
    CHECK(batch_row(7, most, (std::uint64_t{1} << 63U) + 1) <= (std::uint64_t{1} << 63U));
    CHECK(batch_row(7, most, 0) == 0);
}

TEST_CASE("NUM-32: uniform equals the definition per element") {
    test::Random random(3);
    for (int round = 0; round < 30; ++round) {
        const test::Sample s = test::random_sample(Op::kUniform, random, test::Kind::kPlain);
        const test::CountingRows rows({});
        const bool equal = execute_node(s.node, s.context, rows, {}) == test::reference(s, rows);
        REQUIRE(equal);
    }
}

TEST_CASE("NUM-35: bernoulli equals the definition per element") {
    test::Random random(4);
    for (int round = 0; round < 30; ++round) {
        const test::Sample s = test::random_sample(Op::kBernoulli, random, test::Kind::kPlain);
        const test::CountingRows rows({});
        const bool equal = execute_node(s.node, s.context, rows, {}) == test::reference(s, rows);
        REQUIRE(equal);
    }
}

TEST_CASE("NUM-35: bernoulli is one as often as its threshold says, and never at zero") {
    const auto ones = [](std::uint32_t threshold) {
        const Node node{Op::kBernoulli, DType::kF32, {100, 1000}, {threshold, 9}, {}};
        const Tensor x = execute_node(node, {.seed = 5, .step = 6, .dataset = {}}, test::CountingRows({}), {});
        int count = 0;
        for (std::size_t i = 0; i < 100'000; ++i) {
            const float value = test::get_f32(x, i);
            REQUIRE((value == 0.0F || value == 1.0F));
            count += value == 1.0F ? 1 : 0;
        }
        return count;
    };
    CHECK(ones(0) == 0);
    CHECK(std::abs(ones(0x40000000) - 25'000) < 700);
    CHECK(ones(0xffffffff) == 100'000);
}

TEST_CASE("NUM-35: bernoulli is zero where the word is the threshold itself") {
    const std::uint32_t word = philox4x32({0, 9, 6, 0}, {5, 0})[1];
    for (const std::uint32_t above : {0U, 1U}) {
        const Node node{Op::kBernoulli, DType::kF32, {1, 4}, {word + above, 9}, {}};
        const Tensor x = execute_node(node, {.seed = 5, .step = 6, .dataset = {}}, test::CountingRows({}), {});
        CHECK(test::get_f32(x, 1) == static_cast<float>(above));
    }
}

TEST_CASE("NUM-36: step_count equals the definition") {
    test::Random random(36);
    for (int round = 0; round < 500; ++round) {
        const test::Sample s = test::random_sample(Op::kStepCount, random, test::Kind::kPlain);
        const test::CountingRows rows({});
        const bool equal = execute_node(s.node, s.context, rows, {}) == test::reference(s, rows);
        REQUIRE(equal);
    }
}

TEST_CASE("NUM-36: step_count divides, wraps and rounds to nearest, ties to even") {
    const auto count = [](std::uint64_t step, std::uint32_t divisor, std::uint32_t modulus) {
        const Node node{Op::kStepCount, DType::kF32, {1, 1}, {divisor, modulus}, {}};
        REQUIRE(check_node(node).has_value());
        const Tensor x = execute_node(node, {.seed = 0, .step = step, .dataset = {}}, test::CountingRows({}), {});
        return test::get_f32(x, 0);
    };
    CHECK(count(99, 10, 0) == 9.0F);
    CHECK(count(99, 10, 7) == 2.0F);
    CHECK(count(0x1000001, 1, 0) == 0x1p24F);
    CHECK(count(0x1000003, 1, 0) == 0x1.000004p24F);
    CHECK(count(~std::uint64_t{0}, 1, 0) == 0x1p64F);
    CHECK(count(0x8000008000000000, 1, 0) == 0x1p63F);
    CHECK(count(0x8000008000000001, 1, 0) == 0x1.000002p63F);
    CHECK(count(0x8000018000000000, 1, 0) == 0x1.000004p63F);
    CHECK(count(~std::uint64_t{0}, 1, 0xffffffff) == 0.0F);
}

TEST_CASE("NUM-32: uniform stays in its bounds and centres on zero") {
    Node node{Op::kUniform, DType::kF32, {100, 1000}, {std::bit_cast<std::uint32_t>(0.25F), 9}, {}};
    const Tensor x = execute_node(node, {.seed = 1, .step = 0, .dataset = {}}, test::CountingRows({}), {});
    double sum = 0;
    for (std::size_t i = 0; i < 100'000; ++i) {
        const float value = test::get_f32(x, i);
        REQUIRE(value >= -0.25F);
        REQUIRE(value <= 0.25F);
        sum += double{value};
    }
    CHECK(std::fabs(sum / 100'000) < 0.003);
}
