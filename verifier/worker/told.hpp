// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include <contracts/state/ids.hpp>
#include <verifier/group/findings.hpp>
#include <verifier/group/ledger.hpp>

namespace assay::worker {

/// What other members of groups told this worker (STM-3), by task, in its home. Thread-safe.
class ToldByTask {
  public:
    explicit ToldByTask(const std::filesystem::path& home) : directory_(home / "told") {}

    std::shared_ptr<group::Ledger> of(const contracts::TaskId& task);
    /// Who was found to have told two members different things, in any of the task's sessions, and by an earlier
    /// process if that is not settled.
    std::shared_ptr<group::Findings> findings(const contracts::TaskId& task);
    /// Removes what was told in a task, once nobody can be accused in it any more.
    void forget(const contracts::TaskId& task);

  private:
    std::filesystem::path directory_of(const contracts::TaskId& task) const;

    std::filesystem::path directory_;
    std::mutex mutex_;
    std::map<contracts::TaskId, std::shared_ptr<group::Ledger>> ledgers_;
    std::map<contracts::TaskId, std::shared_ptr<group::Findings>> findings_;
};

}  // namespace assay::worker
