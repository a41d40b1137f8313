// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/program/check_gradient.hpp>

using namespace assay;
using namespace assay::program;
using canonical::Shape;
using test::check_gradient;
using test::Matrix;
using test::random_matrix;
using test::spaced_matrix;

namespace {

using Values = std::vector<Value>;
using Unary = Value (Tape::*)(const Value&);
using Binary = Value (Tape::*)(const Value&, const Value&);

constexpr std::array<Shape, 4> kOperandShapes{Shape{4, 6}, Shape{4, 1}, Shape{1, 6}, Shape{1, 1}};

Matrix integers(Shape shape, std::vector<double> values) { return {shape, std::move(values), canonical::DType::kI32}; }

// f in double against the tape's output.
void check_values(Unary operation, double (*reference)(double), const Matrix& x, double tolerance = 3e-7) {
    const Matrix y = test::evaluate(
        [&](GraphBuilder& graph, const Values& v) {
            Tape tape(graph);
            return Values{(tape.*operation)(v[0])};
        },
        {x}
    )[0];
    for (std::size_t i = 0; i < x.values.size(); ++i) {
        const double expected = reference(x.values[i]);
        CAPTURE(x.values[i]);
        CHECK(std::abs(y.values[i] - expected) <= tolerance * std::max(1.0, std::abs(expected)));
    }
}

}  // namespace

TEST_CASE("gradients of one-operand operations agree with finite differences") {
    const auto check = [](Unary operation, const Matrix& x) {
        check_gradient([operation](Tape& tape, const Values& v) { return (tape.*operation)(v[0]); }, {x}, 1);
    };
    const Matrix any = random_matrix({3, 5}, 1, -2.0, 2.0);
    const Matrix positive = random_matrix({3, 5}, 2, 0.5, 3.0);
    const Matrix spaced = spaced_matrix({3, 5}, 3);
    for (const Unary smooth :
         {&Tape::exp, &Tape::tanh, &Tape::erf, &Tape::sin, &Tape::cos, &Tape::sigmoid, &Tape::silu, &Tape::gelu,
          &Tape::gelu_tanh, &Tape::row_sum, &Tape::row_mean, &Tape::col_sum, &Tape::sum, &Tape::softmax,
          &Tape::log_softmax}) {
        check(smooth, any);
    }
    check(&Tape::sqrt, positive);
    check(&Tape::log, positive);
    check(&Tape::abs, spaced);
    check(&Tape::relu, spaced);
    check(&Tape::row_max, spaced);
    check_gradient([](Tape& tape, const Values& v) { return tape.scale(v[0], -1.5F); }, {any}, 1);
    check_gradient([](Tape& tape, const Values& v) { return tape.add_const(v[0], 4.0F); }, {any}, 1);
}

TEST_CASE("activations have the values of their definitions") {
    const Matrix x = random_matrix({4, 8}, 4, -6.0, 6.0);
    check_values(
        &Tape::sigmoid, [](double v) { return 1.0 / (1.0 + std::exp(-v)); }, x
    );
    check_values(
        &Tape::silu, [](double v) { return v / (1.0 + std::exp(-v)); }, x
    );
    check_values(
        &Tape::gelu, [](double v) { return 0.5 * v * (1.0 + std::erf(v / std::sqrt(2.0))); }, x
    );
    check_values(
        &Tape::gelu_tanh,
        [](double v) {
            return 0.5 * v * (1.0 + std::tanh(std::sqrt(2.0 / std::acos(-1.0)) * (v + 0.044715 * v * v * v)));
        },
        x, 1e-6
    );
}

TEST_CASE("sigmoid and silu stay finite, with their gradients, where exp does not") {
    const Matrix x{{1, 4}, {-200.0, -100.0, 100.0, 200.0}};
    const auto gradients = test::evaluate(
        [](GraphBuilder& graph, const Values& v) {
            Tape tape(graph);
            const Value loss = tape.sum(tape.add(tape.sigmoid(v[0]), tape.silu(v[0])));
            return tape.gradients(loss, v);
        },
        {x}
    );
    CHECK(gradients[0].values == std::vector<double>{0.0, 0.0, 1.0, 1.0});
}

