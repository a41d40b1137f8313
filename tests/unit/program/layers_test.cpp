// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/program/check_gradient.hpp>

using namespace assay;
using namespace assay::program;
using test::check_gradient;
using test::Matrix;
using test::random_matrix;
using test::spaced_matrix;

namespace {

using Values = std::vector<Value>;

struct Case {
    Dims dims;
    Windows windows;
    std::uint32_t filters = 3;
};

// Strides, dilations, padding, one to three spatial axes.
std::vector<Case> cases() {
    return {
        {{2, 5, 2}, {.kernel = {3}}, 3},
        {{1, 5, 4, 2}, {.kernel = {3, 2}, .stride = {}, .dilation = {}, .pad_before = {1, 0}, .pad_after = {1, 1}}, 3},
        {{1, 6, 6, 1}, {.kernel = {2, 3}, .stride = {2, 3}}, 2},
        {{2, 5, 5, 2},
         {.kernel = {3, 3}, .stride = {2, 2}, .dilation = {}, .pad_before = {1, 1}, .pad_after = {1, 1}},
         2},
        {{1, 7, 5, 1}, {.kernel = {2, 2}, .stride = {1, 2}, .dilation = {3, 2}}, 2},
        {{1, 3, 3, 3, 2}, {.kernel = {2, 2, 2}}, 2},
        {{1, 4, 4, 5}, {.kernel = {1, 1}}, 3},
        {{1, 5, 5, 1},
         {.kernel = {2, 2}, .stride = {2, 2}, .dilation = {}, .pad_before = {}, .pad_after = {}, .rounds_up = true},
         2},
    };
}

std::uint32_t at_or(const Dims& values, std::size_t i, std::uint32_t otherwise) {
    return values.empty() ? otherwise : values[i];
}

// Calls visit(window, kernel place, place or nothing) for every window of one sample; the places are numbered
// row-major over the spatial axes.
template <class Visit>
void walk_windows(const Case& c, Visit visit) {
    const Dims out = window_dims(c.dims, c.windows);
    const std::size_t axes = c.windows.kernel.size();
    const std::size_t windows = element_count(std::span(out).subspan(1, axes));
    const std::size_t kernel = element_count(c.windows.kernel);
    for (std::size_t w = 0; w < windows; ++w) {
        for (std::size_t k = 0; k < kernel; ++k) {
            std::size_t window_rest = w;
            std::size_t kernel_rest = k;
            std::size_t place = 0;
            std::size_t step = 1;
            bool is_inside = true;
            for (std::size_t i = axes; i-- > 0;) {
                const auto at =
                    static_cast<std::int64_t>(window_rest % out[1 + i]) * at_or(c.windows.stride, i, 1) +
                    static_cast<std::int64_t>(kernel_rest % c.windows.kernel[i]) * at_or(c.windows.dilation, i, 1) -
                    (c.windows.pad_before.empty() ? 0 : c.windows.pad_before[i]);
                is_inside = is_inside && at >= 0 && at < c.dims[1 + i];
                place += is_inside ? static_cast<std::size_t>(at) * step : 0;
                step *= c.dims[1 + i];
                window_rest /= out[1 + i];
                kernel_rest /= c.windows.kernel[i];
            }
            visit(w, k, is_inside ? static_cast<std::int64_t>(place) : std::int64_t{-1});
        }
    }
}

std::size_t places(const Dims& dims) { return element_count(std::span(dims).subspan(1, dims.size() - 2)); }

}  // namespace

