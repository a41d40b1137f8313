// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <verifier/engine/native/native_engine.hpp>
#include <verifier/worker/runner.hpp>

namespace assay::worker {

/// Trains a task segment by segment, in time slices, so that the caller can attend to the chain in between.
class Trainer {
  public:
    /// Starts with segment `segment`; `state` is the checkpoint before it (empty for segment 0). Throws
    /// std::runtime_error if the engine cannot be used.
    Trainer(
        std::shared_ptr<const TaskArtifacts> artifacts, const engine::EngineOptions& options,
        std::shared_ptr<const Alteration> alteration, std::uint32_t segment, const std::vector<canonical::Tensor>& state
    );

    /// The segment being trained.
    std::uint32_t segment() const { return segment_; }
    /// Trains for about `budget`. Returns true if the segment is finished (take state(), then call begin_next()) or if
    /// a step diverged, which ends the training. Throws std::runtime_error if the engine fails.
    bool advance(std::chrono::milliseconds budget);
    /// The state after the last step run, even if that step diverged.
    std::vector<canonical::Tensor> state() const;
    /// The step that diverged (NUM-6), if any.
    std::optional<std::uint64_t> diverged_at() const { return diverged_at_; }
    void begin_next();

    std::uint64_t steps_done() const { return step_; }
    std::optional<float> loss() const { return loss_; }
    /// Average speed over the time spent training.
    double steps_per_s() const;

  private:
    bool run(std::chrono::milliseconds budget);
    /// Switches to native training for the segment if the task is in tolerance mode and none of its steps is altered.
    /// The initialisation is always canonical.
    void begin_natively(const std::vector<canonical::Tensor>& state);
    /// TASK-13: restarts the segment canonically, after native training diverged.
    void fall_back();
    void run_step();

    std::shared_ptr<const TaskArtifacts> artifacts_;
    engine::EngineOptions options_;
    std::shared_ptr<const Alteration> alteration_;
    std::uint32_t segment_;
    std::uint64_t step_ = 0;  ///< the next global step
    std::unique_ptr<Runner> runner_;
    std::unique_ptr<engine::NativeEngine> native_;  ///< used instead of runner_ if set
    std::vector<canonical::Tensor> before_;         ///< the state before the segment being trained natively
    std::optional<float> loss_;
    std::optional<std::uint64_t> diverged_at_;
    std::vector<canonical::Tensor> after_divergence_;
    std::uint64_t timed_steps_ = 0;
    std::chrono::steady_clock::duration spent_{};
};

}  // namespace assay::worker
