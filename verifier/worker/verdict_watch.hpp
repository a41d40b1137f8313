// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verifier/roles/watch.hpp>
#include <verifier/worker/checker.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// Sends the challenge and reports it. Returns whether it was executed.
bool send_challenge(WorkerContext& context, const contracts::ChallengeVerdict& challenge);

/// Checks the verdicts that others published, and challenges those that our own replays contradict: a probe root by two
/// replays that agree, a verdict by distance by one.
class VerdictWatch {
  public:
    /// Our stake in `role` backs the challenges. A solver checks every verdict on its own tasks, a whistleblower those
    /// that it was drawn to watch or that have no watcher; a verifier only compares them with its own replays.
    VerdictWatch(WorkerContext& context, contracts::Role role) : context_(context), checker_(context), role_(role) {}
    /// Checks the task's verdicts. Returns whether there was something to do.
    bool attend(const contracts::Task& task);

  private:
    roles::VerdictView view_of(const contracts::Task& task, const contracts::Assignment& assignment);
    /// Checks a verdict by distance: replays the segment if it is our duty, and challenges what our replay contradicts.
    bool check_distance(const contracts::Task& task, const contracts::Assignment& assignment);
    bool challenge_part(
        const contracts::Task& task, const contracts::Assignment& assignment, contracts::VerdictPart part,
        const std::optional<contracts::MeasuredRoots>& roots
    );
    bool challenge(const contracts::Task& task, const roles::intent::ChallengeVerdict& intent);

    WorkerContext& context_;
    Checker checker_;
    contracts::Role role_;
};

}  // namespace assay::worker
