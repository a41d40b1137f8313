// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <core/dispute/player.hpp>
#include <verifier/worker/runner.hpp>
#include <verifier/artifacts/spilled_state.hpp>

namespace assay::worker {

/// Replays a disputed claim on the fast engine, from the checkpoint before the claim. It needs the memory of training
/// and little more: intermediate states are on disk. Of the outputs of a step it keeps the commitments, which it hashes
/// as they are produced, and those outputs that were asked for, with what their nodes read: it executes the step again
/// to have them. Its functions throw std::runtime_error if the engine or the disk fails.
class EngineReplay final : public dispute::Replay {
  public:
    struct Storage {
        std::filesystem::path directory = std::filesystem::temp_directory_path();
        std::uint64_t budget_bytes = std::uint64_t{1} << 30U;  ///< for states; two or three are kept in any case
        const std::atomic<bool>* stop = nullptr;  ///< once it is set, functions throw std::runtime_error before a step
        std::function<void()> between_steps{};    ///< called before each step, if there is one
    };

    /// `before` is the state at the start of the claim; ignored for the initialisation, which reads it from the
    /// artifacts.
    EngineReplay(
        std::shared_ptr<const TaskArtifacts> artifacts, const dispute::Claim& claim,
        std::vector<canonical::Tensor> before, const engine::EngineOptions& options, const Storage& storage,
        std::shared_ptr<const Alteration> alteration = nullptr
    );

    const dispute::Claim& claim() const { return claim_; }
    /// Gives the engine's memory back, and keeps its state on disk to go on from.
    void rest();
    /// How many steps the engine has executed, in whole or in part.
    std::uint64_t steps_run() const { return steps_run_; }
    /// Executes `step` once to have the outputs of these nodes, and forgets others.
    void collect(std::uint64_t step, const std::set<std::uint32_t>& nodes);
    Hash256 state_root_after(std::uint64_t step) override;
    std::size_t state_size(std::uint64_t step) override;
    const canonical::Tensor& state_tensor(std::uint64_t step, std::uint32_t index) override;
    const canonical::Tensor& node_output(std::uint64_t step, std::uint32_t node) override;
    std::optional<std::uint64_t> diverged_at() override;
    const canonical::Graph& graph() override { return graph_; }
    const canonical::RowSource& rows() override { return *artifacts_->dataset; }
    const merkle::Tree& dataset_tree() override { return artifacts_->dataset_tree; }

  private:
    std::vector<Hash256> commit_outputs(std::uint64_t step) override;
    Runner& runner();
    void pass(std::uint64_t step);
    /// Runs the step whose state the engine has. Returns false if it diverged.
    bool advance(engine::OutputObserver* observer = nullptr);
    /// Executes `step`, until the observer is done.
    void watch(std::uint64_t step, engine::OutputObserver& observer);
    /// Gives the engine the state before `step`. Returns false if an earlier step diverged, so that there is none.
    bool bring_to(std::uint64_t step);
    /// The state before `step` on disk; nullptr if an earlier step but the one before diverged.
    const artifacts::SpilledState* spilled(std::uint64_t step);
    void spill();
    bool is_kept(std::uint64_t step) const;

    std::shared_ptr<const TaskArtifacts> artifacts_;
    dispute::Claim claim_;
    const canonical::Graph& graph_;
    Storage storage_;
    engine::EngineOptions options_;
    std::shared_ptr<const Alteration> alteration_;
    std::optional<Runner> runner_;  ///< none while it rests
    std::uint64_t steps_run_ = 0;
    std::uint64_t stride_ = 1;                                 ///< every stride_-th state is kept
    std::uint64_t at_ = 0;                                     ///< the step before which is the engine's state
    std::map<std::uint64_t, artifacts::SpilledState> states_;  ///< key: the step that reads the state
    std::deque<std::uint64_t> passing_;  ///< the states that are kept until two others are asked for
    std::map<std::uint64_t, Hash256> roots_;
    std::optional<std::uint64_t> diverged_at_;
    bool is_finite_ = false;  ///< the whole claim was executed without divergence
    std::optional<artifacts::SpilledState> after_divergence_;
    std::optional<std::pair<std::uint64_t, std::uint32_t>> loaded_at_;  ///< step and index of `loaded_`
    canonical::Tensor loaded_;
    std::optional<std::uint64_t> outputs_step_;
    std::map<std::uint32_t, canonical::Tensor> outputs_;  ///< of that step, by node
};

}  // namespace assay::worker
