// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>

#include <contracts/arbitration/actions/accusation_actions.hpp>
#include <contracts/state/dispute.hpp>
#include <verifier/group/first_wrong.hpp>
#include <verifier/worker/replay.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

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

/// For group::find_first_wrong().
group::Collecting collecting(EngineReplay& replay);

/// What an accusation says, as an event.
nlohmann::ordered_json event_of(const contracts::Accuse& accuse, std::uint32_t segment);

}  // namespace assay::worker
