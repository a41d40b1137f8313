// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

#include <nlohmann/json.hpp>

namespace assay::bench {

class Stopwatch {
  public:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

/// The median with minimum and maximum, because timings on a machine vary.
inline nlohmann::json spread(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return {{"median", values[values.size() / 2]}, {"min", values.front()}, {"max", values.back()}};
}

}  // namespace assay::bench
