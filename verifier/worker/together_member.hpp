// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include <verifier/worker/together_session.hpp>

namespace assay::worker {

/// A member of groups that compute each step together (GRP-11), other than the lead. It executes its part of the steps
/// in a thread for each task, while the worker's own thread answers for the account on the chain.
class TogetherMember {
  public:
    explicit TogetherMember(WorkerContext& context);
    ~TogetherMember();
    TogetherMember(const TogetherMember&) = delete;
    TogetherMember& operator=(const TogetherMember&) = delete;

    /// Takes part in the task's sessions until end(), however often they break off. Call it again and again: it notes
    /// when the task's members change, and fetches the state that the next segment begins with, before which it signs
    /// nothing of that segment.
    void serve(const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts);
    bool serves(const contracts::TaskId& task) const { return serving_.contains(task); }
    /// Takes part in no further session of the task. The one that goes on ends when its lead ends it.
    void finish(const contracts::TaskId& task);
    /// Leaves the task's session, if there is one. Waits for the step that is computed.
    void end(const contracts::TaskId& task);

  private:
    class Serving;
    void fetch_first_state(const contracts::Task& task, const TaskArtifacts& artifacts, Serving& serving);

    WorkerContext& context_;
    std::map<contracts::TaskId, std::unique_ptr<Serving>> serving_;
};

}  // namespace assay::worker
