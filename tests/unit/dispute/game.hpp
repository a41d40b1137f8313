// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <core/canonical/executor.hpp>
#include <verifier/compile/program/narrow_moments.hpp>
#include <verifier/compile/program/program.hpp>
#include <core/dispute/bisection.hpp>
#include <core/dispute/player.hpp>
#include <core/dispute/one_step_verifier.hpp>

/// Two parties and small programs, for playing whole disputes in tests.
namespace assay::dispute::testing {

class MemoryRows final : public canonical::RowSource {
  public:
    MemoryRows(canonical::DatasetShape shape, std::uint32_t values);
    canonical::DatasetShape shape() const override { return shape_; }
    Bytes row(std::uint64_t index) const override;

  private:
    canonical::DatasetShape shape_;
    Bytes data_;
};

/// Alters the output of one node at one step; what follows from it follows. Of kCommit, the last node, it alters one
/// tensor of the next state, which is then not what the node before it made.
struct Lie {
    std::uint64_t step = 0;
    std::uint32_t node = 0;
    std::function<void(canonical::Tensor&)> alter;
    std::uint32_t tensor = 0;  ///< of kCommit
};
/// Flips the lowest bit of one element: the smallest lie there is.
Lie flip(std::uint64_t step, std::uint32_t node, std::uint64_t element);
/// Sets one f32 element to 1000: a lie that everything downstream feels.
Lie raise(std::uint64_t step, std::uint32_t node, std::uint64_t element);

struct World {
    canonical::Graph init;
    canonical::Graph step;
    std::shared_ptr<const canonical::RowSource> rows;
    std::vector<canonical::Tensor> state;  ///< before step 0
    std::uint32_t batch_size = 0;
    std::vector<canonical::Tensor> initial{};  ///< what the init graph reads
    ProgramCommitment commitment() const;
};
/// The character model, as small as it gets: every primitive but a second contraction chunk.
World char_world();
/// Two replicas of a small perceptron that exchange gradients by DGC.
World replicas_world();
/// A perceptron whose moments the state holds as bf16 or i8, some of them in two tiles and more.
World moments_world(program::Moments moments);
/// One long contraction over `k` columns (several chunks of 64), then a commit.
World contraction_world(std::uint32_t k);
/// A chain of `nodes` scalings, to have more entries than one reveal holds.
World chain_world(std::uint32_t nodes);
/// A state of `tensors` tensors, each scaled `depth` times in a step; the last of several passes through unchanged.
World wide_world(std::uint32_t tensors, std::uint32_t depth);
/// A state that is squared in each step, from 16 on: step 4 diverges. A second tensor, twice the size, stays as it is.
World squaring_world();
inline constexpr std::uint64_t kSquaringDiverges = 4;
/// chain_world, but the task gives the parameters: the init graph scales one of its two tensors.
World given_world();

/// All tensors of the state before `step`.
std::vector<canonical::Tensor> state_of(Replay& replay, std::uint64_t step);

/// A party's replay by the scalar executor, with the lies that it tells. Goes on where a step diverges.
class ScalarReplay final : public Replay {
  public:
    /// `world.state` is the state before `first_step`.
    ScalarReplay(
        const World& world, bool initialisation, std::uint64_t seed, std::vector<Lie> lies = {},
        std::uint64_t first_step = 0
    );
    Hash256 state_root_after(std::uint64_t step) override;
    const std::vector<canonical::Tensor>& state_before(std::uint64_t step);
    std::size_t state_size(std::uint64_t step) override { return state_before(step).size(); }
    const canonical::Tensor& state_tensor(std::uint64_t step, std::uint32_t index) override {
        // The one that was asked for before is gone then, as it may be.
        if (shown_at_ != std::pair{step, index}) {
            shown_ = state_before(step)[index];
            shown_at_ = {step, index};
        }
        return shown_;
    }
    const canonical::Tensor& node_output(std::uint64_t step, std::uint32_t node) override;
    std::optional<std::uint64_t> diverged_at() override;
    const canonical::Graph& graph() override { return initialisation_ ? world_.init : world_.step; }
    const canonical::RowSource& rows() override { return *world_.rows; }
    const merkle::Tree& dataset_tree() override { return rows_tree_; }

  private:
    void run(std::uint64_t step);

    const World& world_;
    bool initialisation_;
    std::uint64_t seed_;
    std::vector<Lie> lies_;
    canonical::Tensor shown_{};
    std::optional<std::pair<std::uint64_t, std::uint32_t>> shown_at_{};
    merkle::Tree rows_tree_;
    std::map<std::uint64_t, std::vector<canonical::Tensor>> states_;  // before step
    std::map<std::uint64_t, std::vector<canonical::Tensor>> outputs_;
    std::optional<std::uint64_t> diverged_at_;
};

Hash256 root_of(const std::vector<canonical::Tensor>& state);

/// A claim that its last step diverges.
Claim make_diverging_claim(const World& world, Replay& responder, std::uint64_t first_step, std::uint32_t step_count);

Claim make_claim(
    const World& world, Replay& responder, bool initialisation, std::uint64_t first_step, std::uint32_t step_count,
    std::uint64_t seed
);

/// A whole dispute, played by the book on both sides.
struct Outcome {
    Ruling ruling = Ruling::kClaimHolds;
    Position position;
    Proof proof;
    std::size_t bytes = 0;  ///< Borsh bytes of all moves and the proof
};
Outcome play(const Claim& claim, Replay& responder, Replay& challenger, bool challenger_proves);

}  // namespace assay::dispute::testing