TEST_CASE("gradients of two-operand operations agree with finite differences, broadcast or not") {
    const Matrix x = random_matrix({4, 6}, 5);
    for (const Shape shape : kOperandShapes) {
        CAPTURE(shape.rows);
        CAPTURE(shape.cols);
        const Matrix y = random_matrix(shape, 6, 0.6, 2.0);
        for (const Binary operation : {&Tape::add, &Tape::sub, &Tape::mul, &Tape::div}) {
            check_gradient([&](Tape& tape, const Values& v) { return (tape.*operation)(v[0], v[1]); }, {x, y}, 2);
        }
        const Matrix condition{shape, random_matrix(shape, 7).values};
        Matrix truth = condition;
        for (std::size_t i = 0; i < truth.values.size(); ++i) {
            truth.values[i] = i % 2 == 0 ? 1.0 : 0.0;
        }
        if (shape != Shape{1, 1}) {  // a single condition leaves nothing of one of the two
            check_gradient([](Tape& tape, const Values& v) { return tape.select(v[0], v[2], v[1]); }, {x, y, truth}, 2);
        }
        // No element of x within two steps of y's.
        Matrix far = x;
        Matrix near = y;
        for (std::size_t i = 0; i < near.values.size(); ++i) {
            near.values[i] = 0.01 * static_cast<double>(i);
        }
        for (std::size_t i = 0; i < far.values.size(); ++i) {
            far.values[i] = (i % 3 == 0 ? 1.0 : -1.0) * (0.3 + std::abs(far.values[i]));
        }
        for (const Binary operation : {&Tape::max, &Tape::min}) {
            check_gradient([&](Tape& tape, const Values& v) { return (tape.*operation)(v[0], v[1]); }, {far, near}, 2);
        }
    }
}

TEST_CASE("an operand that is used twice, or is its own partner, gets both gradients") {
    const Matrix x = random_matrix({3, 4}, 8);
    check_gradient([](Tape& tape, const Values& v) { return tape.mul(v[0], v[0]); }, {x}, 1);
    check_gradient(
        [](Tape& tape, const Values& v) {
            // Equal operations are one node, and still differentiated once.
            return tape.add(tape.mul(tape.exp(v[0]), v[0]), tape.sub(tape.exp(v[0]), tape.row_sum(v[0])));
        },
        {x}, 1
    );
    // Gradients that are still to be repeated, along rows and along columns.
    check_gradient(
        [](Tape& tape, const Values& v) {
            const Value y = tape.scale(v[0], 2.0F);
            return tape.mul(tape.row_sum(y), tape.sum(tape.mul(tape.col_sum(y), tape.col_sum(y))));
        },
        {x}, 1
    );
}

TEST_CASE("gradients of views agree with finite differences") {
    const auto check = [](const Dims& dims, const canonical::View& view) {
        check_gradient(
            [&](Tape& tape, const Values& v) { return tape.view(v[0], view, 0.5F); },
            {random_matrix(matrix_shape(dims), 9)}, 1
        );
    };
    check({3, 4}, reshape_view({3, 4}, {2, 6}));
    check({2, 3, 4}, permute_view({2, 3, 4}, std::array<std::uint32_t, 3>{2, 0, 1}));
    check({3, 7}, slice_view({3, 7}, 1, 6, 3, -2));
    check({3, 2}, pad_view({3, 2}, std::array{1, 0}, std::array{0, 2}));
    check({3, 1}, expand_view({3, 1}, {2, 3, 4}));
    check({1, 4}, expand_view({1, 4}, {3, 4}));
    check({1, 5, 5, 2}, windows_view({1, 5, 5, 2}, {.kernel = {3, 2}, .stride = {2, 1}, .pad_before = {1, 0}}));
    check_gradient([](Tape& tape, const Values& v) { return tape.transpose(v[0], 2); }, {random_matrix({6, 4}, 10)}, 1);
    check_gradient(
        [](Tape& tape, const Values& v) {
            const std::array<Dims, 3> dims{Dims{2, 1, 3}, Dims{2, 2, 3}, Dims{2, 1, 3}};
            return tape.concat(v, dims, 1);
        },
        {random_matrix({2, 3}, 11), random_matrix({4, 3}, 12), random_matrix({2, 3}, 13)}, 3
    );
}

