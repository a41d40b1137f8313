// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <doctest/doctest.h>
#include <tests/unit/canonical/samples.hpp>
#include <tests/unit/engine/equality.hpp>

using namespace assay;
using namespace assay::test;
using canonical::DType;
using canonical::Graph;
using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Tensor;
using canonical::test::Kind;
using canonical::test::Random;

namespace {

struct Contraction {
    std::uint32_t m = 0;  // rows of a group
    std::uint32_t n = 0;
    std::uint32_t k = 0;
    std::uint32_t precision = 0;
    std::uint32_t chunk = 0;
    std::uint32_t groups = 1;
};

void append_quantised(Graph& graph, const Contraction& c, const Input& x) {
    const std::uint32_t chunks = (c.k + c.chunk - 1) / c.chunk;
    graph.push_back({Op::kRowExponent, DType::kI32, {x.shape.rows, chunks}, {c.chunk, 0}, {x}, {}});
    const Input e = output_of(graph, graph.size() - 1);
    graph.push_back({Op::kQuantise, DType::kI32, x.shape, {c.precision, c.chunk}, {x, e}, {}});
}

// Exponents, quantisation and contraction of two f32 tensors, as a program writes them.
Case make_contraction(const Contraction& c, std::vector<Tensor> operands) {
    Graph graph;
    for (std::uint32_t side = 0; side < 2; ++side) {
        append_quantised(graph, c, state_of(operands, side));
    }
    Node contract{Op::kContract, DType::kF32, {c.groups * c.m, c.n}, {c.precision, c.chunk}, {}, {}};
    for (const std::size_t from : {1U, 0U, 3U, 2U}) {
        contract.inputs.push_back(output_of(graph, from));
    }
    REQUIRE(canonical::check_node(contract).has_value());
    graph.push_back(contract);
    return make_case(std::move(graph), std::move(operands));
}

// One tensor contracted with itself.
Case make_square(const Contraction& c, std::vector<Tensor> operand) {
    Graph graph;
    append_quantised(graph, c, state_of(operand, 0));
    Node contract{Op::kContract, DType::kF32, {c.m, c.m}, {c.precision, c.chunk}, {}, {}};
    for (const std::size_t from : {1U, 0U, 1U, 0U}) {
        contract.inputs.push_back(output_of(graph, from));
    }
    graph.push_back(contract);
    return make_case(std::move(graph), std::move(operand));
}

enum class Values { kPlain, kWide, kOutlier, kHostile, kDenormal, kZero };

Tensor operand(Shape shape, Values values, Random& random) {
    Tensor out = canonical::test::random_f32(shape, random, values == Values::kHostile ? Kind::kHostile : Kind::kPlain);
    for (std::size_t i = 0; i < shape.element_count(); ++i) {
        const std::uint32_t fraction = random.next_u32() & 0x807fffffU;
        switch (values) {
            case Values::kWide:
                canonical::test::set_u32(out, i, fraction | (1U + random.below(254)) << 23U);
                break;
            case Values::kOutlier:
                canonical::test::set_u32(out, i, fraction | (i % 61 == 0 ? 250U : 120U) << 23U);
                break;
            case Values::kDenormal:
                canonical::test::set_u32(out, i, fraction);
                break;
            case Values::kZero:
                canonical::test::set_u32(out, i, fraction & 0x80000000U);
                break;
            default:
                break;
        }
    }
    return out;
}

// Every product of one sign and as large as it can be: what keeps too few bits shows.
Tensor largest(Shape shape) {
    Tensor out = canonical::make_tensor(DType::kF32, shape);
    for (std::size_t i = 0; i < shape.element_count(); ++i) {
        canonical::test::set_f32(out, i, i % shape.cols == 3 ? 0x1.fffffep-1F : 0x1.fffffcp-1F);
    }
    return out;
}

constexpr std::array kProfiles{
    std::array{21U, 2048U}, std::array{24U, 16384U}, std::array{11U, 256U}, std::array{8U, 256U},
    std::array{7U, 65536U}};

}  // namespace

TEST_CASE("NUM-1: contractions of every profile equal the definition on every kind of operand") {
    Random random(4);
    for (const auto [precision, chunk] : kProfiles) {
        for (const Values values :
             {Values::kPlain, Values::kWide, Values::kOutlier, Values::kHostile, Values::kDenormal, Values::kZero}) {
            for (const auto [m, n, k] :
                 {std::array{1U, 1U, 1U}, std::array{37U, 33U, 65U}, std::array{5U, 40U, 700U}}) {
                const Contraction c{.m = m, .n = n, .k = k, .precision = precision, .chunk = chunk};
                CAPTURE(c.precision);
                CAPTURE(c.k);
                std::vector<Tensor> operands{operand({m, k}, values, random), operand({n, k}, values, random)};
                CHECK(check_everywhere(make_contraction(c, operands), by_definition(make_contraction(c, operands))));
            }
        }
    }
}

TEST_CASE("NUM-17: contractions equal the definition around the ends of chunks") {
    Random random(5);
    for (const auto [precision, chunk] :
         {std::array{21U, 64U}, std::array{24U, 32U}, std::array{11U, 256U}, std::array{8U, 256U}, std::array{7U, 96U},
          std::array{13U, 2048U}, std::array{12U, 32U}, std::array{2U, 32U}}) {
        for (const std::uint32_t k : {chunk - 1, chunk, chunk + 1, 3 * chunk, 3 * chunk + 5}) {
            const Contraction c{.m = 33, .n = 7, .k = k, .precision = precision, .chunk = chunk};
            CAPTURE(c.precision);
            CAPTURE(c.k);
            const Case made = make_contraction(
                c, {operand({c.m, k}, Values::kPlain, random), operand({c.n, k}, Values::kHostile, random)}
            );
            CHECK(check_everywhere(made, by_definition(made)));
        }
    }
}

