// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include <verifier/worker/workplace.hpp>

namespace assay::worker {

/// Challenges verdicts without a replay, for their jackpots: a free rider those that somebody else has challenged, an
/// insider those that its owner's verifier has kept as forced. A challenge names no result, so there is nothing else
/// that could be copied.
class JackpotHunt {
  public:
    explicit JackpotHunt(Workplace& workplace) : at_(workplace) {}
    /// Whether there was something to do.
    bool attend(const contracts::Task& task);

  private:
    using Subject = std::pair<std::uint32_t, AccountId>;  ///< a segment and who judged it

    /// What others have challenged, or the verifier at our side knows to be forced; less what we have challenged.
    std::set<Subject> copied(const contracts::Task& task);
    std::set<Subject> betrayed(const contracts::Task& task);

    Workplace& at_;
};

}  // namespace assay::worker
