// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <core/dispute/player.hpp>
#include <verifier/worker/runner.hpp>

namespace assay::worker {

/// Replays a disputed claim on the fast engine, from the checkpoint before the claim. Keeps intermediate states within
/// a memory budget. Of the outputs of a step it keeps the commitments, which it hashes as they are produced, and those
/// outputs that were asked for, with what their nodes read: it executes the step again to have them. Its functions
/// throw std::runtime_error if the engine fails.
class EngineReplay final : public dispute::Replay {
  public:
    /// `before` is the state at the start of the claim; ignored for the initialisation, which reads it from the
    /// artifacts.
    EngineReplay(
        std::shared_ptr<const TaskArtifacts> artifacts, const dispute::Claim& claim,
        std::vector<canonical::Tensor> before, const engine::EngineOptions& options,
        std::shared_ptr<const Alteration> alteration = nullptr, std::uint64_t state_budget_bytes = 256U << 20U
    );

    const dispute::Claim& claim() const { return claim_; }
    /// How many steps the engine has executed, in whole or in part.
    std::uint64_t steps_run() const { return steps_run_; }
    Hash256 state_root_after(std::uint64_t step) override;
    const std::vector<canonical::Tensor>& state_before(std::uint64_t step) override;
    const canonical::Tensor& node_output(std::uint64_t step, std::uint32_t node) override;
    std::optional<std::uint64_t> diverged_at() override;
    const canonical::Graph& graph() override { return runner_.graph(); }
    const canonical::RowSource& rows() override { return *artifacts_->dataset; }
    const merkle::Tree& dataset_tree() override { return artifacts_->dataset_tree; }

  private:
    std::vector<Hash256> commit_outputs(std::uint64_t step) override;
    void run(std::uint64_t step, const canonical::NodeObserver& observe = {});
    /// Executes `step`, until `observe` returns false.
    void watch(std::uint64_t step, const canonical::NodeObserver& observe);
    /// The state before `step`; nullptr if an earlier step diverged, so that there is none.
    const std::vector<canonical::Tensor>* state_at(std::uint64_t step);
    const std::vector<canonical::Tensor>* after_divergence(std::uint64_t step) const;
    void set_state(const std::vector<canonical::Tensor>& state);
    bool is_kept(std::uint64_t step) const;

    std::shared_ptr<const TaskArtifacts> artifacts_;
    dispute::Claim claim_;
    Runner runner_;
    std::uint64_t steps_run_ = 0;
    std::uint64_t stride_ = 1;                                        ///< every stride_-th state is kept
    std::map<std::uint64_t, std::vector<canonical::Tensor>> states_;  // key: the step that reads the state
    std::optional<std::uint64_t> passing_;  // the one state in states_ that is only kept temporarily
    std::map<std::uint64_t, Hash256> roots_;
    std::optional<std::uint64_t> diverged_at_;
    bool is_finite_ = false;  ///< the whole claim was executed without divergence
    std::vector<canonical::Tensor> after_divergence_;
    std::optional<std::uint64_t> outputs_step_;
    std::map<std::uint32_t, canonical::Tensor> outputs_;  // of that step, by node
};

}  // namespace assay::worker
