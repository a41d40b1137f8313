// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <core/merkle/tree.hpp>
#include <tests/unit/contracts/fixture.hpp>
#include <core/dispute/commitment.hpp>
#include <core/dispute/player.hpp>

/// A program small enough to play disputes with: two state tensors, a graph of six nodes, on the scalar executor.
namespace assay::contracts::test {

/// Where a dishonest party's execution departs from the program: one bit of one node's output; of kCommit, the last
/// node, of the next state's first tensor.
struct Tamper {
    bool initialisation = false;
    std::uint64_t step = 0;
    std::uint32_t node = 0;
    std::size_t byte = 0;
    bool onwards = false;  ///< in each step from that one on
    bool stale = false;    ///< instead of a bit: the step's nodes read the state after the initialisation
};

/// What each step adds to the weights, drawn from the seed and below `bound`. Without it another seed gives the same.
struct ToyNoise {
    float bound = 0;
    std::uint64_t seed = 7;
};

class ToyRows final : public canonical::RowSource {
  public:
    ToyRows();
    canonical::DatasetShape shape() const override { return {kRows, kWidth}; }
    Bytes row(std::uint64_t index) const override;

  private:
    static constexpr std::uint64_t kRows = 10;
    static constexpr std::uint32_t kWidth = 3;
    Bytes data_;
};

/// One party's view of the whole training run.
class ToyRun {
  public:
    /// `scale` multiplies the weights in each step.
    explicit ToyRun(std::optional<Tamper> tamper = std::nullopt, float scale = kScale, ToyNoise noise = {});

    TaskSpec spec() const;
    /// Root of checkpoint `index` of a task of spec().
    Hash256 checkpoint_root(std::uint32_t index) const;
    std::vector<Hash256> checkpoint_roots() const;
    const std::vector<canonical::Tensor>& state(std::uint64_t step) const { return states_[step]; }

    struct Step {
        std::vector<canonical::Tensor> outputs;
        std::vector<canonical::Tensor> next;
    };
    Step run_step(bool initialisation, std::uint64_t step, const std::vector<canonical::Tensor>& state) const;
    const canonical::Graph& graph(bool initialisation) const { return initialisation ? init_ : step_; }
    const ToyRows& rows() const { return rows_; }
    const merkle::Tree& rows_tree() const { return rows_tree_; }

    static constexpr std::uint64_t kSteps = 10;
    static constexpr std::uint32_t kInterval = 4;
    static constexpr std::uint64_t kSeed = 7;
    static constexpr float kScale = 0.75F;
    /// With this scale step kDivergesAt, in segment 2, diverges.
    static constexpr float kDivergingScale = 1e7F;
    static constexpr std::uint64_t kDivergesAt = 5;

  private:
    bool is_tampered(bool initialisation, std::uint64_t step, std::uint32_t node) const;
    bool is_stale(bool initialisation, std::uint64_t step) const;

    std::optional<Tamper> tamper_;
    std::uint64_t seed_;
    canonical::Graph init_;
    canonical::Graph step_;
    ToyRows rows_;
    merkle::Tree rows_tree_;
    std::vector<std::vector<canonical::Tensor>> states_;  // states_[n]: after n steps
};

Hash256 root_of(const std::vector<canonical::Tensor>& state);

/// A party's replay of one claim. A challenger replays from the responder's state before the claim, which is agreed.
class ToyReplay final : public dispute::Replay {
  public:
    ToyReplay(const ToyRun& run, const dispute::Claim& claim, std::vector<canonical::Tensor> before);
    Hash256 state_root_after(std::uint64_t step) override;
    const std::vector<canonical::Tensor>& state_before(std::uint64_t step);
    std::size_t state_size(std::uint64_t step) override { return state_before(step).size(); }
    const canonical::Tensor& state_tensor(std::uint64_t step, std::uint32_t index) override {
        return state_before(step)[index];
    }
    const canonical::Tensor& node_output(std::uint64_t step, std::uint32_t node) override;
    std::optional<std::uint64_t> diverged_at() override;
    const canonical::Graph& graph() override { return run_.graph(initialisation_); }
    const canonical::RowSource& rows() override { return run_.rows(); }
    const merkle::Tree& dataset_tree() override { return run_.rows_tree(); }

  private:
    const ToyRun::Step& step_of(std::uint64_t step);

    const ToyRun& run_;
    bool initialisation_;
    std::uint64_t first_step_;
    std::uint64_t last_step_;
    std::vector<canonical::Tensor> before_;
    std::map<std::uint64_t, ToyRun::Step> steps_;
};

/// Plays `id` to its end, the proof made by the challenger. `responder` and `challenger` say what each believes.
/// Returns how many transactions that took.
std::uint32_t play_dispute(
    Chain& chain, const DisputeId& id, const ToyRun& responder, const ToyRun& challenger, const Actor& challenging
);
/// As play_dispute, but stops at the first position of `level`.
std::uint32_t play_until(
    Chain& chain, const DisputeId& id, const ToyRun& responder, const ToyRun& challenger, const Actor& challenging,
    std::optional<dispute::Level> level
);

/// Tile `tile` of tensor `tensor`, modulo their number, of checkpoint `checkpoint` of a task of `run`.
dispute::StateOpening open_toy_tile(
    const ToyRun& run, std::uint32_t checkpoint, std::uint32_t tensor, std::uint64_t tile
);

/// A run without a mistake, made once.
const ToyRun& honest();

/// A toy task whose solver computed `run`, completed in the last block.
TaskId complete_toy_task(Chain& chain, const ToyRun& run);

}  // namespace assay::contracts::test
