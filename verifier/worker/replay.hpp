// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <core/dispute/player.hpp>
#include <verifier/worker/runner.hpp>

namespace assay::worker {

/// A party's execution of a disputed claim by the fast engine: starts from the checkpoint before the claim, keeps
/// states along the way within a budget of memory, and the node outputs of one step. Throws std::runtime_error.
class EngineReplay final : public dispute::Replay {
  public:
    /// `before` is the state at the claim's start; of the initialisation it is the material's.
    EngineReplay(
        std::shared_ptr<const Material> material, const dispute::Claim& claim, std::vector<canonical::Tensor> before,
        const engine::EngineOptions& options, std::shared_ptr<const Fraud> fraud = nullptr,
        std::uint64_t state_budget_bytes = 256U << 20U
    );

    Hash256 state_root_after(std::uint64_t step) override;
    const std::vector<canonical::Tensor>& state_before(std::uint64_t step) override;
    const std::vector<canonical::Tensor>& node_outputs(std::uint64_t step) override;
    std::optional<std::uint64_t> diverged_at() override;
    const canonical::Graph& graph() override { return runner_.graph(); }
    const canonical::RowSource& rows() override { return *material_->dataset; }
    const merkle::Tree& rows_tree() override { return material_->rows_tree; }

  private:
    /// nullptr when a step before it diverged and left another.
    const std::vector<canonical::Tensor>* state_at(std::uint64_t step);
    const std::vector<canonical::Tensor>* after_divergence(std::uint64_t step) const;
    void set_state(const std::vector<canonical::Tensor>& state);
    bool is_kept(std::uint64_t step) const;

    std::shared_ptr<const Material> material_;
    dispute::Claim claim_;
    Runner runner_;
    std::uint64_t stride_ = 1;  ///< every stride-th state is kept
    std::map<std::uint64_t, std::vector<canonical::Tensor>> states_;  // by the step they precede
    std::optional<std::uint64_t> passing_;  // the one state in states_ that is not kept
    std::map<std::uint64_t, Hash256> roots_;
    std::optional<std::uint64_t> diverged_at_;
    bool is_finite_ = false;  ///< the whole claim was executed and nothing diverged
    std::vector<canonical::Tensor> after_divergence_;
    std::optional<std::uint64_t> outputs_step_;
    std::vector<canonical::Tensor> outputs_;
};

}  // namespace assay::worker
