// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/drift.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <stdexcept>
#include <string>

namespace assay::bench {
namespace {

using nlohmann::json;
using trace::Relative;

// A margin of 2 and not the default: the largest of these samples is an event (see the README), far above the rest.
constexpr trace::ThresholdRule kRule{.margin = {2, 1}, .separation = 4};
// A chi-square of eight degrees of freedom over 8 is beyond this once in 10^4 honest runs.
constexpr std::uint64_t kGrowthBound = 4000;
constexpr int kPointsPerDecade = 10;

/// Honest drifts drawn again, each moved a little in the logarithm, so that the tail does not end at the largest one
/// that was measured.
class Resampler {
  public:
    explicit Resampler(std::vector<double> drifts) : drifts_(std::move(drifts)) {
        std::erase(drifts_, 0.0);
        double sum = 0.0;
        double squares = 0.0;
        for (const double x : drifts_) {
            sum += std::log(x);
            squares += std::log(x) * std::log(x);
        }
        const auto n = static_cast<double>(drifts_.size());
        const double deviation = std::sqrt(std::max(squares / n - sum * sum / (n * n), 0.0));
        width_ = 1.06 * deviation * std::pow(n, -0.2);  // Silverman's rule
    }
    double width() const { return width_; }
    std::vector<double> draw(std::uint64_t count) {
        std::mt19937_64 random(1);
        std::normal_distribution<double> normal(0.0, width_);
        std::vector<double> out;
        for (std::uint64_t i = 0; i < count; ++i) {
            out.push_back(drifts_[random() % drifts_.size()] * std::exp(normal(random)));
        }
        return out;
    }

  private:
    std::vector<double> drifts_;
    double width_ = 0.0;
};

double share_above(const std::vector<double>& values, double threshold) {
    const auto above = std::count_if(values.begin(), values.end(), [&](double x) { return x > threshold; });
    return values.empty() ? 0.0 : static_cast<double>(above) / static_cast<double>(values.size());
}

std::vector<double> drifts_of(const json& log) {
    std::vector<double> out;
    for (const Relative x : relative_drifts(log)) {
        out.push_back(static_cast<double>(x) * 1e-9);
    }
    return out;
}

double quantile(std::vector<double> values, double q) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

json distribution(const std::vector<double>& values) {
    return {{"count", values.size()}, {"median", quantile(values, 0.5)}, {"q90", quantile(values, 0.9)},
            {"q99", quantile(values, 0.99)}, {"min", quantile(values, 0.0)}, {"max", quantile(values, 1.0)}};
}

/// The three distances of many segments: the length and the largest element of the drift over those of the segment's own
/// update, and one minus the cosine of the claimed and the replayed update.
struct Distances {
    std::vector<double> l2, linf, cosine;

