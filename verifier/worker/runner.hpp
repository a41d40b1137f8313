// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include <verifier/engine/engine.hpp>
#include <verifier/worker/fraud.hpp>
#include <verifier/worker/material.hpp>

namespace assay::worker {

/// A step gave a state that is not finite (NUM-6): there is no next state.
class Diverged : public std::runtime_error {
  public:
    explicit Diverged(std::uint64_t step);
    std::uint64_t step() const { return step_; }

  private:
    std::uint64_t step_;
};

/// Executes one of a task's two graphs step by step; as its fraud has it, where there is one. The initialisation
/// starts from the task's initial tensors, any other step from the state that was set.
class Runner {
  public:
    /// Throws std::runtime_error when the engine refuses the machine (NUM-5).
    Runner(
        std::shared_ptr<const Material> material, bool initialisation, const engine::EngineOptions& options,
        std::shared_ptr<const Fraud> fraud = nullptr
    );
    const canonical::Graph& graph() const;
    void set_state(std::span<const canonical::Tensor> state) { engine_.set_state(state); }
    std::vector<canonical::Tensor> state() const { return engine_.state(); }
    /// Runs global step `step` (0 for the initialisation) on the present state. Throws Diverged, which leaves the state
    /// as it was, and std::runtime_error.
    void run(std::uint64_t step, const canonical::NodeObserver& observe = {});
    /// The state that a step which diverged on the present one left all the same.
    std::vector<canonical::Tensor> state_after_divergence(std::uint64_t step);
    /// The loss of the last step run; not of the initialisation.
    float loss() const;

  private:
    std::vector<canonical::Tensor> state_before() const;

    std::shared_ptr<const Material> material_;
    bool initialisation_;
    std::shared_ptr<const Fraud> fraud_;
    engine::Engine engine_;
};

/// Where the execution of a segment ended.
struct SegmentEnd {
    std::vector<canonical::Tensor> state;  ///< after the last step, or after the one that diverged
    std::optional<std::uint64_t> diverged_at{};
    std::map<std::uint32_t, Hash256> probe_roots{};  ///< the state roots after those numbers of steps asked for

    /// What to compare with a checkpoint of a task that says to have diverged at `claimed`, if anywhere: the state root,
    /// or what no checkpoint has, when a step diverged and the task does not say so of it (VER-8).
    Hash256 root(std::optional<std::uint64_t> claimed) const;
};

/// Called after each step; stops the run by returning false.
using Progress = std::function<bool(std::uint64_t done, std::uint64_t steps)>;

/// Executes segment `segment` from `before` (of segment 0 the task's initial tensors), to `last_step` where given.
/// `probes` are numbers of steps after which to take the state root.
/// nullopt when `progress` stopped it. Throws std::runtime_error.
std::optional<SegmentEnd> run_segment(
    const std::shared_ptr<const Material>& material, std::uint32_t segment, std::span<const canonical::Tensor> before,
    const engine::EngineOptions& options, const std::shared_ptr<const Fraud>& fraud,
    const Progress& progress = {},
    std::optional<std::uint64_t> last_step = {}, std::span<const std::uint32_t> probes = {}
);

}  // namespace assay::worker
