// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verifier/roles/watch.hpp>
#include <verifier/worker/checker.hpp>
#include <verifier/worker/workplace.hpp>

namespace assay::worker {

/// Sends the challenge and reports it; whether it was executed.
bool send_challenge(Workplace& at, const contracts::ChallengeVerdict& challenge);

/// Looks at the verdicts that others published, and challenges those that two replays of ours contradict.
class VerdictWatch {
  public:
    /// Challenges are backed by our stake in `role`. A solver looks at every verdict on its own tasks, a whistleblower at
    /// those that it was drawn to watch; anyone else compares with what it has replayed anyway. A
    /// dishonest worker's replays are worth nothing, and it looks at none.
    VerdictWatch(Workplace& workplace, contracts::Role role) : at_(workplace), checker_(workplace), role_(role) {}
    /// Whether there was something to do.
    bool attend(const contracts::Task& task);

  private:
    roles::VerdictView view_of(const contracts::Task& task, const contracts::Assignment& assignment);
    /// Of a verdict by distance: replays the segment where that is a duty, and challenges what our own replay contradicts.
    bool check_distance(const contracts::Task& task, const contracts::Assignment& assignment);
    bool challenge_part(
        const contracts::Task& task, const contracts::Assignment& assignment, contracts::VerdictPart part,
        const std::optional<contracts::MeasuredRoots>& roots
    );
    bool challenge(const contracts::Task& task, const roles::intent::ChallengeVerdict& intent);

    Workplace& at_;
    Checker checker_;
    contracts::Role role_;
};

}  // namespace assay::worker
