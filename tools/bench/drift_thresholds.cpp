// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/drift.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>

#include <contracts/governance/params_rules.hpp>
#include <tools/bench/drift_judged.hpp>

namespace assay::bench {
namespace {

using contracts::Distances;
using dispute::Relative;
using nlohmann::json;

constexpr int kPointsPerDecade = 10;

// From 10^`low` to 10^`high`.
std::vector<double> grid(int low, int high) {
    std::vector<double> out;
    for (int i = low * kPointsPerDecade; i <= high * kPointsPerDecade; ++i) {
        out.push_back(std::pow(10.0, static_cast<double>(i) / kPointsPerDecade));
    }
    return out;
}

/// Values drawn again, each moved a little in the logarithm, so that the tail does not end at the largest one that was
/// measured.
std::vector<double> resample(std::vector<double> values, std::uint64_t count) {
    std::erase(values, 0.0);
    if (values.empty()) {
        return {};
    }
    double sum = 0.0;
    double squares = 0.0;
    for (const double x : values) {
        sum += std::log(x);
        squares += std::log(x) * std::log(x);
    }
    const auto n = static_cast<double>(values.size());
    const double deviation = std::sqrt(std::max(squares / n - sum * sum / (n * n), 0.0));
    // NOLINTNEXTLINE(cert-msc51-cpp): every run draws the same numbers, so that a report can be made again
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal(0.0, 1.06 * deviation * std::pow(n, -0.2));  // Silverman's rule
    std::vector<double> out;
    for (std::uint64_t i = 0; i < count; ++i) {
        out.push_back(values[random() % values.size()] * std::exp(normal(random)));
    }
    return out;
}

double share_above(const std::vector<double>& values, double threshold) {
    const auto above = std::count_if(values.begin(), values.end(), [&](double x) { return x > threshold; });
    return values.empty() ? 0.0 : static_cast<double>(above) / static_cast<double>(values.size());
}

/// What a segment is measured by: its drift, or its drift over the task's threshold.
using Quantity = double (*)(const JudgedTask& task, const Distances& drift);

json curve(const std::vector<JudgedTask>& tasks, Quantity quantity, const std::vector<double>& thresholds) {
    std::vector<double> honest;
    std::map<std::string, std::vector<double>> cheats;
    const auto add = [&](std::vector<double>& to, const JudgedTask& task, const JudgedRun& run) {
        for (const Distances& drift : run.drifts) {
            to.push_back(quantity(task, drift));
        }
    };
    for (const JudgedTask& task : tasks) {
        add(honest, task, task.honest);
        for (const auto& [name, run] : task.cheats) {
            add(cheats[name], task, run);
        }
    }
    json out = {{"threshold", thresholds}, {"false_slash", json::array()}, {"missed", json::object()}};
    for (const double t : thresholds) {
        out["false_slash"].push_back(share_above(honest, t));
        for (const auto& [name, values] : cheats) {
            out["missed"][name].push_back(1.0 - share_above(values, t));
        }
    }
    return out;
}

/// A threshold made otherwise than PRF-6 does, for one row of a task.
struct OtherRule {
    std::string name;
    Relative (*threshold)(const JudgedTask& task, Row row, std::uint64_t factor);
    std::uint64_t factor = 1;  ///< what `threshold` is given
};

Relative largest_sample(const JudgedTask& task, Row row, std::uint64_t margin) {
    const std::vector<Relative> samples = kept_samples(task, row);
    return *std::max_element(samples.begin(), samples.end()) * margin;
}
Relative median_sample(const JudgedTask& task, Row row, std::uint64_t margin) {
    std::vector<Relative> samples = kept_samples(task, row);
    std::sort(samples.begin(), samples.end());
    return samples[samples.size() / 2] * margin;
}
// As far from honest drift as from d_ref, in the logarithm.
Relative between_sample_and_reference(const JudgedTask& task, Row row, std::uint64_t) {
    const auto largest = static_cast<double>(largest_sample(task, row, 1));
    return static_cast<Relative>(std::sqrt(largest * static_cast<double>(kept_reference(task).*row)));
}

// Whatever the samples are.
Relative share_of_reference(const JudgedTask& task, Row row, std::uint64_t divisor) {
    return kept_reference(task).*row / divisor;
}

// A push is made to stay below whatever the threshold is, and some of a blindfold's segments are genuine.
bool is_replacement(const std::string& cheat) { return !cheat.starts_with("push") && !cheat.starts_with("blindfold"); }

json judge_by(const OtherRule& rule, const std::vector<JudgedTask>& tasks) {
    const std::uint64_t separation = contracts::Params{}.threshold_separation;
    std::uint64_t refused = 0;
    std::uint64_t segments = 0;
    std::uint64_t runs = 0;
    std::uint64_t missed = 0;
    std::vector<double> thresholds;
    for (const JudgedTask& task : tasks) {
        const Distances bound{
            .parameters = rule.threshold(task, &Distances::parameters, rule.factor),
            .other = rule.threshold(task, &Distances::other, rule.factor)};
        const Distances reference = kept_reference(task);
        if (bound.parameters > reference.parameters / separation || bound.other > reference.other / separation) {
            ++refused;
            continue;
        }
        thresholds.push_back(billionths(bound.parameters));
        const std::uint64_t beyond = count_beyond(task.honest, bound);
        segments += beyond;
        runs += beyond > 0 ? 1U : 0U;
        for (const auto& [name, run] : task.cheats) {
            missed += is_replacement(name) ? run.drifts.size() - count_beyond(run, bound) : 0U;
        }
    }
    return {
        {"sample", rule.name},
        {"factor", rule.factor},
        {"refused_tasks", refused},
        {"honest_segments_beyond", segments},
        {"honest_runs_beyond", runs},
        {"replaced_segments_missed", missed},
        {"threshold", thresholds.empty() ? json() : distribution(thresholds)}};
}

}  // namespace

json distribution(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const auto last = static_cast<double>(values.size() - 1);
    const auto at = [&](double q) { return values[static_cast<std::size_t>(std::lround(q * last))]; };
    return {{"count", values.size()}, {"min", at(0.0)},  {"median", at(0.5)},
            {"q90", at(0.9)},         {"q99", at(0.99)}, {"max", at(1.0)}};
}

json absolute_curve(const std::vector<JudgedTask>& tasks) {
    const Quantity drift_of = [](const JudgedTask&, const Distances& drift) { return billionths(drift.parameters); };
    return curve(tasks, drift_of, grid(-8, 2));
}

json relative_curve(const std::vector<JudgedTask>& tasks, std::uint64_t resamples) {
    json out = curve(tasks, &over_threshold, grid(-5, 6));
    std::vector<double> honest;
    for (const JudgedTask& task : tasks) {
        for (const Distances& drift : task.honest.drifts) {
            honest.push_back(over_threshold(task, drift));
        }
    }
    const std::vector<double> simulated = resample(honest, resamples);
    out["resampled"] = json::array();
    for (const double t : grid(-5, 6)) {
        out["resampled"].push_back(share_above(simulated, t));
    }
    out["resampled_segments"] = simulated.size();
    out["resampled_beyond"] = share_above(simulated, 1.0);
    return out;
}

json other_rules(const std::vector<JudgedTask>& tasks) {
    json out = json::array();
    for (const std::uint64_t margin : {3U, 10U, 30U, 100U, 300U, 1000U}) {
        out.push_back(judge_by({"largest", &largest_sample, margin}, tasks));
        out.push_back(judge_by({"median", &median_sample, margin}, tasks));
    }
    out.push_back(judge_by({"geometric mean of the largest and d_ref", &between_sample_and_reference, 1}, tasks));
    for (const std::uint64_t divisor : {10U, 20U, 50U, 100U}) {
        out.push_back(judge_by({"d_ref, divided", &share_of_reference, divisor}, tasks));
    }
    return out;
}

}  // namespace assay::bench
