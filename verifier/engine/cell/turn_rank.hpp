// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <core/canonical/executor.hpp>
#include <verifier/engine/backend/options.hpp>
#include <verifier/engine/cell/collective.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/plan/turns.hpp>

namespace assay::engine::cell {

/// What became of one step of a turn.
struct TurnStep {
    bool diverged = false;
    float loss = 0.0F;
};

/// What a rank does in a round: turns of the replicas that are its own, which are those whose number modulo the number
/// of ranks is the rank's. It has the common tensors, the worked ones, and what is its replicas' own.
class TurnRank {
  public:
    /// Throws std::runtime_error if the program has no turns. `program` and `collective` must outlive it.
    TurnRank(
        const program::Program& program, std::shared_ptr<const canonical::RowSource> rows, Collective& collective,
        const EngineOptions& options
    );

    const plan::Turns& turns() const { return turns_; }
    std::uint32_t rank_of(std::uint32_t replica) const { return replica % collective_.size(); }
    /// Whose own a tensor is; nothing if it is every rank's.
    std::optional<std::uint32_t> owner_of(std::size_t tensor) const;
    bool has(std::size_t tensor) const;
    std::uint64_t state_bytes() const;

    /// Replaces a tensor, before any turn.
    void set_tensor(std::size_t index, canonical::Tensor tensor);
    /// A tensor that this rank has, when only `turns_begun` turns of the round have begun: later ones may have.
    canonical::Tensor tensor(std::size_t index, std::uint32_t turns_begun);
    /// The replica among those from `first` on whose turn this rank takes while the others take theirs, if there is
    /// one.
    std::optional<std::uint32_t> own_turn_from(std::uint32_t first) const;
    /// Runs a step of the turn of an own replica.
    TurnStep run_step(std::uint32_t replica, const canonical::StepContext& context);
    /// Exchanges what the replicas send, and makes the next common tensors; `context` is that of the round's
    /// last step, which has been run. All ranks call it, and all fail if the step diverges after all; what the last
    /// replica has is then as it was before the step.
    Result<void, canonical::StepError> end_round(const canonical::StepContext& context);

  private:
    struct Part {
        plan::PartialGraph graph;
        std::unique_ptr<Engine> engine;
    };
    /// Of a turn's last step, in the round at this place of a cycle; or of its other steps.
    Part& part_of(std::uint32_t replica, std::optional<std::uint32_t> last_of);
    Part make_part(plan::PartialGraph graph, bool has_loss) const;
    /// Moves the tensors that the part needs into its engine.
    void load(Part& part);
    /// Moves what an engine has back.
    void unload();
    void begin_turn(std::uint32_t replica);
    Result<void, canonical::StepError> run(Part& part, const canonical::StepContext& context);
    void exchange_sent(std::uint32_t place);

    const program::Program& program_;
    std::shared_ptr<const canonical::RowSource> rows_;
    Collective& collective_;
    EngineOptions options_;
    plan::Turns turns_;
    program::StepKinds kinds_;
    std::vector<std::optional<canonical::Tensor>> held_;  // of the state, what is not in an engine
    std::map<std::pair<std::uint32_t, std::optional<std::uint32_t>>, Part> parts_;
    std::map<std::uint32_t, Part> ends_;  // of the rounds of a cycle
    Part* loaded_ = nullptr;
    using Tensors = std::map<std::size_t, canonical::Tensor>;
    std::map<std::uint32_t, Tensors> before_;  // what replicas had before their turns of this round
    Tensors before_last_;                      // and the last one before its last step
};

}  // namespace assay::engine::cell
