// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <verifier/canonical/executor.hpp>
#include <verifier/program/program.hpp>
#include <verifier/trace/tolerance.hpp>

/// How far native training drifts from the canonical replay, by the distance program; and how far cheats are from it.
namespace assay::bench {

struct DriftOptions {
    std::string model = "mlp";                               ///< gpt, cnn, mlp
    std::string text = "/usr/share/common-licenses/GPL-3";   ///< for gpt
    std::string digits = "digits.safetensors";               ///< for the others: what digits.py writes
    std::uint64_t seed = 1;
    std::uint64_t segments = 20;
    std::uint64_t segment_steps = 10;
    int threads = 1;
    std::string products = "f32";  ///< of the native side: f32, bf16, f64
    std::string order = "given";   ///< of a batch's rows on the native side: given, reversed
    bool references = false;       ///< measure d_ref too
    trace::Relative threshold_ppb = 0;  ///< of relative drift: for the cheats that push by a share of it
};
/// One run of native training, each segment replayed and measured. One call to a process: instruction sets and BLAS
/// kernels are chosen by the environment when libtorch starts.
nlohmann::json run_drift(const DriftOptions& options);
/// The same, cheated in every way that the bench knows.
nlohmann::json run_cheats(const DriftOptions& options);

struct DriftStudyOptions {
    std::vector<std::string> models{"mlp", "cnn", "gpt"};
    DriftOptions run;             ///< its files, segments and steps are every run's
    std::uint64_t seeds = 3;      ///< of each source of drift
    std::uint64_t cheat_seeds = 10;
    std::uint64_t resamples = 10'000;
};
/// Every source of drift in a process of its own, each with seeds of its own; a threshold from all of f32; then cheats
/// and honest runs of further seeds, on the sources in turn, and what the threshold makes of them.
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
    trace::Measurement measure(const State& start, const State& replayed, const State& claimed);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The segments of one run as they were measured.
class SegmentLog {
  public:
    void add(const trace::Measurement& measurement) { measurements_.push_back(measurement); }
    /// Lists by quantity, one value for each segment; the growth is that of all up to it.
    nlohmann::json to_json() const;

  private:
    std::vector<trace::Measurement> measurements_;
};

/// False-slash and missed-cheat rates over thresholds, for one model.
nlohmann::json threshold_curves(
    const nlohmann::json& honest_runs, const nlohmann::json& cheat_runs, std::uint64_t resamples
);
/// The relative drifts of the parameters of a run's segments, in billionths.
std::vector<trace::Relative> relative_drifts(const nlohmann::json& run);
/// The threshold from these drifts under the bench's rule; throws when there are too few or d_ref is too
/// near.
trace::Relative profile_threshold(const std::vector<trace::Relative>& drifts, trace::Relative reference);

}  // namespace assay::bench
