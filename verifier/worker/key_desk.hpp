// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <contracts/privacy/actions/privacy_actions.hpp>
#include <contracts/state/task.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// What an account owes and does about the keys of private tasks: as a solver it shares them with those who were drawn
/// to judge its work (PRV-4), also while it trains another task, and as a reader it reports keys and chunks that are
/// not the task's (PRV-5, PRV-7).
///
/// All of it reveals secrets, so all of it is based on what the chain has proven, which is a block behind what the node
/// tells. If the two still differ some blocks later, the node lies, or hides blocks: that is told once for each task.
class KeyDesk {
  public:
    explicit KeyDesk(WorkerContext& context) : context_(context) {}
    /// Returns whether something was sent. Throws as the chain does.
    bool attend();

  private:
    /// Shares that were made, and are sent again as they are if no block takes them.
    struct Made {
        std::optional<sealed::TaskKey> key;  ///< of the checkpoints, at that time
        std::vector<contracts::Reader> readers;
        contracts::ShareKeys action;
    };
    /// Since which block the node tells something that the chain has not proven.
    struct Doubt {
        std::uint64_t since = 0;
        bool is_told = false;
    };

    bool share(const contracts::Task& task);
    /// Those who are awaited by what the node tells and by what is proven, as proven; at most as many as one answer
    /// has.
    std::vector<contracts::Reader> proven_readers(const contracts::Task& task);
    bool report_keys(const contracts::Task& task);
    bool report_chunk(const contracts::Task& task);
    /// Notes that the node tells `what`, which the chain has not proven.
    void note_unproven(const contracts::Task& task, const char* what);
    /// Forgets all tasks that have ended.
    void tidy();

    WorkerContext& context_;
    std::set<contracts::TaskId> unable_;  ///< of which it was told that their keys cannot be shared
    std::map<contracts::TaskId, Made> made_;
    std::map<contracts::TaskId, contracts::ReportWrongKeys> reports_;  ///< likewise
    std::map<contracts::TaskId, Doubt> doubts_;
};

/// PRV-7: sends the report that was noted for the task (PrivateTasks::note_wrong_chunk), if it convicts the solver by
/// what the chain has proven. Returns whether it was sent; nullopt if it does not convict. A report reveals the key of
/// a chunk: a node that served another file as the checkpoint's, or named another root, would be told the key of one
/// chunk after another.
std::optional<bool> send_wrong_chunk(WorkerContext& context, const contracts::Task& task);

}  // namespace assay::worker
