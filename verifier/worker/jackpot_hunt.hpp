// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// Dishonest strategies that challenge verdicts for their jackpots without a replay. A free rider copies other parties'
/// challenges, seals included; an insider challenges the verdicts that its owner's verifier has kept as forced.
class JackpotHunt {
  public:
    explicit JackpotHunt(WorkerContext& context) : context_(context) {}
    /// Sends challenges for the task. Returns whether one was sent.
    bool attend(const contracts::Task& task);

  private:
    /// Challenges copied from others (copied) or of verdicts that our owner's verifier knows to be forced (betrayed),
    /// without those that we have challenged already.
    std::vector<contracts::ChallengeVerdict> copied(const contracts::Task& task);
    std::vector<contracts::ChallengeVerdict> betrayed(const contracts::Task& task);

    WorkerContext& context_;
};

}  // namespace assay::worker