TEST_CASE("a convolution is the sum over its windows") {
    for (const Case& c : cases()) {
        const std::size_t kernel = element_count(c.windows.kernel);
        const std::size_t channels = c.dims.back();
        const Matrix x = random_matrix(matrix_shape(c.dims), 1);
        const Matrix weight = random_matrix({c.filters, static_cast<std::uint32_t>(kernel * channels)}, 2);
        const Matrix bias = random_matrix({1, c.filters}, 3);
        const Matrix y = test::evaluate(
            [&](GraphBuilder& graph, const Values& v) {
                Tape tape(graph, kXg24);
                return Values{tape.conv(v[0], c.dims, c.windows, v[1], v[2])};
            },
            {x, weight, bias}
        )[0];
        const Dims out = window_dims(c.dims, c.windows);
        const std::size_t windows = places(out);
        std::vector<double> expected(c.dims[0] * windows * c.filters);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            expected[i] = bias.values[i % c.filters];
        }
        walk_windows(c, [&](std::size_t w, std::size_t k, std::int64_t place) {
            for (std::size_t i = 0; place >= 0 && i < c.dims[0] * channels * c.filters; ++i) {
                const std::size_t filter = i % c.filters;
                const std::size_t channel = i / c.filters % channels;
                const std::size_t sample = i / c.filters / channels;
                const std::size_t from =
                    (sample * places(c.dims) + static_cast<std::size_t>(place)) * channels + channel;
                expected[(sample * windows + w) * c.filters + filter] +=
                    x.values[from] * weight.values[filter * kernel * channels + k * channels + channel];
            }
        });
        REQUIRE(y.values.size() == expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            CHECK(std::abs(y.values[i] - expected[i]) < 1e-5);
        }
    }
}

TEST_CASE("pooling takes the largest or the mean of its windows") {
    for (const Case& c : cases()) {
        const std::size_t channels = c.dims.back();
        const Matrix x = random_matrix(matrix_shape(c.dims), 4, -2.0, -1.0);
        const auto y = test::evaluate(
            [&](GraphBuilder& graph, const Values& v) {
                Tape tape(graph);
                return Values{tape.max_pool(v[0], c.dims, c.windows), tape.avg_pool(v[0], c.dims, c.windows)};
            },
            {x}
        );
        const std::size_t windows = places(window_dims(c.dims, c.windows));
        std::vector<double> largest(c.dims[0] * windows * channels, -std::numeric_limits<double>::infinity());
        std::vector<double> mean(largest.size(), 0.0);
        walk_windows(c, [&](std::size_t w, std::size_t, std::int64_t place) {
            for (std::size_t i = 0; place >= 0 && i < c.dims[0] * channels; ++i) {
                const std::size_t sample = i / channels;
                const double value =
                    x.values[(sample * places(c.dims) + static_cast<std::size_t>(place)) * channels + i % channels];
                const std::size_t to = (sample * windows + w) * channels + i % channels;
                largest[to] = std::max(largest[to], value);
                mean[to] += value / static_cast<double>(element_count(c.windows.kernel));
            }
        });
        REQUIRE(y[0].values.size() == largest.size());
        for (std::size_t i = 0; i < largest.size(); ++i) {
            CHECK(y[0].values[i] == largest[i]);
            CHECK(std::abs(y[1].values[i] - mean[i]) < 1e-6);
        }
    }
}

TEST_CASE("pooling by places gives the same, with its gradient") {
    for (const Case& c : cases()) {
        const auto pooled = [&](Value (Tape::*method)(const Value&, const Dims&, const program::Windows&)) {
            return test::evaluate(
                [&](GraphBuilder& graph, const Values& v) {
                    Tape tape(graph);
                    const Value y = (tape.*method)(v[0], c.dims, c.windows);
                    return Values{y, tape.gradients(tape.sum(tape.mul(y, y)), v)[0]};
                },
                {spaced_matrix(matrix_shape(c.dims), 8)}
            );
        };
        // The largest of values that differ is the same to the bit. Sums of gradients are rounded elsewhere.
        const auto by_rows = pooled(&Tape::max_pool);
        const auto by_places = pooled(&Tape::max_pool_by_places);
        CHECK(by_rows[0].values == by_places[0].values);
        const auto mean_by_rows = pooled(&Tape::avg_pool);
        const auto mean_by_places = pooled(&Tape::avg_pool_by_places);
        for (std::size_t part = 0; part < 2; ++part) {
            for (std::size_t i = 0; i < by_rows[part].values.size(); ++i) {
                CHECK(std::abs(by_rows[part].values[i] - by_places[part].values[i]) < 1e-4);
                CHECK(std::abs(mean_by_rows[part].values[i] - mean_by_places[part].values[i]) < 1e-4);
            }
        }
    }
}

