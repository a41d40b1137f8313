// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <contracts/state/task.hpp>
#include <verifier/artifacts/store.hpp>
#include <verifier/worker/journal.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// When the files of a task that has ended at `now_s` (Unix time in seconds) may be deleted.
Journal::Times retention_of(const contracts::Task& task, const KeepOptions& keep, std::uint64_t now_s);

/// Returns the files whose time has come.
std::vector<Journal::File> due_files(const Journal& journal, std::uint64_t now_s);

/// Deletes the file from the store, unless another task has the same artifact, and then its row from the journal: who
/// is killed in between deletes it again. Returns how many bytes were freed. Throws JournalError.
std::uint64_t free_file(Journal& journal, const artifacts::ContentStore& store, const Journal::File& file);

/// Deletes what this worker made for tasks that are over, when nobody can need it of this worker any more. Files that
/// the journal does not name, such as those that were put into the store by hand, stay.
class StoreKeeper {
  public:
    explicit StoreKeeper(WorkerContext& context) : context_(context) {}
    /// The task has ended: forgets what only its duties needed. Throws JournalError.
    void retire(const contracts::Task& task);
    /// Looks now and then whether files may be deleted, asks the chain about their tasks, and reports what was freed.
    /// Throws JournalError or http::NetError.
    void tidy();

  private:
    /// No dispute of the task is open; of a result, nobody pays for keeping it and no task that was built upon it runs.
    bool may_free(const contracts::TaskId& task, bool is_result);

    WorkerContext& context_;
    std::optional<std::chrono::steady_clock::time_point> tidied_at_{};
    std::map<contracts::TaskId, std::uint64_t> asked_at_;  ///< when the chain said that a task's files are needed
};

}  // namespace assay::worker
