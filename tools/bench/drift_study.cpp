// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/drift.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include <contracts/state/params.hpp>

namespace assay::bench {
namespace {

using nlohmann::json;

/// One way for an honest solver's machine to differ.
struct DriftSource {
    std::string name;
    std::string environment;  ///< of its process: libtorch's instruction set, OpenBLAS's kernels
    std::string arguments;
};

bool has_avx512() {
    std::ifstream in("/proc/cpuinfo");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return text.find("avx512vl") != std::string::npos;
}

// Those of f32 or better. A run in bf16 is an outlier, and no source of honest drift.
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
        {"canonical executor", "", "--products canonical"},
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

// What this program prints in the environment given.
json run_child(const std::string& program, const std::string& environment, const std::string& arguments) {
    const std::string command =
        "exec env OMP_WAIT_POLICY=passive " + environment + " " + quoted(program) + " drift-run " + arguments;
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

/// The runs of one model, a line each in a file that is only ever appended to.
class RunsFile {
  public:
    explicit RunsFile(const DriftStudyOptions& options) : options_(options), begin_(Clock::now()) {
        std::ifstream in(options.runs);
        for (std::string line; std::getline(in, line);) {
            json run = json::parse(line, nullptr, false);  // a line that was cut off is made again
            if (!run.is_discarded()) {
                runs_.emplace(run.at("key").get<std::string>(), std::move(run));
            }
        }
    }
    bool is_late() const { return Clock::now() - begin_ > std::chrono::minutes(options_.minutes); }

    /// The run of this task; null when it is missing and it is too late to begin one. By this program, unless another
    /// build of it is given.
    json get(
        const std::string& what, std::uint64_t seed, const DriftSource& source, const std::string& arguments,
        const std::string& build = {}
    ) {
        const DriftOptions& run = options_.run;
        std::ostringstream task;
        task << "--model " << run.model << " --optimizer " << run.optimizer << " --epsilon " << run.epsilon
             << " --seed " << seed << " --segment-steps " << run.segment_steps << " " << source.arguments << " "
             << arguments;
        const std::string key = what + ", " + source.name + ": " + task.str();
        const auto found = runs_.find(key);
        if (found != runs_.end() || is_late()) {
            return found == runs_.end() ? json() : found->second;
        }
        const std::string files = " --text " + quoted(run.text) + " --digits " + quoted(run.digits);
        const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
        json made = run_child(build.empty() ? self : build, source.environment, task.str() + files);
        made["key"] = key;
        made["source"] = source.name;
        std::ofstream(options_.runs, std::ios::app) << made << std::endl;
        std::cerr << key << "\n";
        return made;
    }

  private:
    using Clock = std::chrono::steady_clock;

    DriftStudyOptions options_;
    Clock::time_point begin_;
    std::unordered_map<std::string, json> runs_;
};

// One task: the chain's number of profilers, then the solver, each on another source.
TaskRuns make_task(RunsFile& runs, const DriftStudyOptions& options, std::uint64_t seed) {
    const std::vector<DriftSource> machines = sources();
    const auto machine = [&](std::uint64_t i) { return machines[(seed + i) % machines.size()]; };
    const contracts::Params params;
    const std::string profiled = "--segments " + std::to_string(params.profile_segments);
    const std::uint64_t stride = machines.size() / params.profilers;
    TaskRuns out;
    for (std::uint64_t p = 0; p < params.profilers; ++p) {
        json profile = runs.get("profile", seed, machine(1 + p * stride), profiled);
        if (profile.is_null()) {
            return out;
        }
        out.profiles.push_back(std::move(profile));
    }
    const auto bounds = bounds_of(out);
    const std::string length = "--segments " + std::to_string(options.run.segments);
    const bool is_cheated = seed <= options.cheat_tasks && bounds.has_value();
    const std::string push =
        is_cheated ? " --cheats --threshold-ppb " + std::to_string(bounds->threshold.parameters) : "";
    const std::string solver = options.solver_build.empty() ? "solver" : "solver of another build";
    out.solver = runs.get(solver, seed, machine(0), length + push, options.solver_build);
    if (seed <= options.cheat_tasks) {
        out.outlier = runs.get("outlier", seed, {"products in bf16", "", "--products bf16"}, length);
    }
    return out;
}

}  // namespace

json run_drift_study(const DriftStudyOptions& options) {
    RunsFile runs(options);
    std::map<std::uint64_t, TaskRuns> tasks;
    for (std::uint64_t seed = 1; seed <= options.tasks; ++seed) {
        tasks[seed] = make_task(runs, options, seed);
    }
    std::erase_if(tasks, [](const auto& task) { return task.second.solver.is_null(); });
    if (tasks.empty()) {
        throw std::runtime_error("no task is complete: give it more minutes");
    }
    json out = judge_tasks(tasks, options.resamples);
    out["bench"] = "drift";
    out["model"] = options.run.model;
    out["optimizer"] = options.run.optimizer;
    out["epsilon"] = options.run.epsilon;
    out["segment_steps"] = options.run.segment_steps;
    return out;
}

}  // namespace assay::bench
