// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/program/scalar_graph.hpp>
#include <verifier/compile/program/autodiff.hpp>

using namespace assay;
using namespace assay::program;
using canonical::DType;
using canonical::Op;
using canonical::Shape;
using test::Matrix;
using test::random_matrix;

namespace {

using Values = std::vector<Value>;

Value parameter(Shape shape, std::uint32_t index = 0) { return GraphBuilder::state(index, {DType::kF32, shape}); }

}  // namespace

TEST_CASE("an equal node is written once, and one that differs anywhere is another") {
    GraphBuilder graph;
    const Value x = parameter({4, 6});
    const Value y = graph.exp(x);
    CHECK(graph.exp(x) == y);
    CHECK(graph.scale(y, 2.0F) == graph.scale(y, 2.0F));
    CHECK(graph.nodes().size() == 2);
    CHECK_FALSE(graph.scale(y, 3.0F) == graph.scale(y, 2.0F));
    CHECK_FALSE(graph.exp(parameter({4, 6}, 1)) == y);
    CHECK_FALSE(graph.exp(y) == y);
    CHECK_FALSE(graph.slice_cols(x, 0, 3) == graph.slice_cols(x, 1, 3));
    CHECK_FALSE(graph.uniform({2, 2}, 1.0F, 0) == graph.uniform({2, 2}, 1.0F, 1));
}

