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

/// How far native training drifts from the canonical replay, by the distance program; and how far cheats are from it.
namespace assay::bench {

struct DriftOptions {
    std::string model = "mlp";                              ///< gpt, gpt-rotary, cnn, mlp
    std::string text = "/usr/share/common-licenses/GPL-3";  ///< for gpt
    std::string digits = "digits.safetensors";              ///< for the others: what digits.py writes
    std::string optimizer = "adamw";                        ///< or momentum
    float epsilon = 1e-8F;                                  ///< of adamw
    std::uint64_t seed = 1;
    std::uint64_t segments = 12;
    std::uint64_t segment_steps = 8;
    int threads = 1;
    std::string products = "f32";       ///< of the native side: f32, bf16, f64; canonical: no native side at all
    std::string order = "given";        ///< of a batch's rows on the native side: given, reversed
    dispute::Relative threshold_ppb = 0;  ///< of relative drift: for the cheats that push by a share of it
};
/// One run of native training, each segment replayed and measured, and what a profile has beside it (PRF-3). One call
/// to a process: instruction sets and BLAS kernels are chosen by the environment when libtorch starts.
nlohmann::json run_drift(const DriftOptions& options);
/// The same, and cheated in every way that the bench knows.
nlohmann::json run_cheats(const DriftOptions& options);

struct DriftStudyOptions {
    DriftOptions run;                       ///< its model, files, segments and steps are every run's
    std::string runs = "drift-runs.jsonl";  ///< what was measured, a run a line; a run that it has is not made again
    std::string solver_build;               ///< a build of this program with another libtorch, for the solvers
    std::uint64_t tasks = 60;
    std::uint64_t cheat_tasks = 13;  ///< the first so many are cheated too, and run in bf16
    std::uint64_t minutes = 60;      ///< no run is begun later than this
    std::uint64_t resamples = 10'000;
};
/// Tasks, each with a seed of its own, profiled by the chain's number of profilers and solved, each on another source
/// of drift and in a process of its own; then what the chain's rules make of it all.
nlohmann::json run_drift_study(const DriftStudyOptions& options);

// Between the files of this bench.

using State = std::vector<canonical::Tensor>;

struct DriftTask {
    std::shared_ptr<const canonical::RowSource> rows;
    program::Program program;
};
DriftTask make_drift_task(const DriftOptions& options);

/// What a dishonest solver, or another order of summation, makes of the dataset.
enum class RowsKind {
    kGiven,
    kReversed,   ///< the rows of a batch backwards: the same sums in another order
    kHalf,       ///< the first half of each batch twice
    kFewer,      ///< a sixteenth of each batch is left out, at least one row, and others stand for it
    kScrambled,  ///< each value from another row: data that nobody gave
};

/// Native training, with the canonical engine and the distance program beside it.
class Workshop {
  public:
    explicit Workshop(const DriftOptions& options);
    ~Workshop();

    const program::Program& program() const;
    State initial(std::uint64_t seed) const;
    /// `steps` native steps from `state`, the first of them number `first`; throws when training diverges.
    State train(const State& state, std::uint64_t seed, std::uint64_t first, std::uint64_t steps, RowsKind rows);
    State replay(const State& state, std::uint64_t seed, std::uint64_t first, std::uint64_t steps);
    dispute::Measurement measure(const State& start, const State& replayed, const State& claimed);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Measurements as a run prints them.
nlohmann::json to_json(const std::vector<dispute::Measurement>& measurements);
std::vector<dispute::Measurement> measurements_of(const nlohmann::json& log);

/// What the runs file has of one task.
struct TaskRuns {
    std::vector<nlohmann::json> profiles;
    nlohmann::json solver;   ///< null while it is missing
    nlohmann::json outlier;  ///< in bf16; null for most tasks
};
/// What the chain makes of the profiles.
Result<contracts::Bounds, contracts::ProfilingOutcome> bounds_of(const TaskRuns& task);
/// False slashes and missed cheats under the chain's rules, and over thresholds.
nlohmann::json judge_tasks(const std::map<std::uint64_t, TaskRuns>& tasks, std::uint64_t resamples);

}  // namespace assay::bench
