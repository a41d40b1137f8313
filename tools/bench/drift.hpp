// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <contracts/profiling/profiling.hpp>
#include <core/canonical/executor.hpp>
#include <verifier/compile/program/program.hpp>
#include <core/dispute/tolerance.hpp>

/// Measures with the distance program how far native training drifts from the canonical replay, and how far cheating
/// solvers are from it.
namespace assay::bench {

struct DriftOptions {
    std::string model = "mlp";                              ///< gpt, gpt-rotary, cnn, mlp
    std::string text = "/usr/share/common-licenses/GPL-3";  ///< for gpt
    std::string digits = "digits.safetensors";              ///< for the other models: the file that digits.py writes
    std::string optimizer = "adamw";                        ///< adamw or momentum
    float epsilon = 1e-8F;                                  ///< for adamw
    std::uint64_t seed = 1;
    std::uint64_t segments = 12;
    std::uint64_t segment_steps = 8;
    int threads = 1;
    std::string products = "f32";  ///< precision on the native side: f32, bf16, f64; canonical: no native side at all
    std::string order = "given";   ///< order of a batch's rows on the native side: given, reversed
    dispute::Relative threshold_ppb = 0;  ///< of relative drift; used by the cheats that deviate by a share of it
};
/// Runs native training once, replays and measures each segment, and adds what else a profile contains (PRF-3). Only
/// one call per process: when libtorch starts, the environment selects instruction sets and BLAS kernels.
nlohmann::json run_drift(const DriftOptions& options);
/// The same, and in addition every kind of cheating that the benchmark knows.
nlohmann::json run_cheats(const DriftOptions& options);

struct DriftStudyOptions {
    DriftOptions run;  ///< all runs use its model, files, segments and steps
    std::string runs =
        "drift-runs.jsonl";    ///< the measurements, one run per line; runs that are in the file are not repeated
    std::string solver_build;  ///< a build of this program with another libtorch; used for the solvers
    std::uint64_t tasks = 60;
    std::uint64_t cheat_tasks = 13;  ///< so many of the first tasks are also run with cheats, and in bf16
    std::uint64_t minutes = 60;      ///< no run is started after this time
    std::uint64_t resamples = 10'000;
};
/// Runs tasks with different seeds. Each is profiled by the chain's number of profilers and solved, each on another
/// source of drift and in a separate process. Then applies the chain's rules to the results.
nlohmann::json run_drift_study(const DriftStudyOptions& options);

// Used by the files of this benchmark only.

using State = std::vector<canonical::Tensor>;

struct DriftTask {
    std::shared_ptr<const canonical::RowSource> rows;
    program::Program program;
};
DriftTask make_drift_task(const DriftOptions& options);

/// The dataset as a dishonest solver, or another order of summation, would use it.
enum class RowsKind {
    kGiven,
    kReversed,   ///< the rows of each batch in reverse: the same sums in another order
    kHalf,       ///< the first half of each batch, used twice
    kFewer,      ///< a sixteenth of each batch, at least one row, is replaced by other rows
    kScrambled,  ///< each value is taken from another row, so the data were never given
};

/// Native training, together with the canonical engine and the distance program.
class Workshop {
  public:
    explicit Workshop(const DriftOptions& options);
    ~Workshop();

    const program::Program& program() const;
    State initial(std::uint64_t seed) const;
    /// Runs `steps` native steps from `state`; the first one has the number `first`. Throws if training diverges.
    State train(const State& state, std::uint64_t seed, std::uint64_t first, std::uint64_t steps, RowsKind rows);
    State replay(const State& state, std::uint64_t seed, std::uint64_t first, std::uint64_t steps);
    dispute::Measurement measure(const State& start, const State& replayed, const State& claimed);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The measurements in the form in which a run prints them.
nlohmann::json to_json(const std::vector<dispute::Measurement>& measurements);
std::vector<dispute::Measurement> measurements_of(const nlohmann::json& log);

/// The entries of the runs file for one task.
struct TaskRuns {
    std::vector<nlohmann::json> profiles;
    nlohmann::json solver;   ///< null if there is none yet
    nlohmann::json outlier;  ///< a run in bf16; null for most tasks
};
/// Returns the thresholds that the chain computes from the profiles, or its profiling outcome if there are none.
Result<contracts::Bounds, contracts::ProfilingOutcome> bounds_of(const TaskRuns& task);
/// Returns the rates of false slashing and of missed cheating under the chain's rules, and as functions of the
/// threshold.
nlohmann::json judge_tasks(const std::map<std::uint64_t, TaskRuns>& tasks, std::uint64_t resamples);

}  // namespace assay::bench
