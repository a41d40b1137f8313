// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>

#include <contracts/state/task.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// What an account owes and does about the keys of private tasks: as a solver it shares them with those who were drawn
/// to judge its work (PRV-4), also while it trains another task, and as a reader it reports keys that are not the
/// task's (PRV-5).
class KeyDesk {
  public:
    explicit KeyDesk(WorkerContext& context) : context_(context) {}
    /// Returns whether something was sent. Throws as the chain does.
    bool attend();

  private:
    bool share(const contracts::Task& task);
    bool report_wrong(const contracts::Task& task);

    WorkerContext& context_;
    std::set<contracts::TaskId> unable_;  ///< of which it was told that their keys cannot be shared
};

}  // namespace assay::worker
