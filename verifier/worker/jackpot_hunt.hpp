// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <verifier/worker/workplace.hpp>

namespace assay::worker {

/// Challenges verdicts without a replay, for their jackpots: a free rider those that somebody else has challenged, an
/// insider those that its owner's verifier has kept as forced. The free rider copies the seals as well.
class JackpotHunt {
  public:
    explicit JackpotHunt(Workplace& workplace) : at_(workplace) {}
    /// Whether there was something to do.
    bool attend(const contracts::Task& task);

  private:
    /// Of what others have challenged, or the verifier at our side knows to be forced; less what we have challenged.
    std::vector<contracts::ChallengeVerdict> copied(const contracts::Task& task);
    std::vector<contracts::ChallengeVerdict> betrayed(const contracts::Task& task);

    Workplace& at_;
};

}  // namespace assay::worker
