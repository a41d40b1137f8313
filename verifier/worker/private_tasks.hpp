// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include <contracts/privacy/actions/privacy_actions.hpp>
#include <contracts/state/task.hpp>
#include <core/base/bytes.hpp>
#include <verifier/artifacts/store.hpp>
#include <verifier/artifacts/task_secrets.hpp>
#include <verifier/worker/chain.hpp>

namespace assay::worker {

/// The directory in a worker's home with what is opened of private tasks.
inline constexpr const char* kPrivateName = "private";

/// What an account can read of a private task.
enum class Standing : std::uint8_t {
    kNotShared = 1,  ///< its keys are not shared with this account, or not yet
    kOthersKey = 2,  ///< they are shared with this account, for another operator's key than this one
    kWrong = 3,      ///< what is shared are other keys than the task's (PRV-5)
    kReadable = 4,
};
const char* to_string(Standing standing) noexcept;

/// What the task's record says of the keys that are shared with the account; nullptr if none are.
const contracts::SharedKeys* find_shared(const contracts::Task& task, const AccountId& account);

/// What was shared with this account, as the history has it.
struct KeptShare {
    Standing standing = Standing::kNotShared;
    std::optional<artifacts::TaskSecrets> secrets{};  ///< present if and only if the task is readable
    contracts::KeyShare share{};                      ///< unless it is not shared
    bool is_task_wrong = false;                       ///< which of the two keys is wrong, if one is
};

/// The private tasks that this account can read. Keys are in memory only: the chain's history has the shares, which
/// this account's key opens. What is opened of their artifacts lies in a directory of its own that only this user can
/// read and that is never served; it is emptied when the process begins, and of each task when that has ended.
class PrivateTasks {
  public:
    /// Throws artifacts::StoreError.
    explicit PrivateTasks(const std::filesystem::path& directory);

    /// What is shared with the chain's account now. Reads the task's history when that has changed; throws as the
    /// chain does.
    const KeptShare& share_of(Chain& chain, const contracts::Task& task);
    /// The keys that share_of() has found; nullptr if the task was not readable then.
    const artifacts::TaskSecrets* secrets(const contracts::TaskId& task) const;

    /// Keeps the report of a chunk that was not its checkpoint's when that was opened, so that it can be sent once the
    /// chain has proven the checkpoint. Of one chunk the first report stays; another one replaces it.
    void note_wrong_chunk(contracts::ReportWrongChunk report);
    /// nullptr if none was found.
    const contracts::ReportWrongChunk* wrong_chunk(const contracts::TaskId& task) const;

    const artifacts::ContentStore& store() const { return store_; }
    /// Says that the store has this artifact for the task.
    void note(const contracts::TaskId& task, const Hash256& artifact) { opened_[task].insert(artifact); }
    /// Deletes what is known and opened of the task.
    void forget(const contracts::TaskId& task);

  private:
    struct Known {
        contracts::SharedKeys shared;  ///< what it was found for, and the task's two keys
        sealed::TaskKey of_task;
        std::optional<sealed::TaskKey> of_checkpoints;
        KeptShare kept;
    };
    std::optional<contracts::KeyShare> find_share(
        Chain& chain, const contracts::TaskId& task, const contracts::SharedKeys& shared
    );

    artifacts::ContentStore store_;
    std::map<contracts::TaskId, Known> known_;
    std::map<contracts::TaskId, std::set<Hash256>> opened_;
    std::map<contracts::TaskId, contracts::ReportWrongChunk> wrong_chunks_;
    KeptShare none_;
};

}  // namespace assay::worker
