// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include <tools/bench/drift.hpp>

/// The runs of a drift study as the chain sees them.
namespace assay::bench {

inline double billionths(dispute::Relative x) { return static_cast<double>(x) * 1e-9; }

struct JudgedRun {
    std::vector<contracts::Distances> drifts;  ///< of each segment
    std::uint64_t growth = 0;                  ///< VER-21, over all of them
};

struct JudgedTask {
    std::uint64_t seed = 0;
    std::string source;                                       ///< the solver's
    std::vector<std::vector<contracts::Distances>> profiles;  ///< segments' drifts, by report
    std::vector<contracts::Distances> references;             ///< by report
    Result<contracts::Bounds, contracts::ProfilingOutcome> bounds;
    JudgedRun honest;
    std::vector<std::string> origins;  ///< of each segment's drift: the parameter that has most of it
    std::map<std::string, JudgedRun> cheats;
    JudgedRun outlier;  ///< in bf16; empty for most tasks
};

using Row = dispute::Relative contracts::Distances::*;

/// PRF-6: the samples of the reports that are kept for this row.
std::vector<dispute::Relative> kept_samples(const JudgedTask& task, Row row);
/// PRF-6: d_ref.
contracts::Distances kept_reference(const JudgedTask& task);
/// VER-18
bool is_beyond(const contracts::Distances& drift, const contracts::Distances& bound);
std::uint64_t count_beyond(const JudgedRun& run, const contracts::Distances& bound);
/// The larger of both rows' drift over the task's threshold. The task has one.
double over_threshold(const JudgedTask& task, const contracts::Distances& drift);

/// Number, extremes, median and upper quantiles; of at least one value.
nlohmann::json distribution(std::vector<double> values);
/// Shares of segments misjudged over thresholds of the parameters' drift, and over multiples of each task's threshold.
nlohmann::json absolute_curve(const std::vector<JudgedTask>& tasks);
nlohmann::json relative_curve(const std::vector<JudgedTask>& tasks, std::uint64_t resamples);
/// What thresholds made otherwise from the same profiles would do.
nlohmann::json other_rules(const std::vector<JudgedTask>& tasks);

}  // namespace assay::bench
