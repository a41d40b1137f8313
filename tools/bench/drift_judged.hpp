// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include <tools/bench/drift.hpp>

/// The runs of a drift study from the chain's point of view.
namespace assay::bench {

inline double billionths(dispute::Relative x) { return static_cast<double>(x) * 1e-9; }

struct JudgedRun {
    std::vector<contracts::Distances> drifts;  ///< per segment
    std::uint64_t growth = 0;                  ///< VER-21, over all segments
};

struct JudgedTask {
    std::uint64_t seed = 0;
    std::string source;                                       ///< the solver's source of drift
    std::vector<std::vector<contracts::Distances>> profiles;  ///< drifts of the segments, per report
    std::vector<contracts::Distances> references;             ///< per report
    Result<contracts::Bounds, contracts::ProfilingOutcome> bounds;
    JudgedRun honest;
    std::vector<std::string> origins;  ///< per segment: the parameter that contributes most to the drift
    std::map<std::string, JudgedRun> cheats;
    JudgedRun outlier;  ///< a run in bf16; empty for most tasks
};

using Row = dispute::Relative contracts::Distances::*;

/// PRF-6: returns the samples of the reports that the chain keeps for this row.
std::vector<dispute::Relative> kept_samples(const JudgedTask& task, Row row);
/// PRF-6: returns d_ref.
contracts::Distances kept_reference(const JudgedTask& task);
/// VER-18: returns true if a drift exceeds the bound.
bool is_beyond(const contracts::Distances& drift, const contracts::Distances& bound);
std::uint64_t count_beyond(const JudgedRun& run, const contracts::Distances& bound);
/// Returns the larger of the two rows' ratios of drift to the task's threshold. The task must have a threshold.
double over_threshold(const JudgedTask& task, const contracts::Distances& drift);

/// Returns count, minimum, maximum, median and upper quantiles. `values` must not be empty.
nlohmann::json distribution(std::vector<double> values);
/// Returns the shares of misjudged segments as a function of the threshold on the parameters' drift, and of a multiple
/// of each task's threshold.
nlohmann::json absolute_curve(const std::vector<JudgedTask>& tasks);
nlohmann::json relative_curve(const std::vector<JudgedTask>& tasks, std::uint64_t resamples);
/// Returns the results that other rules for computing thresholds from the same profiles would give.
nlohmann::json other_rules(const std::vector<JudgedTask>& tasks);

}  // namespace assay::bench
