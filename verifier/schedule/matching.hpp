// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::schedule {

/// A square matrix of costs, row by row.
struct CostMatrix {
    std::uint32_t size = 0;
    std::vector<double> values{};

    explicit CostMatrix(std::uint32_t n = 0) : size(n), values(std::size_t{n} * n) {}
    double& at(std::uint32_t row, std::uint32_t column) { return values[row * size + column]; }
    double at(std::uint32_t row, std::uint32_t column) const { return values[row * size + column]; }
};
inline constexpr std::uint32_t kMaxMatched = 64;

/// Each row with a column of its own.
struct Matching {
    double cost = 0.0;                    ///< the largest among the pairs
    std::vector<std::uint32_t> column{};  ///< of each row
};
/// Returns a matching whose largest cost is as small as possible (a bottleneck matching). The matrix has 1 to
/// kMaxMatched rows.
Matching bottleneck_matching(const CostMatrix& costs);

/// The points of a graph in an order in which each is visited once.
struct Path {
    double length = 0.0;
    std::vector<std::uint32_t> points{};
};
/// Returns a short path through all points; both ends are free. `lengths` is symmetric and has at least one point. The
/// path is the shortest one up to kMaxExactPath points; beyond them it is one that no reversal of a part shortens.
Path open_path(const CostMatrix& lengths);
inline constexpr std::uint32_t kMaxExactPath = 12;

}  // namespace assay::schedule