TEST_CASE("on ties the first place of a window gets the gradient, by rows and by places") {
    const program::Windows pair{.kernel = {2}, .stride = {2}};
    const Dims dims{1, 4, 1};
    for (const bool by_places : {false, true}) {
        const auto y = test::evaluate(
            [&](GraphBuilder& graph, const Values& v) {
                Tape tape(graph);
                const Value out =
                    by_places ? tape.max_pool_by_places(v[0], dims, pair) : tape.max_pool(v[0], dims, pair);
                return Values{tape.gradients(tape.sum(out), v)[0]};
            },
            {Matrix{{4, 1}, {2.0, 2.0, -1.0, -1.0}}}
        );
        CHECK(y[0].values == std::vector<double>{1.0, 0.0, 1.0, 0.0});
    }
}

TEST_CASE("gradients of convolutions and poolings agree with finite differences") {
    for (const Case& c : cases()) {
        const auto columns = static_cast<std::uint32_t>(element_count(c.windows.kernel) * c.dims.back());
        check_gradient(
            [&](Tape& tape, const Values& v) { return tape.conv(v[0], c.dims, c.windows, v[1], v[2]); },
            {random_matrix(matrix_shape(c.dims), 5), random_matrix({c.filters, columns}, 6),
             random_matrix({1, c.filters}, 7)},
            3
        );
        // Values at least 2^-6 apart, so that a step changes no maximum.
        check_gradient(
            [&](Tape& tape, const Values& v) { return tape.max_pool(v[0], c.dims, c.windows); },
            {spaced_matrix(matrix_shape(c.dims), 8)}, 1, {.half_step = 0x1p-9}
        );
        check_gradient(
            [&](Tape& tape, const Values& v) { return tape.avg_pool(v[0], c.dims, c.windows); },
            {random_matrix(matrix_shape(c.dims), 9)}, 1
        );
    }
}

// Few filters on many channels: a correlation. Many filters on one channel and long strides: sums over windows.
TEST_CASE("both ways to a convolution's input gradient are taken, and agree with finite differences") {
    const auto count_sums = [](const Case& c) {
        GraphBuilder graph;
        Tape tape(graph);
        const auto columns = static_cast<std::uint32_t>(element_count(c.windows.kernel) * c.dims.back());
        const Value x = GraphBuilder::state(0, {canonical::DType::kF32, matrix_shape(c.dims)});
        const Value weight = GraphBuilder::state(1, {canonical::DType::kF32, {c.filters, columns}});
        const Value bias = GraphBuilder::state(2, {canonical::DType::kF32, {1, c.filters}});
        const Value loss = tape.sum(tape.conv(x, c.dims, c.windows, weight, bias));
        const std::size_t before = graph.nodes().size();
        tape.gradients(loss, std::vector{x});
        return std::count_if(
            graph.nodes().begin() + static_cast<std::ptrdiff_t>(before), graph.nodes().end(),
            [](const canonical::Node& node) { return node.op == canonical::Op::kRowSum; }
        );
    };
    const Case correlation{{1, 4, 4, 8}, {.kernel = {3, 3}}, 2};
    const Case sums{{1, 7, 7, 1}, {.kernel = {3, 3}, .stride = {3, 3}}, 40};
    CHECK(count_sums(correlation) == 0);
    CHECK(count_sums(sums) == 1);
    for (const Case& c : {correlation, sums}) {
        const auto columns = static_cast<std::uint32_t>(element_count(c.windows.kernel) * c.dims.back());
        check_gradient(
            [&](Tape& tape, const Values& v) { return tape.conv(v[0], c.dims, c.windows, v[1], v[2]); },
            {random_matrix(matrix_shape(c.dims), 5), random_matrix({c.filters, columns}, 6),
             random_matrix({1, c.filters}, 7)},
            3
        );
    }
}