TEST_CASE("the gradient of what is read very often is summed in two stages") {
    const Dims large{300, 2, 200};
    const auto out = test::evaluate(
        [&](GraphBuilder& graph, const Values& v) {
            Tape tape(graph);
            // One number 120,000 times, and each of two 60,000 times.
            const Value one = tape.view(v[0], expand_view({1, 1}, large));
            const Value two = tape.view(v[1], expand_view({2, 1}, large));
            const Value loss = tape.sum(tape.mul(tape.add(one, two), v[2]));
            return tape.gradients(loss, std::span(v).first(2));
        },
        {random_matrix({1, 1}, 40), random_matrix({2, 1}, 41), random_matrix(matrix_shape(large), 42, 0.0, 2.0)}
    );
    const Matrix weights = random_matrix(matrix_shape(large), 42, 0.0, 2.0);
    std::array<double, 2> expected{};
    for (std::size_t i = 0; i < weights.values.size(); ++i) {
        expected[i / 200 % 2] += weights.values[i];
    }
    CHECK(out[0].values[0] == doctest::Approx(expected[0] + expected[1]).epsilon(1e-6));
    CHECK(out[1].values[0] == doctest::Approx(expected[0]).epsilon(1e-6));
    CHECK(out[1].values[1] == doctest::Approx(expected[1]).epsilon(1e-6));
    // Far more than a row has columns.
    GraphBuilder graph;
    Tape tape(graph);
    const Value x = GraphBuilder::state(0, {canonical::DType::kF32, {1, 1}});
    const Value y = tape.view(x, expand_view({1, 1}, {10'000, 10'000}));
    const Value weight = GraphBuilder::state(1, {canonical::DType::kF32, {10'000, 10'000}});
    CHECK((tape.gradients(tape.sum(tape.mul(y, weight)), std::vector{x})[0].shape == Shape{1, 1}));
}

TEST_CASE("a concatenation holds its parts in order") {
    const Matrix a{{2, 2}, {1, 2, 3, 4}};
    const Matrix b{{2, 1}, {5, 6}};
    const Matrix out = test::evaluate(
        [](GraphBuilder& graph, const Values& v) {
            Tape tape(graph);
            const std::array<Dims, 2> dims{Dims{2, 2}, Dims{2, 1}};
            return Values{tape.concat(v, dims, 1)};
        },
        {a, b}
    )[0];
    CHECK(out.values == std::vector<double>{1, 2, 5, 3, 4, 6});
}

TEST_CASE("gradients of an embedding agree with finite differences") {
    check_gradient(
        [](Tape& tape, const Values& v) { return tape.embed(v[0], v[1]); },
        {random_matrix({5, 32}, 14), integers({3, 2}, {0, 4, 4, 1, 9, 0})}, 1
    );
}

TEST_CASE("gradients of products agree with finite differences, in every profile and in groups") {
    const auto product = [](std::uint32_t groups) {
        return [groups](Tape& tape, const Values& v) { return tape.matmul_nt(v[0], v[1], groups); };
    };
    check_gradient(product(1), {random_matrix({5, 40}, 15), random_matrix({3, 40}, 16)}, 2);
    check_gradient(product(2), {random_matrix({64, 32}, 17), random_matrix({64, 32}, 18)}, 2);
    check_gradient(
        [](Tape& tape, const Values& v) { return tape.linear(v[0], v[1], v[2]); },
        {random_matrix({4, 6}, 19), random_matrix({3, 6}, 20), random_matrix({1, 3}, 21)}, 3
    );
    // What few bits keep is coarse: steps as long as the values themselves, and a product is linear in either.
    for (const Profile& profile : {kXg21, kXg11, kXg8, kXg7}) {
        check_gradient(
            product(1), {random_matrix({5, 40}, 15), random_matrix({3, 40}, 16)}, 2,
            {.half_step = 1.0, .tolerance = profile == kXg21 ? 1e-3 : 0.1, .profile = profile}
        );
    }
}