TEST_CASE("ten thousand nodes are written without looking at each for each") {
    GraphBuilder graph;
    Value x = parameter({2, 2});
    for (int i = 0; i < 10'000; ++i) {
        x = graph.add_const(x, 1.0F);
    }
    CHECK(graph.nodes().size() == 10'000);
    // A quadratic search would have compared 10^9 nodes: minutes, not milliseconds.
    for (int round = 0; round < 20; ++round) {
        Value again = parameter({2, 2});
        for (int i = 0; i < 10'000; ++i) {
            again = graph.add_const(again, 1.0F);
        }
        CHECK(again == x);
    }
}

TEST_CASE("a view that changes nothing is no node, and views of views are one") {
    GraphBuilder graph;
    const Value x = parameter({6, 4});
    CHECK(graph.view(x, reshape_view({2, 3, 4}, {6, 4}), Shape{6, 4}) == x);
    CHECK(graph.transpose(graph.transpose(x)) == x);
    CHECK(graph.transpose(graph.transpose(x, 2), 2) == x);
    const Value head = graph.slice_cols(graph.slice_cols(x, 1, 3), 1, 2);
    REQUIRE(head.source == canonical::Source::kNode);
    CHECK(graph.nodes()[head.index].inputs[0] == x);
    // Fills that differ cannot be told apart in one view.
    const canonical::View pad = pad_view({6, 4}, std::array{0, 1}, std::array{0, 0});
    const canonical::View pad_more = pad_view({6, 5}, std::array{0, 1}, std::array{0, 0});
    const Value ones = graph.view(x, pad, Shape{6, 5}, 1.0F);
    const Value same = graph.view(ones, pad_more, Shape{6, 6}, 1.0F);
    const Value other = graph.view(ones, pad_more, Shape{6, 6}, 2.0F);
    CHECK(graph.nodes()[same.index].inputs[0] == x);
    CHECK(graph.nodes()[other.index].inputs[0] == ones);
    // A view that fills nothing leaves the other's fill alone.
    const Value turned = graph.transpose(ones);
    CHECK(graph.nodes()[turned.index].inputs[0] == x);
    CHECK(graph.nodes()[turned.index].attributes[0] == std::bit_cast<std::uint32_t>(1.0F));
}

TEST_CASE("composed views give the numbers that views one after another give") {
    const Matrix x = random_matrix({6, 4}, 1);
    const auto out = test::evaluate(
        [](GraphBuilder& graph, const Values& v) {
            const auto chain = [&](const Value& from) {
                const Value padded =
                    graph.view(from, pad_view({6, 4}, std::array{1, 0}, std::array{0, 2}), Shape{7, 6}, 9.0F);
                const Value turned = graph.transpose(padded);
                return graph.view(turned, slice_view({6, 7}, 0, 5, 3, -2), Shape{3, 7});
            };
            // The second way an addition stands between each view and the next.
            const auto apart = [&](const Value& y) { return graph.add_const(y, 0.0F); };
            const Value padded =
                apart(graph.view(v[0], pad_view({6, 4}, std::array{1, 0}, std::array{0, 2}), Shape{7, 6}, 9.0F));
            const Value turned = apart(graph.transpose(padded));
            return Values{chain(v[0]), graph.view(turned, slice_view({6, 7}, 0, 5, 3, -2), Shape{3, 7})};
        },
        {x}
    );
    CHECK(out[0].values == out[1].values);
}

TEST_CASE("iota counts from zero, whatever the number") {
    for (const std::uint32_t count : {1U, 2U, 3U, 4U, 17U, 1'000U, 5'000U}) {
        const Matrix out =
            test::evaluate([=](GraphBuilder& graph, const Values&) { return Values{graph.iota(count)}; }, {})[0];
        REQUIRE((out.shape == Shape{count, 1}));
        for (std::size_t i = 0; i < count; ++i) {
            CHECK(out.values[i] == static_cast<double>(i));
        }
    }
}

TEST_CASE("sums by row, by column and of everything are right to the last bits") {
    const Matrix x = random_matrix({5, 70}, 2, -3.0, 5.0);
    const auto out = test::evaluate(
        [](GraphBuilder& graph, const Values& v) {
            return Values{graph.row_sum(v[0]), graph.col_sum(v[0]), graph.sum(v[0]), graph.mean(graph.row_sum(v[0]))};
        },
        {x}
    );
    double total = 0;
    for (std::size_t r = 0; r < 5; ++r) {
        double sum = 0;
        for (std::size_t c = 0; c < 70; ++c) {
            sum += x.values[r * 70 + c];
        }
        total += sum;
        CHECK(out[0].values[r] == doctest::Approx(sum).epsilon(1e-6));
    }
    for (std::size_t c = 0; c < 70; ++c) {
        double sum = 0;
        for (std::size_t r = 0; r < 5; ++r) {
            sum += x.values[r * 70 + c];
        }
        CHECK(out[1].values[c] == doctest::Approx(sum).epsilon(1e-6));
    }
    CHECK(out[2].values[0] == doctest::Approx(total).epsilon(1e-6));
    CHECK(out[3].values[0] == doctest::Approx(total / 5).epsilon(1e-6));
}

TEST_CASE("a long sum goes row by row, and is right all the same") {
    const Matrix x = random_matrix({300, 400}, 4, 0.0, 2.0);
    const auto out = test::evaluate([](GraphBuilder& graph, const Values& v) { return Values{graph.sum(v[0])}; }, {x});
    double total = 0;
    for (const double value : x.values) {
        total += value;
    }
    CHECK(out[0].values[0] == doctest::Approx(total).epsilon(1e-7));
}

TEST_CASE("bernoulli keeps all, none, or a share") {
    const auto out = test::evaluate(
        [](GraphBuilder& graph, const Values&) {
            return Values{
                graph.bernoulli({50, 40}, 0.0F, 1), graph.bernoulli({50, 40}, 1.0F, 1),
                graph.bernoulli({50, 40}, 0.25F, 1)};
        },
        {}
    );
    const auto ones = [](const Matrix& m) { return std::count(m.values.begin(), m.values.end(), 1.0); };
    CHECK(ones(out[0]) == 0);
    CHECK(ones(out[1]) == 2'000);
    CHECK(std::abs(ones(out[2]) - 500) < 100);  // deviation 19
}

TEST_CASE("a step's number is divided and wrapped") {
    const auto at = [](std::uint64_t step) {
        const auto out = test::evaluate(
            [](GraphBuilder& graph, const Values&) {
                return Values{graph.step_count(3, 0), graph.step_count(3, 4)};
            },
            {}, step
        );
        return std::array{out[0].values[0], out[1].values[0]};
    };
    CHECK(at(0) == std::array{0.0, 0.0});
    CHECK(at(11) == std::array{3.0, 3.0});
    CHECK(at(12) == std::array{4.0, 0.0});
}

TEST_CASE("a committed graph drops what nothing needs, and keeps its loss") {
    const Matrix x = random_matrix({3, 4}, 3);
    GraphBuilder graph;
    const Value v = parameter({3, 4});
    graph.exp(v);  // nobody's
    const Value next = graph.scale(v, 2.0F);
    graph.erf(next);
    Value loss = graph.sum(graph.mul(v, v));
    const std::size_t all = graph.nodes().size();
    const canonical::Graph pruned = std::move(graph).commit(Values{next}, loss);
    CHECK(pruned.size() == all - 2 + 1);
    REQUIRE(loss.index < pruned.size());
    CHECK((pruned[loss.index].shape == Shape{1, 1}));
    CHECK(canonical::check_graph(pruned, {{DType::kF32, {3, 4}}}, {{DType::kF32, {3, 4}}}).has_value());
    const Matrix out = test::run(pruned, {x})[0];
    for (std::size_t i = 0; i < 12; ++i) {
        CHECK(out.values[i] == 2.0 * x.values[i]);
    }
}

// With more elements than a matrix has rows, the readings of an adjoint cannot be rows of one: each is a view of its
// own, and they are added.
TEST_CASE("the gradient of a large repetition is the sum of its copies") {
    GraphBuilder graph;
    Tape tape(graph);
    constexpr std::uint32_t kSide = 4'097;
    const Value x = parameter({kSide, kSide});
    const Dims copies{3, kSide, kSide};
    const Value y = tape.view(x, expand_view({kSide, kSide}, copies));
    const Value weight = parameter({3 * kSide, kSide}, 1);
    const Value gradient = tape.gradients(tape.sum(tape.mul(y, weight)), std::vector{x})[0];
    const auto& nodes = graph.nodes();
    const canonical::Node& sum = nodes[gradient.index];
    REQUIRE(sum.op == Op::kAdd);
    const canonical::Node& first_two = nodes[sum.inputs[0].index];
    REQUIRE(first_two.op == Op::kAdd);
    const std::array views{
        &nodes[first_two.inputs[0].index], &nodes[first_two.inputs[1].index], &nodes[sum.inputs[1].index]};
    for (std::int32_t copy = 0; copy < 3; ++copy) {
        const canonical::Node& view = *views[static_cast<std::size_t>(copy)];
        REQUIRE(view.op == Op::kView);
        CHECK((view.shape == Shape{kSide, kSide}));
        CHECK(view.view->axes[0].size == 3);
        CHECK(view.view->axes[0].offset == copy);
    }
}
