// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <set>

/// What several constraints are computed from; constraints.hpp has the bonds and prices that are needed.
namespace assay::economics {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// Numbers of skipped segments at which the solver's conditions are evaluated: all of few, some of many.
std::set<std::uint32_t> skipped_counts(std::uint32_t segments);

/// A quotient; of nothing by nothing 0, of something by nothing kNever.
double over(double amount, double by);

}  // namespace assay::economics