TEST_CASE("gradients of normalisations agree with finite differences") {
    const std::vector<Matrix> inputs{
        random_matrix({6, 5}, 22, -2.0, 2.0), random_matrix({1, 5}, 23), random_matrix({1, 5}, 24)};
    check_gradient([](Tape& tape, const Values& v) { return tape.layer_norm(v[0], v[1], v[2], 1e-5F); }, inputs, 3);
    check_gradient(
        [](Tape& tape, const Values& v) { return tape.rms_norm(v[0], v[1], 1e-5F); }, {inputs[0], inputs[1]}, 2
    );
    check_gradient(
        [](Tape& tape, const Values& v) { return tape.batch_norm(v[0], v[1], v[2], 1e-5F).output; }, inputs, 3
    );
}

TEST_CASE("normalisations have the values of their definitions") {
    const Matrix x = random_matrix({6, 5}, 25, -2.0, 2.0);
    const Matrix gain = random_matrix({1, 5}, 26);
    const Matrix bias = random_matrix({1, 5}, 27);
    const auto out = test::evaluate(
        [](GraphBuilder& graph, const Values& v) {
            Tape tape(graph);
            const Tape::Normalised batch = tape.batch_norm(v[0], v[1], v[2], 1e-3F);
            return Values{
                tape.layer_norm(v[0], v[1], v[2], 1e-3F), tape.rms_norm(v[0], v[1], 1e-3F), batch.output, batch.mean,
                batch.variance};
        },
        {x, gain, bias}
    );
    const auto at = [&](std::size_t r, std::size_t c) { return x.values[r * 5 + c]; };
    // Mean and variance of n values.
    const auto moments = [](const auto& value, std::size_t n) {
        double mean = 0;
        double square = 0;
        for (std::size_t i = 0; i < n; ++i) {
            mean += value(i) / static_cast<double>(n);
            square += value(i) * value(i) / static_cast<double>(n);
        }
        return std::array{mean, square - mean * mean, square};
    };
    for (std::size_t r = 0; r < 6; ++r) {
        for (std::size_t c = 0; c < 5; ++c) {
            const auto [row_mean, row_variance, row_square] = moments([&](std::size_t i) { return at(r, i); }, 5);
            const auto [mean, variance, square] = moments([&](std::size_t i) { return at(i, c); }, 6);
            const double g = gain.values[c];
            const double b = bias.values[c];
            const std::size_t i = r * 5 + c;
            CHECK(out[0].values[i] == doctest::Approx((at(r, c) - row_mean) / std::sqrt(row_variance + 1e-3) * g + b));
            CHECK(out[1].values[i] == doctest::Approx(at(r, c) / std::sqrt(row_square + 1e-3) * g));
            CHECK(out[2].values[i] == doctest::Approx((at(r, c) - mean) / std::sqrt(variance + 1e-3) * g + b));
            CHECK(out[3].values[c] == doctest::Approx(mean));
            CHECK(out[4].values[c] == doctest::Approx(variance));
        }
    }
}

TEST_CASE("gradients of losses agree with finite differences") {
    const Matrix logits = random_matrix({5, 7}, 28, -2.0, 2.0);
    const Matrix target = integers({5, 1}, {0, 6, 3, 7, -1});  // the last two are no class
    check_gradient([](Tape& tape, const Values& v) { return tape.cross_entropy(v[0], v[1]); }, {logits, target}, 1);
    check_gradient(
        [](Tape& tape, const Values& v) { return tape.mean_cross_entropy(v[0], v[1]); }, {logits, target}, 1
    );
    check_gradient(
        [](Tape& tape, const Values& v) { return tape.mean_square_error(v[0], v[1]); },
        {logits, random_matrix({5, 7}, 29)}, 2
    );
    check_gradient(
        [](Tape& tape, const Values& v) { return tape.mean_square_error(v[0], v[1]); },
        {logits, random_matrix({1, 7}, 30)}, 2
    );
}

