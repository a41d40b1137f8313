// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include <verifier/worker/checkpoint_shelf.hpp>
#include <verifier/worker/peer_audit.hpp>
#include <verifier/worker/together_lead.hpp>
#include <verifier/worker/together_member.hpp>
#include <verifier/worker/together_seats.hpp>

namespace assay::worker {

/// A solver's part in groups that compute each step together (GRP-11), as the lead or as another member.
class Together {
  public:
    Together(WorkerContext& context, CheckpointShelf& shelf)
        : context_(context), shelf_(shelf), lead_(context), seats_(context), member_(context), audit_(context) {}

    /// Takes part in the task's sessions while its training goes on, and leaves them afterwards. As the lead, gives the
    /// seats to who comes and stays.
    void attend(const contracts::Task& task);
    /// As the lead, trains a slice of a segment together with the members; nullopt if this machine has to train the
    /// segment alone.
    std::optional<TogetherLead::Progress> train(
        const contracts::Task& task, std::uint32_t segment, std::chrono::milliseconds budget
    );
    /// The state after a segment that is finished.
    std::vector<canonical::Tensor> state(const contracts::TaskId& task) { return lead_.state(task); }
    /// As the lead, ends the session: the segment begins again.
    void restart(const contracts::TaskId& task) { lead_.end(task); }
    void forget(const contracts::TaskId& task);

  private:
    void report_findings(const contracts::Task& task);

    WorkerContext& context_;
    CheckpointShelf& shelf_;
    TogetherLead lead_;
    TogetherSeats seats_;
    TogetherMember member_;
    PeerAudit audit_;
};

}  // namespace assay::worker