TEST_CASE("NUM-17: operands of whole blocks equal the definition, on one side and on both") {
    Random random(9);
    for (const auto [precision, chunk] :
         {std::array{21U, 64U}, std::array{21U, 2048U}, std::array{24U, 128U}, std::array{8U, 256U},
          std::array{7U, 384U}}) {
        for (const Values values : {Values::kPlain, Values::kWide, Values::kHostile, Values::kDenormal}) {
            const Contraction c{.m = 70, .n = 90, .k = 330, .precision = precision, .chunk = chunk};
            CAPTURE(c.precision);
            CAPTURE(c.chunk);
            const Case made =
                make_contraction(c, {operand({c.m, c.k}, values, random), operand({c.n, c.k}, values, random)});
            CHECK(check_everywhere(made, by_definition(made)));
            const Case square = make_square(c, {operand({c.m, c.k}, values, random)});
            CHECK(check_everywhere(square, by_definition(square)));
        }
    }
}

TEST_CASE("NUM-16: sums that reach the limit are exact on every engine") {
    for (const auto [precision, chunk] : kProfiles) {
        for (const std::uint32_t k : {512U, 2048U, 5000U}) {
            const Contraction c{.m = 3, .n = 34, .k = k, .precision = precision, .chunk = chunk};
            CAPTURE(c.precision);
            CAPTURE(c.k);
            const Case made = make_contraction(c, {largest({c.m, k}), largest({c.n, k})});
            CHECK(check_everywhere(made, by_definition(made)));
        }
    }
}

TEST_CASE("NUM-16: the longest sums are exact on every engine") {
    // A whole chunk of each profile; with 7 bits more than an int32 can add up.
    for (const auto [precision, chunk, k] :
         {std::array{24U, 16384U, 16384U}, std::array{7U, 262144U, 65600U}, std::array{20U, 1U << 20U, 9000U}}) {
        const Contraction c{.m = 2, .n = 3, .k = k, .precision = precision, .chunk = chunk};
        CAPTURE(c.precision);
        CAPTURE(c.k);
        const Case made = make_contraction(c, {largest({c.m, k}), largest({c.n, k})});
        CHECK(check_everywhere(made, by_definition(made)));
    }
}

TEST_CASE("NUM-5: a choice that is measured is the definition") {
    Random random(8);
    for (const auto [precision, chunk] : kProfiles) {
        const Contraction c{.m = 64, .n = 32, .k = 600, .precision = precision, .chunk = chunk, .groups = 2};
        const Case made = make_contraction(
            c, {operand({128, c.k}, Values::kHostile, random), operand({64, c.k}, Values::kWide, random)}
        );
        const Outcome expected = by_definition(made);
        const auto own = test_device() == "cpu" ? engine::KernelChoice::kOwn : engine::KernelChoice::kAutomatic;
        for (const auto kernels : {engine::KernelChoice::kLibrary, own}) {
            const engine::EngineOptions options{
                .device = test_device(),
                .portable = true,
                .products = engine::ProductChoice::kMeasured,
                .kernels = kernels};
            CHECK(difference(made, expected, by_nodes(made, options)) == std::string{});
            CHECK(difference(made, expected, by_step(made, options)) == std::string{});
        }
    }
}

TEST_CASE("NUM-16: each group of rows is contracted with its own group on every engine") {
    Random random(6);
    for (const auto [precision, chunk] : kProfiles) {
        for (const auto [groups, m, n, k] :
             {std::array{2U, 32U, 32U, 33U}, std::array{3U, 64U, 32U, 300U}, std::array{5U, 32U, 96U, 64U}}) {
            const Contraction c{.m = m, .n = n, .k = k, .precision = precision, .chunk = chunk, .groups = groups};
            CAPTURE(c.precision);
            CAPTURE(c.groups);
            const Case made = make_contraction(
                c, {operand({groups * m, k}, Values::kPlain, random), operand({groups * n, k}, Values::kWide, random)}
            );
            CHECK(check_everywhere(made, by_definition(made)));
        }
    }
}

TEST_CASE("NUM-16: a contraction of integers that nothing bounds wraps as the definition does") {
    Random random(7);
    constexpr auto kLow = std::numeric_limits<std::int32_t>::min();
    constexpr auto kHigh = std::numeric_limits<std::int32_t>::max();
    for (const auto [rows, k, chunk, groups] :
         {std::array{3U, 33U, 32U, 1U}, std::array{35U, 70U, 2048U, 1U}, std::array{64U, 65U, 64U, 2U}}) {
        const std::uint32_t n = groups == 1 ? 5 : 32;
        const std::uint32_t chunks = (k + chunk - 1) / chunk;
        std::vector<Tensor> state;
        state.push_back(canonical::test::random_i32({rows, k}, random, kLow / 2, kHigh));
        state.push_back(canonical::test::random_i32({rows, chunks}, random, kLow / 2, kHigh));
        state.push_back(canonical::test::random_i32({groups * n, k}, random, kLow / 2, kHigh));
        state.push_back(canonical::test::random_i32({groups * n, chunks}, random, -30, 30));
        Node node{Op::kContract, DType::kF32, {rows, n}, {21, chunk}, {}, {}};
        for (std::size_t i = 0; i < state.size(); ++i) {
            node.inputs.push_back(state_of(state, i));
        }
        REQUIRE(canonical::check_node(node).has_value());
        check_everywhere(make_case({node}, std::move(state)));
    }
}
