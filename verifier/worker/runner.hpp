// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include <verifier/engine/backend/step_machine.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/worker/behaviour.hpp>
#include <verifier/worker/task_artifacts.hpp>

namespace assay::worker {

/// A step produced a state with a non-finite value (NUM-6), so there is no next state.
class Diverged : public std::runtime_error {
  public:
    explicit Diverged(std::uint64_t step);
    std::uint64_t step() const { return step_; }

  private:
    std::uint64_t step_;
};

/// Executes one of a task's two graphs step by step, altered by `alteration` if given. The initialisation starts from
/// the task's initial tensors, any other step from the state set with set_state(). Steps that are neither altered nor
/// observed are executed by the machines of a cell, if `options` name one that is free.
class Runner {
  public:
    /// Throws std::runtime_error if the engine's self-test fails on this machine (NUM-5).
    Runner(
        std::shared_ptr<const TaskArtifacts> artifacts, bool initialisation, const engine::EngineOptions& options,
        std::shared_ptr<const Alteration> alteration = nullptr
    );
    const canonical::Graph& graph() const;
    void set_state(std::span<const canonical::Tensor> state);
    void set_state(std::size_t count, const std::function<canonical::Tensor(std::size_t)>& tensor);
    std::vector<canonical::Tensor> state() const;
    std::size_t state_size() const;
    canonical::Tensor tensor(std::size_t index) const;
    /// Returns the state and leaves the engine without one, so that it is not there twice.
    std::vector<canonical::Tensor> take_state();
    Hash256 state_root() const;
    /// Runs global step `step` (0 for the initialisation) on the current state. Throws Diverged, which leaves the state
    /// unchanged, and std::runtime_error if the engine fails.
    void run(std::uint64_t step, engine::OutputObserver* observer = nullptr);
    /// Returns what the graph makes of the current state in `step`, which diverges. Throws std::runtime_error if the
    /// engine fails.
    std::vector<canonical::Tensor> state_after_divergence(std::uint64_t step);
    /// The loss of the last step run; not available for the initialisation.
    float loss() const;

  private:
    std::vector<canonical::Tensor> state_before() const;
    void use_engine();

    std::shared_ptr<const TaskArtifacts> artifacts_;
    bool initialisation_;
    engine::EngineOptions options_;
    std::shared_ptr<const Alteration> alteration_;
    std::unique_ptr<engine::StepMachine> cell_;  ///< if it has the state
    std::optional<engine::Engine> engine_;       ///< else
};

/// The result of executing a segment.
struct SegmentEnd {
    std::vector<canonical::Tensor> state;  ///< after the last step, or after the step that diverged
    std::optional<std::uint64_t> diverged_at{};
    std::map<std::uint32_t, Hash256> probe_roots{};  ///< state roots after the requested numbers of steps

    /// The root to compare with the checkpoint of a task that declares divergence at step `claimed`, if any: the state
    /// root, or, if another step diverged, an assay/diverged hash that no checkpoint can have (VER-8).
    Hash256 root(std::optional<std::uint64_t> claimed) const;
};

/// Called after each step; returns false to stop the run.
using Progress = std::function<bool(std::uint64_t done, std::uint64_t steps)>;

/// Executes segment `segment` from `before` (ignored for segment 0, which starts from the initial tensors; given up as
/// soon as the engine has it), up to `last_step` if given. `probes` lists numbers of steps after which to record the
/// state root. Returns nullopt if `progress` stopped the run. Throws std::runtime_error if the engine fails.
std::optional<SegmentEnd> run_segment(
    const std::shared_ptr<const TaskArtifacts>& artifacts, std::uint32_t segment, std::vector<canonical::Tensor> before,
    const engine::EngineOptions& options, const std::shared_ptr<const Alteration>& alteration,
    const Progress& progress = {}, std::optional<std::uint64_t> last_step = {},
    std::span<const std::uint32_t> probes = {}
);

}  // namespace assay::worker