TEST_CASE("causal attention mixes the values of earlier kTokens by the softmax of scores") {
    constexpr std::uint32_t kTokens = 32;
    constexpr std::uint32_t kHeads = 2;
    constexpr std::uint32_t kDepth = 32;
    constexpr std::uint32_t kWidth = kHeads * kDepth;
    const Matrix q = random_matrix({2 * kTokens, kWidth}, 10, -3.0, 3.0);
    const Matrix k = random_matrix({2 * kTokens, kWidth}, 11, -3.0, 3.0);
    const Matrix v = random_matrix({2 * kTokens, kWidth}, 12);
    const Matrix out = test::evaluate(
        [](GraphBuilder& graph, const Values& x) {
            Tape tape(graph);
            return Values{tape.causal_attention(x[0], x[1], x[2], kTokens, kHeads)};
        },
        {q, k, v}
    )[0];
    for (std::uint32_t row = 0; row < 2 * kTokens; ++row) {
        const std::uint32_t first = row / kTokens * kTokens;
        for (std::uint32_t head = 0; head < kHeads; ++head) {
            std::vector<double> weights;
            double total = 0;
            for (std::uint32_t other = first; other <= row; ++other) {
                double score = 0;
                for (std::uint32_t i = head * kDepth; i < (head + 1) * kDepth; ++i) {
                    score += q.values[row * kWidth + i] * k.values[other * kWidth + i];
                }
                weights.push_back(std::exp(score / std::sqrt(static_cast<double>(kDepth))));
                total += weights.back();
            }
            for (std::uint32_t i = head * kDepth; i < (head + 1) * kDepth; ++i) {
                double expected = 0;
                for (std::uint32_t other = first; other <= row; ++other) {
                    expected += weights[other - first] / total * v.values[other * kWidth + i];
                }
                CHECK(std::abs(out.values[row * kWidth + i] - expected) < 1e-5);
            }
        }
    }
}

TEST_CASE("gradients of attention and of masked softmax agree with finite differences") {
    check_gradient(
        [](Tape& tape, const Values& v) { return tape.causal_attention(v[0], v[1], v[2], 32, 2); },
        {random_matrix({64, 64}, 13, -2.0, 2.0), random_matrix({64, 64}, 14, -2.0, 2.0), random_matrix({64, 64}, 15)},
        3, {.most_elements = 8}
    );
    check_gradient(
        [](Tape& tape, const Values& v) { return tape.causal_softmax(v[0], 4); }, {random_matrix({8, 4}, 16)}, 1
    );
    // The mask alone gives infinities, which exp turns to zeros.
    check_gradient(
        [](Tape& tape, const Values& v) { return tape.exp(tape.causal_mask(v[0], 4)); }, {random_matrix({8, 4}, 17)}, 1
    );
}

TEST_CASE("a rotary embedding turns each pair by its position's angle") {
    constexpr std::uint32_t kTokens = 5;
    constexpr std::uint32_t kHeads = 2;
    constexpr std::uint32_t kDepth = 6;
    const Matrix x = random_matrix({2 * kTokens, kHeads * kDepth}, 18);
    const Matrix y = test::evaluate(
        [](GraphBuilder& graph, const Values& v) {
            Tape tape(graph);
            return Values{tape.rotary(v[0], kTokens, kHeads, 100.0F)};
        },
        {x}
    )[0];
    for (std::uint32_t row = 0; row < 2 * kTokens; ++row) {
        for (std::uint32_t pair = 0; pair < kHeads * kDepth / 2; ++pair) {
            const std::uint32_t i = pair % (kDepth / 2);
            const std::size_t low = row * kHeads * kDepth + pair / (kDepth / 2) * kDepth + i;
            const std::size_t high = low + kDepth / 2;
            const double angle = (row % kTokens) * std::pow(100.0, -2.0 * i / kDepth);
            CHECK(
                std::abs(y.values[low] - (x.values[low] * std::cos(angle) - x.values[high] * std::sin(angle))) < 2e-6
            );
            CHECK(
                std::abs(y.values[high] - (x.values[high] * std::cos(angle) + x.values[low] * std::sin(angle))) < 2e-6
            );
        }
    }
    check_gradient([](Tape& tape, const Values& v) { return tape.rotary(v[0], kTokens, kHeads, 100.0F); }, {x}, 1);
}
