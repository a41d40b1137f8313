// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include <verifier/schedule/matching.hpp>

using namespace assay::schedule;

namespace {

// Whole numbers below 100, some of them equal.
CostMatrix numbers(std::uint32_t size, std::uint32_t seed, bool is_symmetric) {
    CostMatrix out(size);
    std::uint64_t state = seed;
    for (std::uint32_t row = 0; row < size; ++row) {
        for (std::uint32_t column = 0; column < size; ++column) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            out.at(row, column) = static_cast<double>((state >> 33U) % 100);
            if (is_symmetric && column < row) {
                out.at(row, column) = out.at(column, row);
            }
        }
    }
    return out;
}

// The least that `value` takes over all orders of `size` things.
template <class Value>
double least_over_orders(std::uint32_t size, const Value& value) {
    std::vector<std::uint32_t> order(size);
    std::iota(order.begin(), order.end(), 0U);
    double out = value(order);
    while (std::next_permutation(order.begin(), order.end())) {
        out = std::min(out, value(order));
    }
    return out;
}

double largest(const CostMatrix& costs, const std::vector<std::uint32_t>& columns) {
    double out = 0.0;
    for (std::uint32_t row = 0; row < costs.size; ++row) {
        out = std::max(out, costs.at(row, columns[row]));
    }
    return out;
}

double length(const CostMatrix& lengths, const std::vector<std::uint32_t>& points) {
    double out = 0.0;
    for (std::size_t i = 1; i < points.size(); ++i) {
        out += lengths.at(points[i - 1], points[i]);
    }
    return out;
}

bool is_order(std::vector<std::uint32_t> points, std::uint32_t size) {
    std::sort(points.begin(), points.end());
    std::vector<std::uint32_t> all(size);
    std::iota(all.begin(), all.end(), 0U);
    return points == all;
}

}  // namespace

TEST_CASE("a bottleneck matching is the best of all matchings") {
    for (std::uint32_t size = 1; size <= 6; ++size) {
        for (std::uint32_t seed = 1; seed <= 40; ++seed) {
            const CostMatrix costs = numbers(size, seed, false);
            const Matching found = bottleneck_matching(costs);
            CHECK(is_order(found.column, size));
            CHECK(found.cost == largest(costs, found.column));
            CHECK(found.cost == least_over_orders(size, [&](const auto& order) { return largest(costs, order); }));
        }
    }
}

TEST_CASE("64 rows are matched, each with the one column that it likes") {
    CostMatrix costs(kMaxMatched);
    std::fill(costs.values.begin(), costs.values.end(), 7.0);
    for (std::uint32_t row = 0; row < costs.size; ++row) {
        costs.at(row, (row + 5) % costs.size) = 1.0;
    }
    const Matching found = bottleneck_matching(costs);
    CHECK(found.cost == 1.0);
    CHECK(found.column[0] == 5);
}

TEST_CASE("an open path is the shortest of all") {
    for (std::uint32_t size = 1; size <= 7; ++size) {
        for (std::uint32_t seed = 1; seed <= 20; ++seed) {
            const CostMatrix lengths = numbers(size, seed, true);
            const Path found = open_path(lengths);
            CHECK(is_order(found.points, size));
            CHECK(found.length == length(lengths, found.points));
            CHECK(found.length == least_over_orders(size, [&](const auto& order) { return length(lengths, order); }));
        }
    }
}

TEST_CASE("a path through more points than are tried exactly visits each once, and a line in its order") {
    constexpr std::uint32_t kPoints = 20;
    CostMatrix lengths(kPoints);
    const auto place = [](std::uint32_t point) { return (point * 7U) % kPoints; };  // of a point on the line
    for (std::uint32_t a = 0; a < kPoints; ++a) {
        for (std::uint32_t b = 0; b < kPoints; ++b) {
            const std::uint32_t from = std::min(place(a), place(b));
            lengths.at(a, b) = static_cast<double>(std::max(place(a), place(b)) - from);
        }
    }
    const Path found = open_path(lengths);
    CHECK(is_order(found.points, kPoints));
    CHECK(found.length == kPoints - 1);
}