    void add(const json& log) {
        const auto append = [](std::vector<double>& to, const std::vector<double>& more) {
            to.insert(to.end(), more.begin(), more.end());
        };
        append(l2, drifts_of(log));
        append(linf, log.at("linf").get<std::vector<double>>());
        append(cosine, log.at("cosine").get<std::vector<double>>());
    }
    json to_json() const {
        return {{"l2", distribution(l2)}, {"linf", distribution(linf)}, {"cosine", distribution(cosine)}};
    }
};

/// All segments of one cheat over all runs.
struct Cheat {
    std::vector<double> drifts;
    std::vector<std::uint64_t> growths;  ///< of whole runs
    std::uint64_t hidden = 0;            ///< runs of which no segment is above the threshold
};

json summary(const Cheat& cheat, double threshold) {
    const auto grown = std::count_if(cheat.growths.begin(), cheat.growths.end(), [](std::uint64_t g) { return g > kGrowthBound; });
    std::vector<double> growths(cheat.growths.begin(), cheat.growths.end());
    return {{"runs", cheat.growths.size()},
            {"drift", distribution(cheat.drifts)},
            {"segments_detected", share_above(cheat.drifts, threshold)},
            {"runs_without_detected_segment", cheat.hidden},
            {"runs_detected_by_growth", grown},
            {"growth", distribution(growths)}};
}

std::vector<double> grid() {
    std::vector<double> out;
    for (int i = -8 * kPointsPerDecade; i <= 2 * kPointsPerDecade; ++i) {
        out.push_back(std::pow(10.0, static_cast<double>(i) / kPointsPerDecade));
    }
    return out;
}

}  // namespace

std::vector<Relative> relative_drifts(const json& log) { return log.at("drift_ppb").get<std::vector<Relative>>(); }

Relative profile_threshold(const std::vector<Relative>& drifts, Relative reference) {
    const auto threshold = trace::threshold_from(drifts, reference, kRule);
    if (!threshold) {
        throw std::runtime_error(
            threshold.error() == trace::ThresholdError::kTooFew ? "too few honest segments for a threshold"
                                                                : "honest drift is not separated from another seed's"
        );
    }
    return *threshold;
}

json threshold_curves(const json& honest_runs, const json& cheat_runs, std::uint64_t resamples) {
    std::vector<Relative> f32;
    std::map<std::string, Distances> by_source;
    std::vector<double> growths;
    Relative reference = trace::kMaxRelative;
    std::map<std::string, Distances> references;
    for (const json& run : honest_runs) {
        by_source[run.at("source")].add(run.at("honest"));
        if (run.at("is_f32")) {
            const auto exact = relative_drifts(run.at("honest"));
            f32.insert(f32.end(), exact.begin(), exact.end());
            growths.push_back(run.at("honest").at("growth").back());
        }
        const json of_run = run.value("references", json::object());
        for (const auto& [name, log] : of_run.items()) {
            const auto exact = relative_drifts(log);
            reference = std::min(reference, *std::min_element(exact.begin(), exact.end()));
            references[name].add(log);
        }
    }
    const double threshold = static_cast<double>(profile_threshold(f32, reference)) * 1e-9;
    std::map<std::string, Cheat> cheats;
    Cheat unseen;  // honest runs of the cheats' seeds, none of which was profiled
    const auto add = [&](Cheat& cheat, const json& log) {
        const auto drifts = drifts_of(log);
        cheat.drifts.insert(cheat.drifts.end(), drifts.begin(), drifts.end());
        cheat.growths.push_back(log.at("growth").back());
        cheat.hidden += share_above(drifts, threshold) == 0.0 ? 1U : 0U;
    };
    for (const json& run : cheat_runs) {
        add(unseen, run.at("honest"));
        for (const auto& [name, log] : run.at("cheats").items()) {
            add(cheats[name], log);
        }
    }
    Resampler resampler(unseen.drifts);
    const std::vector<double> simulated = resampler.draw(resamples);
    json curve = {{"threshold", grid()}, {"false_slash", json::array()}, {"missed", json::object()}};
    for (const double t : grid()) {
        curve["false_slash"].push_back(share_above(simulated, t));
        for (const auto& [name, cheat] : cheats) {
            curve["missed"][name].push_back(1.0 - share_above(cheat.drifts, t));
        }
    }
    json out = {{"rule", {{"confidence", kRule.confidence_ppm * 1e-6}, {"quantile", kRule.quantile_ppm * 1e-6},
                          {"margin", kRule.margin.numerator / static_cast<double>(kRule.margin.denominator)},
                          {"separation", kRule.separation}, {"growth_bound", kGrowthBound}}},
                {"threshold", threshold},
                {"profiled_segments", f32.size()},
                {"unseen_honest", summary(unseen, threshold)},
                {"simulated_segments", simulated.size()},
                {"simulated_above_threshold", share_above(simulated, threshold)},
                {"smoothing", resampler.width()},
                {"honest_growth", distribution(growths)},
                {"curve", curve}};
    for (const auto& [name, distances] : by_source) {
        out["sources"][name] = distances.to_json();
    }
    for (const auto& [name, distances] : references) {
        out["references"][name] = distances.to_json();
    }
    for (const auto& [name, cheat] : cheats) {
        out["cheats"][name] = summary(cheat, threshold);
    }
    return out;
}

}  // namespace assay::bench
