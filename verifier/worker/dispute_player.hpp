// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <vector>

#include <contracts/state/dispute.hpp>
#include <verifier/roles/order.hpp>
#include <verifier/worker/answers.hpp>
#include <verifier/worker/measuring.hpp>
#include <verifier/worker/replay.hpp>
#include <verifier/worker/shared_replays.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// Returns the node-level (kNodes) reveals among a dispute's moves, in order. Proofs need them for their Merkle paths.
std::vector<dispute::NodeReveal> node_reveals(const dispute::Claim& claim, const std::vector<contracts::Tx>& moves);

/// Plays this worker's side of its disputes, as responder or challenger. A worker defends what it really
/// computed. No party sends a proof that the one-step verifier would rule against, so the opponent has to send it.
class DisputePlayer {
  public:
    explicit DisputePlayer(WorkerContext& context) : context_(context), answers_(context) {}
    /// Makes the moves that are due in the tasks' disputes, earliest deadline first. Returns whether any move was made,
    /// or a replay was left for a move that is due earlier.
    bool attend(const std::vector<contracts::Task>& tasks);

    static constexpr std::chrono::seconds kLook{2};

  private:
    /// A replay was left between two steps.
    struct Preempted {};
    /// Throws Preempted if a move of ours has become due before that of the dispute that is played, or that dispute has
    /// ended. Asks the node every kLook.
    void give_way();
    /// Frees what was kept for disputes that have ended. Not while one is played.
    void forget_ended();
    /// The disputes in which a move of ours is due, or we may show a divergence, earliest deadline first.
    std::vector<contracts::Dispute> due_disputes(const std::vector<contracts::Task>& tasks);
    std::vector<contracts::Dispute> open_disputes(const std::vector<contracts::Task>& tasks);
    void note_missing(const contracts::Dispute& dispute, const Unavailable& why);
    bool move(const contracts::Task& task, const contracts::Dispute& dispute, const roles::Intent& intent);
    /// Whether DSP-27 allows us to end the dispute by proving divergence, if our replay knows that the disputed step
    /// diverged.
    bool may_show_divergence(const contracts::Dispute& dispute) const;
    /// STM-9: answers for what is disputed by accusing whoever misled us, if somebody did.
    bool answer(const contracts::Task& task, const contracts::Dispute& dispute, EngineReplay& replay);
    bool prove(const contracts::Dispute& dispute, EngineReplay& replay);
    /// The canonical state after the segment. Serves urgent duties meanwhile; throws std::runtime_error when the worker
    /// is stopped.
    States replay_segment(
        const std::shared_ptr<const TaskArtifacts>& artifacts, std::uint32_t segment, const States& before
    ) const;
    struct Ground;
    /// The artifacts, start state and alteration for replaying a claim; nullopt if a state is not available.
    std::optional<Ground> ground_of(
        const contracts::Task& task, const contracts::Dispute& dispute,
        const std::shared_ptr<const TaskArtifacts>& artifacts
    );
    std::optional<Ground> ground_of_report(
        const contracts::Task& task, const contracts::Dispute& dispute,
        const std::shared_ptr<const TaskArtifacts>& artifacts
    );
    std::shared_ptr<EngineReplay> replay_of(const contracts::Task& task, const contracts::Dispute& dispute);

    WorkerContext& context_;
    SharedReplays replays_;
    Answers answers_;
    std::set<contracts::DisputeId> lost_;  ///< disputes in which our proof would rule against us
    std::set<contracts::DisputeId> over_;
    std::vector<contracts::DisputeId> ended_;  ///< of them, those whose replays are still there
    std::set<contracts::TaskId> attended_;
    contracts::DisputeId playing_;
    std::set<roles::Turn> tried_;  ///< since attend() was called
    std::chrono::steady_clock::time_point looked_at_{};
};

}  // namespace assay::worker
