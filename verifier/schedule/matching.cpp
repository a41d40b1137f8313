// SPDX-License-Identifier: Apache-2.0
#include <verifier/schedule/matching.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <limits>

#include <core/base/assert.hpp>

namespace assay::schedule {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr double kFar = std::numeric_limits<double>::infinity();

using Columns = std::array<std::uint32_t, kMaxMatched>;

struct Pairs {
    Columns row_of{};     // of a column
    Columns column_of{};  // of a row
};

// Gives `row` a column by an alternating path, found breadth first. `allowed` has one bit for each column of a row.
bool augment(
    const std::array<std::uint64_t, kMaxMatched>& allowed, std::uint32_t size, std::uint32_t row, Pairs& pairs
) {
    Columns reached_from{};  // the row from which a column was reached
    std::array<std::uint32_t, kMaxMatched> queue{};
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint64_t unseen = size == kMaxMatched ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
    queue[end++] = row;
    while (begin < end) {
        const std::uint32_t from = queue[begin++];
        for (std::uint64_t found = allowed[from] & unseen; found != 0; found &= found - 1) {
            auto column = static_cast<std::uint32_t>(std::countr_zero(found));
            unseen &= ~(std::uint64_t{1} << column);
            reached_from[column] = from;
            if (pairs.row_of[column] != kNone) {
                queue[end++] = pairs.row_of[column];
                continue;
            }
            while (column != kNone) {
                const std::uint32_t owner = reached_from[column];
                const std::uint32_t previous = pairs.column_of[owner];
                pairs.row_of[column] = owner;
                pairs.column_of[owner] = column;
                column = owner == row ? kNone : previous;
            }
            return true;
        }
    }
    return false;
}

// Whether all rows find a column of at most `limit`.
bool match_within(const CostMatrix& costs, double limit, Pairs& pairs) {
    std::array<std::uint64_t, kMaxMatched> allowed{};
    for (std::uint32_t row = 0; row < costs.size; ++row) {
        for (std::uint32_t column = 0; column < costs.size; ++column) {
            allowed[row] |= static_cast<std::uint64_t>(costs.at(row, column) <= limit ? 1 : 0) << column;
        }
    }
    pairs.row_of.fill(kNone);
    pairs.column_of.fill(kNone);
    for (std::uint32_t row = 0; row < costs.size; ++row) {
        if (!augment(allowed, costs.size, row, pairs)) {
            return false;
        }
    }
    return true;
}

// No matching is cheaper: each row and each column has to take something.
double least_possible(const CostMatrix& costs) {
    double out = -kFar;
    for (std::uint32_t i = 0; i < costs.size; ++i) {
        double row = kFar;
        double column = kFar;
        for (std::uint32_t k = 0; k < costs.size; ++k) {
            row = std::min(row, costs.at(i, k));
            column = std::min(column, costs.at(k, i));
        }
        out = std::max({out, row, column});
    }
    return out;
}

// By dynamic programming over the sets of visited points.
Path shortest_path(const CostMatrix& lengths) {
    const std::uint32_t n = lengths.size;
    const std::uint32_t sets = 1U << n;
    std::vector<double> best(std::size_t{sets} * n, kFar);  // of a path over a set that ends in a point
    std::vector<std::uint8_t> before(std::size_t{sets} * n);
    for (std::uint32_t point = 0; point < n; ++point) {
        best[(std::size_t{1} << point) * n + point] = 0.0;
    }
    for (std::uint32_t set = 1; set < sets; ++set) {
        for (std::uint32_t last = 0; last < n; ++last) {
            const double so_far = best[std::size_t{set} * n + last];
            if (so_far == kFar) {
                continue;
            }
            for (std::uint32_t next = 0; next < n; ++next) {
                const double length = so_far + lengths.at(last, next);
                const std::size_t entry = std::size_t{set | 1U << next} * n + next;
                if ((set >> next & 1U) == 0 && length < best[entry]) {
                    best[entry] = length;
                    before[entry] = static_cast<std::uint8_t>(last);
                }
            }
        }
    }
    std::uint32_t set = sets - 1;
    const auto first = best.begin() + static_cast<std::ptrdiff_t>(std::size_t{set} * n);
    auto last = static_cast<std::uint32_t>(std::min_element(first, best.end()) - first);
    Path out{best[std::size_t{set} * n + last], {last}};
    while (out.points.size() < n) {
        const std::uint32_t previous = before[std::size_t{set} * n + last];
        set &= ~(1U << last);
        last = previous;
        out.points.push_back(last);
    }
    return out;
}

double length_of(const CostMatrix& lengths, const std::vector<std::uint32_t>& points) {
    double out = 0.0;
    for (std::size_t i = 1; i < points.size(); ++i) {
        out += lengths.at(points[i - 1], points[i]);
    }
    return out;
}

std::vector<std::uint32_t> nearest_neighbours(const CostMatrix& lengths, std::uint32_t first) {
    std::vector<std::uint32_t> out{first};
    std::vector<bool> is_visited(lengths.size);
    is_visited[first] = true;
    while (out.size() < lengths.size) {
        std::uint32_t next = kNone;
        for (std::uint32_t point = 0; point < lengths.size; ++point) {
            if (!is_visited[point] && (next == kNone || lengths.at(out.back(), point) < lengths.at(out.back(), next))) {
                next = point;
            }
        }
        is_visited[next] = true;
        out.push_back(next);
    }
    return out;
}

// Reverses parts of the path for as long as that shortens it.
void improve(const CostMatrix& lengths, std::vector<std::uint32_t>& points) {
    constexpr double kLeastGain = 1e-12;
    bool is_better = true;
    while (is_better) {
        is_better = false;
        for (std::size_t i = 0; i < points.size(); ++i) {
            for (std::size_t k = i + 1; k < points.size(); ++k) {
                double gain = 0.0;
                if (i > 0) {
                    gain += lengths.at(points[i - 1], points[i]) - lengths.at(points[i - 1], points[k]);
                }
                if (k + 1 < points.size()) {
                    gain += lengths.at(points[k], points[k + 1]) - lengths.at(points[i], points[k + 1]);
                }
                if (gain > kLeastGain) {
                    std::reverse(
                        points.begin() + static_cast<std::ptrdiff_t>(i),
                        points.begin() + static_cast<std::ptrdiff_t>(k) + 1
                    );
                    is_better = true;
                }
            }
        }
    }
}

Path short_path(const CostMatrix& lengths) {
    Path out{kFar, {}};
    for (std::uint32_t first = 0; first < lengths.size; ++first) {
        auto points = nearest_neighbours(lengths, first);
        improve(lengths, points);
        const double length = length_of(lengths, points);
        if (length < out.length) {
            out = {length, std::move(points)};
        }
    }
    return out;
}

}  // namespace

Matching bottleneck_matching(const CostMatrix& costs) {
    ASSERT(costs.size >= 1 && costs.size <= kMaxMatched);
    Pairs pairs;
    double least = least_possible(costs);
    if (!match_within(costs, least, pairs)) {
        std::vector<double> limits;
        std::copy_if(costs.values.begin(), costs.values.end(), std::back_inserter(limits), [&](double cost) {
            return cost > least;
        });
        std::sort(limits.begin(), limits.end());
        limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
        const auto at = std::partition_point(limits.begin(), limits.end(), [&](double limit) {
            return !match_within(costs, limit, pairs);
        });
        least = *at;
        ASSERT(match_within(costs, least, pairs));
    }
    Matching out{least, {}};
    out.column.assign(pairs.column_of.begin(), pairs.column_of.begin() + costs.size);
    return out;
}

Path open_path(const CostMatrix& lengths) {
    ASSERT(lengths.size >= 1);
    return lengths.size <= kMaxExactPath ? shortest_path(lengths) : short_path(lengths);
}

}  // namespace assay::schedule
