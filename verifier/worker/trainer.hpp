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

/// Trains one task segment by segment, in slices, so that its owner can attend to the chain in between.
class Trainer {
  public:
    /// Starts with segment `segment`; `state` is the checkpoint before it (empty for segment 0).
    Trainer(
        std::shared_ptr<const Material> material, const engine::EngineOptions& options,
        std::shared_ptr<const Fraud> fraud, std::uint32_t segment, const std::vector<canonical::Tensor>& state
    );

    /// The segment in progress.
    std::uint32_t segment() const { return segment_; }
    /// Trains for about `budget`; true when the segment is finished: take state(), then begin_next(). Or when a step
    /// diverged, and with it the training ended. Throws std::runtime_error.
    bool advance(std::chrono::milliseconds budget);
    /// After the last step, also when that one diverged.
    std::vector<canonical::Tensor> state() const;
    /// The step that diverged (NUM-6).
    std::optional<std::uint64_t> diverged_at() const { return diverged_at_; }
    void begin_next();

    std::uint64_t steps_done() const { return step_; }
    std::optional<float> loss() const { return loss_; }
    /// Over the time spent training.
    double steps_per_s() const;

  private:
    bool run(std::chrono::milliseconds budget);
    /// In tolerance mode an honest solver trains natively, but for the initialisation.
    void begin_natively(const std::vector<canonical::Tensor>& state);
    /// TASK-13: the segment again, canonically.
    void fall_back();
    void run_step();

    std::shared_ptr<const Material> material_;
    engine::EngineOptions options_;
    std::shared_ptr<const Fraud> fraud_;
    std::uint32_t segment_;
    std::uint64_t step_ = 0;  ///< the next global step
    std::unique_ptr<Runner> runner_;
    std::unique_ptr<engine::NativeEngine> native_;  ///< takes the place of runner_ while there is one
    std::vector<canonical::Tensor> before_;         ///< the state before the segment that is trained natively
    std::optional<float> loss_;
    std::optional<std::uint64_t> diverged_at_;
    std::vector<canonical::Tensor> after_divergence_;
    std::uint64_t timed_steps_ = 0;
    std::chrono::steady_clock::duration spent_{};
};

}  // namespace assay::worker
