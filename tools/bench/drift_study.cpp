// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/drift.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace assay::bench {
namespace {

using nlohmann::json;

/// One way for an honest solver's machine to differ.
struct DriftSource {
    std::string name;
    std::string environment;  ///< of its process: libtorch's instruction set, OpenBLAS's kernels
    std::string arguments;
    bool is_f32 = true;  ///< of the precision that the task asks for
};

bool has_avx512() {
    std::ifstream in("/proc/cpuinfo");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return text.find("avx512vl") != std::string::npos;
}

std::vector<DriftSource> sources() {
    std::vector<DriftSource> out{
        {"as it comes", "", ""},
        {"2 threads", "", "--threads 2"},
        {"rows of a batch backwards", "", "--order reversed"},
        {"ATen without AVX", "ATEN_CPU_CAPABILITY=default", ""},
        {"ATen with AVX2", "ATEN_CPU_CAPABILITY=avx2", ""},
        {"OpenBLAS for Nehalem", "OPENBLAS_CORETYPE=Nehalem", ""},
        {"OpenBLAS for Sandybridge", "OPENBLAS_CORETYPE=Sandybridge", ""},
        {"OpenBLAS for Haswell", "OPENBLAS_CORETYPE=Haswell", ""},
        {"no AVX at all, 2 threads", "ATEN_CPU_CAPABILITY=default OPENBLAS_CORETYPE=Nehalem", "--threads 2"},
        {"products in f64", "", "--products f64"},
        {"products in bf16", "", "--products bf16", false},
    };
    if (has_avx512()) {
        out.push_back({"ATen with AVX-512", "ATEN_CPU_CAPABILITY=avx512", ""});
        out.push_back({"OpenBLAS for SkylakeX", "OPENBLAS_CORETYPE=SkylakeX", ""});
    }
    return out;
}

std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) {
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return out + "'";
}

// This program again, in the environment given; what it prints.
json run_child(const std::string& environment, const std::string& arguments) {
    const std::string command = "exec env OMP_WAIT_POLICY=passive " + environment + " " +
                                quoted(std::filesystem::read_symlink("/proc/self/exe").string()) + " drift-run " + arguments;
    const auto close = [](std::FILE* pipe) { return pclose(pipe); };
    std::unique_ptr<std::FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
    if (pipe == nullptr) {
        throw std::runtime_error("cannot start " + command);
    }
    std::string text;
    std::array<char, 65536> buffer{};
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) {
        text.append(buffer.data(), count);
    }
    if (pclose(pipe.release()) != 0) {
        throw std::runtime_error("this failed: " + command);
    }
    return json::parse(text);
}

std::string arguments_of(const DriftStudyOptions& options, const std::string& model, std::uint64_t seed) {
    const DriftOptions& run = options.run;
    return "--model " + model + " --text " + quoted(run.text) + " --digits " + quoted(run.digits) + " --seed " +
           std::to_string(seed) + " --segments " + std::to_string(run.segments) + " --segment-steps " +
           std::to_string(run.segment_steps) + " ";
}

// No two runs have a seed in common: an event in one trajectory (a ReLU that changes sides) shows in every source.
json honest_runs(const DriftStudyOptions& options, const std::string& model) {
    json runs = json::array();
    std::uint64_t first_seed = 1;
    for (const DriftSource& source : sources()) {
        for (std::uint64_t seed = first_seed; seed < first_seed + options.seeds; ++seed) {
            const std::string references = source.arguments.empty() && source.environment.empty() ? "--references " : "";
            json run = run_child(source.environment, arguments_of(options, model, seed) + references + source.arguments);
            run["source"] = source.name;
            run["is_f32"] = source.is_f32;
            std::cerr << model << ", " << source.name << ", seed " << seed << ": largest drift "
                      << *std::max_element(run["honest"]["drift_ppb"].begin(), run["honest"]["drift_ppb"].end()) << "e-9\n";
            runs.push_back(std::move(run));
        }
        first_seed += options.seeds;
    }
    return runs;
}

json cheat_runs(const DriftStudyOptions& options, const std::string& model, trace::Relative threshold) {
    constexpr std::uint64_t kFirstSeed = 500;  // beyond those of honest_runs
    std::vector<DriftSource> machines = sources();
    std::erase_if(machines, [](const DriftSource& source) { return !source.is_f32; });
    json runs = json::array();
    for (std::uint64_t seed = 0; seed < options.cheat_seeds; ++seed) {
        const DriftSource& machine = machines[seed % machines.size()];
        const std::string push = " --cheats --threshold-ppb " + std::to_string(threshold);
        json run = run_child(machine.environment, arguments_of(options, model, kFirstSeed + seed) + machine.arguments + push);
        run["source"] = machine.name;
        for (json& cheat : run["cheats"]) {
            for (const char* unused : {"linf", "cosine", "other"}) {
                cheat.erase(unused);
            }
        }
        runs.push_back(std::move(run));
        std::cerr << model << ", cheats, seed " << seed << "\n";
    }
    return runs;
}

json study(const DriftStudyOptions& options, const std::string& model) {
    const json honest = honest_runs(options, model);
    std::vector<trace::Relative> drifts;
    trace::Relative reference = trace::kMaxRelative;
    for (const json& run : honest) {
        if (run.at("is_f32")) {
            const auto of_run = relative_drifts(run.at("honest"));
            drifts.insert(drifts.end(), of_run.begin(), of_run.end());
        }
        const json references = run.value("references", json::object());
        for (const json& other : references) {
            const auto distances = relative_drifts(other);
            reference = std::min(reference, *std::min_element(distances.begin(), distances.end()));
        }
    }
    const trace::Relative threshold = profile_threshold(drifts, reference);
    const json cheats = cheat_runs(options, model, threshold);
    return {{"model", model},
            {"d_ref", static_cast<double>(reference) * 1e-9},
            {"threshold", static_cast<double>(threshold) * 1e-9},
            {"honest", honest},
            {"cheats", cheats},
            {"curves", threshold_curves(honest, cheats, options.resamples)}};
}

}  // namespace

json run_drift_study(const DriftStudyOptions& options) {
    json models = json::array();
    for (const std::string& model : options.models) {
        models.push_back(study(options, model));
    }
    return {{"bench", "drift"},
            {"segments", options.run.segments},
            {"segment_steps", options.run.segment_steps},
            {"models", models}};
}

}  // namespace assay::bench
