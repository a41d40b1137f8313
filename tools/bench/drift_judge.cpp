// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <stdexcept>

#include <contracts/governance/params_rules.hpp>
#include <core/codec/borsh.hpp>
#include <contracts/params/by_value.hpp>
#include <tools/bench/drift_judged.hpp>

namespace assay::bench {
namespace {

using contracts::Distances;
using dispute::Relative;
using nlohmann::json;

json lengths(const std::vector<Distances>& drifts, Row row) {
    json out = json::array();
    for (const Distances& drift : drifts) {
        out.push_back(drift.*row);
    }
    return out;
}

std::vector<Distances> drifts_of(const json& log) {
    std::vector<Distances> out;
    for (const dispute::Measurement& m : measurements_of(log)) {
        out.push_back({dispute::relative_drift(m.parameters), dispute::relative_drift(m.other)});
    }
    return out;
}

JudgedRun judge_run(const json& log) {
    std::vector<dispute::GroupMeasurement> parameters;
    std::vector<dispute::GroupMeasurement> other;
    for (const dispute::Measurement& m : measurements_of(log)) {
        parameters.push_back(m.parameters);
        other.push_back(m.other);
    }
    return {drifts_of(log), std::max(dispute::growth(parameters), dispute::growth(other))};
}

JudgedTask judge_task(std::uint64_t seed, const TaskRuns& runs) {
    JudgedTask out{
        .seed = seed,
        .source = runs.solver.at("source"),
        .profiles = {},
        .references = {},
        .bounds = bounds_of(runs),
        .honest = judge_run(runs.solver.at("honest")),
        .origins = {},
        .cheats = {},
        .outlier = {}};
    for (const json& profile : runs.profiles) {
        out.profiles.push_back(drifts_of(profile.at("honest")));
        out.references.push_back(drifts_of(profile.at("reference")).at(0));
    }
    for (const json& origin : runs.solver.at("origins")) {
        out.origins.push_back(origin.at("tensor"));
    }
    const json cheats = runs.solver.value("cheats", json::object());
    for (const auto& [name, log] : cheats.items()) {
        out.cheats[name] = judge_run(log);
    }
    if (!runs.outlier.is_null()) {
        out.outlier = judge_run(runs.outlier.at("honest"));
    }
    return out;
}

/// Runs of one kind under the chain's rules.
struct Tally {
    std::uint64_t runs = 0;
    std::uint64_t segments = 0;
    std::uint64_t beyond = 0;       ///< segments that a verdict rejects (VER-18)
    std::uint64_t by_other = 0;     ///< of them for the second row alone
    std::uint64_t runs_beyond = 0;  ///< with such a segment
    std::uint64_t grown = 0;        ///< runs that VER-21 convicts
    std::vector<double> drifts;
    std::vector<double> growths;

