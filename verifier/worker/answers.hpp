// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <contracts/arbitration/actions/accusation_actions.hpp>
#include <contracts/state/dispute.hpp>
#include <verifier/group/first_wrong.hpp>
#include <verifier/worker/replay.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// The disputes of those that stand still until an accusation has ended that answers them (STM-9).
std::set<contracts::DisputeId> answered(const std::vector<contracts::Dispute>& open);

/// STM-9: a member of a group that computes each step together answers for a disputed claim, or for a statement of its
/// own, by accusing whoever misled it.
class Answers {
  public:
    explicit Answers(WorkerContext& context) : context_(context) {}

    /// Whether this worker may answer the dispute by an accusation, now that it is its move.
    bool may_answer(const contracts::Task& task, const contracts::Dispute& dispute) const;
    /// The accusation of whoever was the first to tell this worker something else than `replay` has; nullopt if nobody
    /// was before what is disputed, which is then its own fault. Each dispute is searched once.
    std::optional<contracts::Accuse> find(
        const contracts::Task& task, const contracts::Dispute& dispute, EngineReplay& replay
    );
    void forget(const contracts::DisputeId& dispute) { own_.erase(dispute); }

  private:
    WorkerContext& context_;
    std::set<contracts::DisputeId> own_;  ///< disputes in which nobody has misled this worker
};

/// The accusation of whoever has signed the piece; nullopt if that is none of the task's members, or is `self`. The
/// rank in the session says nothing about who it was. `segment` is the claim of the whole segment, `replay` this
/// worker's own execution of it.
std::optional<contracts::Accuse> accuse(
    const contracts::Task& task, const std::string& chain_id, const AccountId& self, const dispute::Claim& segment,
    const group::WrongPiece& wrong, dispute::Replay& replay
);

/// What an accusation says, as an event.
nlohmann::ordered_json event_of(const contracts::Accuse& accuse, std::uint32_t segment);

}  // namespace assay::worker
