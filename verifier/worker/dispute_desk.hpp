// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include <contracts/state/dispute.hpp>
#include <verifier/worker/replay.hpp>
#include <verifier/worker/workplace.hpp>

namespace assay::worker {

/// The kNodes reveals among a dispute's moves, in order: paths of proofs need them.
std::vector<dispute::NodeReveal> node_reveals(const dispute::Claim& claim, const std::vector<contracts::Tx>& moves);

/// Plays this worker's side of its disputes, as responder or challenger. A dishonest worker plays on with what it
/// really computed; since nobody sends a proof that the referee would rule against, its opponent has to.
class DisputeDesk {
  public:
    explicit DisputeDesk(Workplace& workplace) : at_(workplace) {}
    /// Makes the moves that are due in the tasks' disputes, the one whose clock ends first at the beginning; whether any
    /// was made.
    bool attend(const std::vector<contracts::Task>& tasks);

  private:
    std::vector<contracts::Dispute> open_disputes(const std::vector<contracts::Task>& tasks);
    void note_missing(const contracts::Dispute& dispute, const Unavailable& why);
    bool move(const contracts::Task& task, const contracts::Dispute& dispute, const roles::Intent& intent);
    /// Whether DSP-27 lets us end the dispute, if we know that the step in question diverged.
    bool may_show_divergence(const contracts::Dispute& dispute) const;
    bool prove(const contracts::Dispute& dispute, EngineReplay& replay);
    struct Ground;
    /// What a claim is replayed on: nullopt where a state cannot be had.
    std::optional<Ground> ground_of(
        const contracts::Task& task, const contracts::Dispute& dispute, const std::shared_ptr<const Material>& material
    );
    std::optional<Ground> ground_of_report(
        const contracts::Task& task, const contracts::Dispute& dispute, const std::shared_ptr<const Material>& material
    );
    EngineReplay* replay_of(const contracts::Task& task, const contracts::Dispute& dispute);

    Workplace& at_;
    std::map<contracts::DisputeId, std::unique_ptr<EngineReplay>> replays_;
    std::set<contracts::DisputeId> lost_;  ///< where a proof would rule against us
    std::set<contracts::DisputeId> over_;
};

}  // namespace assay::worker