    void add(const JudgedTask& task, const JudgedRun& run) {
        const std::uint64_t here = count_beyond(run, task.bounds->threshold);
        runs += 1;
        segments += run.drifts.size();
        beyond += here;
        runs_beyond += here > 0 ? 1U : 0U;
        grown += run.growth > contracts::Params{}.growth_max_thousandths ? 1U : 0U;
        growths.push_back(static_cast<double>(run.growth) / 1000.0);
        for (const Distances& drift : run.drifts) {
            drifts.push_back(billionths(drift.parameters));
            const bool is_within = drift.parameters <= task.bounds->threshold.parameters;
            by_other += is_within && is_beyond(drift, task.bounds->threshold) ? 1U : 0U;
        }
    }
    json to_json() const {
        json out = {
            {"runs", runs},
            {"segments", segments},
            {"segments_beyond", beyond},
            {"segments_beyond_by_other", by_other},
            {"runs_beyond", runs_beyond},
            {"runs_grown", grown}};
        if (runs > 0) {
            out["drift"] = distribution(drifts);
            out["growth"] = distribution(growths);
        }
        return out;
    }
};

json task_json(const JudgedTask& task) {
    json out = {
        {"seed", task.seed},
        {"solver", task.source},
        {"drift_ppb", lengths(task.honest.drifts, &Distances::parameters)},
        {"other_ppb", lengths(task.honest.drifts, &Distances::other)},
        {"growth", task.honest.growth}};
    for (const auto& profile : task.profiles) {
        out["profiles_ppb"].push_back(lengths(profile, &Distances::parameters));
    }
    if (task.bounds) {
        const contracts::Bounds& bounds = *task.bounds;
        out["threshold_ppb"] = {bounds.threshold.parameters, bounds.threshold.other};
        out["d_ref_ppb"] = {bounds.reference.parameters, bounds.reference.other};
        out["segments_beyond"] = count_beyond(task.honest, bounds.threshold);
    }
    return out;
}

// Of the parameters' drift, over all tasks.
double usual_drift(const std::vector<JudgedTask>& tasks) {
    std::vector<double> drifts;
    for (const JudgedTask& task : tasks) {
        for (const Distances& drift : task.honest.drifts) {
            drifts.push_back(billionths(drift.parameters));
        }
    }
    std::erase(drifts, 0.0);  // the canonical executor's
    return drifts.empty() ? 0.0 : distribution(drifts)["median"].get<double>();
}

json by_segment(const std::vector<JudgedTask>& tasks, Row row) {
    json out = json::array();
    for (std::size_t i = 0; i < tasks.front().honest.drifts.size(); ++i) {
        std::vector<double> drifts;
        drifts.reserve(tasks.size());
        for (const JudgedTask& task : tasks) {
            drifts.push_back(billionths(task.honest.drifts[i].*row));
        }
        out.push_back(distribution(drifts)["median"]);
    }
    return out;
}

/// Segments far beyond the usual drift, and the profiles that met one: in a single report, which is left out, or in
/// what is kept.
json events(const std::vector<JudgedTask>& tasks, double factor) {
    const double bound = factor * usual_drift(tasks);
    const auto is_event = [&](Relative drift) { return billionths(drift) > bound; };
    std::uint64_t segments = 0;
    std::uint64_t runs = 0;
    std::uint64_t profiles = 0;
    std::uint64_t kept = 0;
    std::map<std::string, std::uint64_t> origins;
    for (const JudgedTask& task : tasks) {
        const std::uint64_t before = segments;
        for (std::size_t i = 0; i < task.honest.drifts.size(); ++i) {
            if (is_event(task.honest.drifts[i].parameters)) {
                ++segments;
                ++origins[task.origins[i]];
            }
        }
        runs += segments > before ? 1U : 0U;
        const auto has_event = [&](const std::vector<Distances>& report) {
            return std::any_of(report.begin(), report.end(), [&](const Distances& drift) {
                return is_event(drift.parameters);
            });
        };
        profiles += std::any_of(task.profiles.begin(), task.profiles.end(), has_event) ? 1U : 0U;
        const std::vector<Relative> samples = kept_samples(task, &Distances::parameters);
        kept += std::any_of(samples.begin(), samples.end(), is_event) ? 1U : 0U;
    }
    return {{"beyond_usual", factor},   {"segments", segments},          {"runs", runs},
            {"profiles_met", profiles}, {"profiles_that_keep_it", kept}, {"origins", origins}};
}

json sources_json(const std::vector<JudgedTask>& tasks) {
    std::map<std::string, std::vector<double>> drifts;
    for (const JudgedTask& task : tasks) {
        for (const Distances& drift : task.honest.drifts) {
            drifts[task.source].push_back(billionths(drift.parameters));
        }
    }
    json out;
    for (const auto& [name, values] : drifts) {
        out[name] = distribution(values);
    }
    return out;
}

json origins_json(const std::vector<JudgedTask>& tasks) {
    std::map<std::string, std::uint64_t> out;
    for (const JudgedTask& task : tasks) {
        for (const std::string& name : task.origins) {
            ++out[name];
        }
    }
    out.erase("");  // no drift at all
    return out;
}

json separation_json(const std::vector<JudgedTask>& bounded, double largest) {
    std::vector<double> references;
    std::vector<double> over;
    std::vector<double> thresholds;
    for (const JudgedTask& task : bounded) {
        references.push_back(billionths(task.bounds->reference.parameters));
        thresholds.push_back(billionths(task.bounds->threshold.parameters));
        over.push_back(references.back() / thresholds.back());
    }
    return {
        {"d_ref", distribution(references)},
        {"threshold", distribution(thresholds)},
        {"d_ref_over_threshold", distribution(over)},
        {"least_d_ref_over_largest_honest_drift", distribution(references)["min"].get<double>() / largest}};
}

json rule_json() {
    const contracts::Params params;
    return {
        {"profilers", params.profilers},
        {"profile_segments", params.profile_segments},
        {"margin", params.threshold_margin_thousandths / 1000.0},
        {"separation", params.threshold_separation},
        {"growth_max", params.growth_max_thousandths / 1000.0}};
}

}  // namespace

json to_json(const std::vector<dispute::Measurement>& measurements) {
    json out = json::array();
    for (const dispute::Measurement& measurement : measurements) {
        out.push_back(to_hex(ByteView(codec::encode(measurement))));
    }
    return out;
}

std::vector<dispute::Measurement> measurements_of(const json& log) {
    std::vector<dispute::Measurement> out;
    for (const json& hex : log) {
        const auto bytes = from_hex(hex.get<std::string>());
        const auto measurement = codec::decode<dispute::Measurement>(ByteView(bytes.value()));
        if (!measurement) {
            throw std::runtime_error("a run has a measurement that does not decode");
        }
        out.push_back(*measurement);
    }
    return out;
}

std::vector<Relative> kept_samples(const JudgedTask& task, Row row) {
    const auto largest = [&](const std::vector<Distances>& report) {
        const auto found = std::max_element(report.begin(), report.end(), [&](const auto& a, const auto& b) {
            return a.*row < b.*row;
        });
        return *found.*row;
    };
    const auto& reports = task.profiles;
    const auto outlier = std::max_element(reports.begin(), reports.end(), [&](const auto& a, const auto& b) {
        return largest(a) < largest(b);
    });
    std::vector<Relative> out;
    for (auto report = reports.begin(); report != reports.end(); ++report) {
        for (const Distances& drift : *report) {
            if (report != outlier) {
                out.push_back(drift.*row);
            }
        }
    }
    return out;
}

Distances kept_reference(const JudgedTask& task) {
    const auto second = [&](Row row) {
        std::vector<Relative> values;
        for (const Distances& reference : task.references) {
            values.push_back(reference.*row);
        }
        std::sort(values.begin(), values.end());
        return values.at(1);
    };
    return {second(&Distances::parameters), second(&Distances::other)};
}

bool is_beyond(const Distances& drift, const Distances& bound) {
    return drift.parameters > bound.parameters || drift.other > bound.other;
}

std::uint64_t count_beyond(const JudgedRun& run, const Distances& bound) {
    return static_cast<std::uint64_t>(std::count_if(run.drifts.begin(), run.drifts.end(), [&](const Distances& drift) {
        return is_beyond(drift, bound);
    }));
}

double over_threshold(const JudgedTask& task, const Distances& drift) {
    const auto ratio = [](Relative x, Relative y) { return billionths(x) / billionths(std::max<Relative>(y, 1)); };
    const Distances& bound = task.bounds->threshold;
    return std::max(ratio(drift.parameters, bound.parameters), ratio(drift.other, bound.other));
}

Result<contracts::Bounds, contracts::ProfilingOutcome> bounds_of(const TaskRuns& task) {
    std::vector<contracts::ProfileReport> reports;
    for (const json& profile : task.profiles) {
        contracts::ProfileReport report;
        for (const dispute::Measurement& measurement : measurements_of(profile.at("honest"))) {
            report.segments.emplace_back().measurement = measurement;
        }
        report.reference = measurements_of(profile.at("reference")).at(0);
        reports.push_back(std::move(report));
    }
    const contracts::Params params;
    return contracts::bounds_from(reports, params.profilers_min, contracts::threshold_rule(params));
}

json judge_tasks(const std::map<std::uint64_t, TaskRuns>& runs, std::uint64_t resamples) {
    std::vector<JudgedTask> all;
    all.reserve(runs.size());
    for (const auto& [seed, task] : runs) {
        all.push_back(judge_task(seed, task));
    }
    std::vector<JudgedTask> bounded;
    std::copy_if(all.begin(), all.end(), std::back_inserter(bounded), [](const JudgedTask& task) {
        return task.bounds.has_value();
    });
    if (bounded.empty()) {
        throw std::runtime_error("every task was refused: honest drift is not separated from another seed's");
    }
    Tally honest;
    Tally outlier;
    std::map<std::string, Tally> cheats;
    for (const JudgedTask& task : bounded) {
        honest.add(task, task.honest);
        if (!task.outlier.drifts.empty()) {
            outlier.add(task, task.outlier);
        }
        for (const auto& [name, run] : task.cheats) {
            cheats[name].add(task, run);
        }
    }
    json out = {
        {"rule", rule_json()},
        {"refused_tasks", all.size() - bounded.size()},
        {"honest", honest.to_json()},
        {"usual_drift", usual_drift(all)},
        {"median_by_segment", by_segment(all, &Distances::parameters)},
        {"median_by_segment_of_other", by_segment(all, &Distances::other)},
        {"events", {events(all, 10), events(all, 100)}},
        {"sources", sources_json(all)},
        {"origins", origins_json(all)},
        {"separation", separation_json(bounded, honest.to_json()["drift"]["max"])},
        {"products in bf16", outlier.to_json()},
        {"other_rules", other_rules(all)},
        {"absolute_curve", absolute_curve(bounded)},
        {"relative_curve", relative_curve(bounded, resamples)}};
    for (const auto& [name, tally] : cheats) {
        out["cheats"][name] = tally.to_json();
    }
    for (const JudgedTask& task : all) {
        out["tasks"].push_back(task_json(task));
    }
    return out;
}

}  // namespace assay::bench