TEST_CASE("cross-entropy is the negative logarithm of the target's share, and 0 for no class") {
    const Matrix logits = random_matrix({3, 4}, 31, -3.0, 3.0);
    const Matrix target = integers({3, 1}, {2, 4, 0});
    const auto out = test::evaluate(
        [](GraphBuilder& graph, const Values& v) {
            Tape tape(graph);
            return Values{tape.cross_entropy(v[0], v[1]), tape.mean_cross_entropy(v[0], v[1])};
        },
        {logits, target}
    );
    const auto expected = [&](std::size_t row, std::size_t chosen) {
        double total = 0;
        for (std::size_t c = 0; c < 4; ++c) {
            total += std::exp(logits.values[row * 4 + c]);
        }
        return std::log(total) - logits.values[row * 4 + chosen];
    };
    CHECK(out[0].values[0] == doctest::Approx(expected(0, 2)));
    CHECK(out[0].values[1] == 0.0);
    CHECK(out[0].values[2] == doctest::Approx(expected(2, 0)));
    CHECK(out[1].values[0] == doctest::Approx((expected(0, 2) + expected(2, 0)) / 3.0));
}

TEST_CASE("dropout keeps its share, scaled, and lets gradients through where it kept") {
    const Matrix x = random_matrix({40, 50}, 32, 1.0, 2.0);
    const auto out = test::evaluate(
        [](GraphBuilder& graph, const Values& v) {
            Tape tape(graph);
            const Value y = tape.dropout(v[0], 0.25F, 7);
            return Values{y, tape.gradients(tape.sum(y), v)[0], tape.dropout(v[0], 0.0F, 8)};
        },
        {x}
    );
    int kept = 0;
    for (std::size_t i = 0; i < x.values.size(); ++i) {
        const bool is_kept = out[0].values[i] != 0.0;
        kept += is_kept ? 1 : 0;
        CHECK(out[0].values[i] == doctest::Approx(is_kept ? x.values[i] / 0.75 : 0.0));
        CHECK(out[1].values[i] == doctest::Approx(is_kept ? 1.0 / 0.75 : 0.0));
    }
    CHECK(kept > 1'400);  // 1500 expected, deviation 19
    CHECK(kept < 1'600);
    CHECK(out[2].values == x.values);
    check_gradient(
        [](Tape& tape, const Values& v) { return tape.dropout(v[0], 0.5F, 3); }, {random_matrix({4, 4}, 33)}, 1
    );
}

TEST_CASE("a parameter that the loss does not depend on has a gradient of zeros, and costs no nodes") {
    GraphBuilder graph;
    const std::vector<Matrix> state{random_matrix({2, 3}, 34), random_matrix({4, 5}, 35), random_matrix({2, 3}, 36)};
    const Values v = test::state_values(state);
    Tape tape(graph);
    // The second factor is no parameter: nothing is written for it.
    const Value loss = tape.sum(tape.mul(v[0], tape.exp(v[2])));
    const std::size_t forward = graph.nodes().size();
    const Values gradients = tape.gradients(loss, std::vector{v[0], v[1]});
    const std::size_t backward = graph.nodes().size() - forward;
    CHECK(backward == 4);  // one, its repetition, the product, the zeros
    const auto out = test::run(std::move(graph).commit(gradients), state);
    CHECK(out[1].values == std::vector<double>(20, 0.0));
    for (std::size_t i = 0; i < 6; ++i) {
        CHECK(out[0].values[i] == doctest::Approx(std::exp(state[2].values[i])));
    }
}

TEST_CASE("gradients can be asked for more than once, and with respect to nodes") {
    const Matrix x = random_matrix({2, 3}, 37);
    const auto out = test::evaluate(
        [](GraphBuilder& graph, const Values& v) {
            Tape tape(graph);
            const Value square = tape.mul(v[0], v[0]);
            const Value first = tape.sum(square);
            const Value second = tape.sum(tape.mul(square, square));
            return Values{
                tape.gradients(first, v)[0], tape.gradients(second, v)[0],
                tape.gradients(second, std::vector{square})[0]};
        },
        {x}
    );
    for (std::size_t i = 0; i < 6; ++i) {
        const double value = x.values[i];
        CHECK(out[0].values[i] == doctest::Approx(2.0 * value));
        CHECK(out[1].values[i] == doctest::Approx(4.0 * value * value * value));
        CHECK(out[2].values[i] == doctest::Approx(2.0 * value * value));
    }
}
