// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/private_tasks.hpp>

#include <algorithm>
#include <system_error>
#include <utility>
#include <variant>

#include <core/crypto/hash.hpp>
#include <core/sealed/share.hpp>

namespace assay::worker {
namespace {

/// An empty directory that nobody else can read.
std::filesystem::path emptied(const std::filesystem::path& directory) {
    std::error_code error;
    std::filesystem::remove_all(directory, error);
    std::filesystem::create_directories(directory, error);
    if (!error) {
        std::filesystem::permissions(directory, std::filesystem::perms::owner_all, error);
    }
    if (error) {
        throw artifacts::StoreError("cannot create " + directory.string() + ": " + error.message());
    }
    return directory;
}

KeptShare open_shares(const contracts::Task& task, const crypto::SecretKey& key, contracts::KeyShare share) {
    KeptShare out{.standing = Standing::kWrong, .share = std::move(share)};
    const auto of_task = sealed::open_share(key, task.spec.privacy->key, out.share.of_task);
    // PRV-10: a profiler's share is of the task's key alone.
    const bool is_of_both = task.secrecy->key.has_value();
    const auto of_checkpoints =
        is_of_both ? sealed::open_share(key, *task.secrecy->key, out.share.of_checkpoints) : std::nullopt;
    out.is_task_wrong = !of_task;
    if (of_task && of_checkpoints.has_value() == is_of_both) {
        out.standing = Standing::kReadable;
        out.secrets = artifacts::TaskSecrets{.of_task = *of_task, .of_checkpoints = of_checkpoints};
    }
    return out;
}

}  // namespace

const char* to_string(Standing standing) noexcept {
    switch (standing) {
        case Standing::kNotShared:
            return "the task is private, and its keys are not shared with this account";
        case Standing::kOthersKey:
            return "the task is private, and its keys are shared with an operator that this account had before";
        case Standing::kWrong:
            return "the task is private, and the keys that are shared with this account are not the task's";
        case Standing::kReadable:
            return "the task can be read";
    }
    return "";
}

const contracts::SharedKeys* find_shared(const contracts::Task& task, const AccountId& account) {
    if (!task.secrecy) {
        return nullptr;
    }
    const auto& shared = task.secrecy->shared;
    const auto found =
        std::find_if(shared.begin(), shared.end(), [&](const auto& each) { return each.reader.account == account; });
    return found == shared.end() ? nullptr : &*found;
}

PrivateTasks::PrivateTasks(const std::filesystem::path& directory) : store_(emptied(directory)) {}

std::optional<contracts::KeyShare> PrivateTasks::find_share(
    Chain& chain, const contracts::TaskId& task, const contracts::SharedKeys& shared
) {
    for (const contracts::HistoryRecord& record : chain.history(task)) {
        const auto* event = std::get_if<contracts::history::KeysShared>(&record.event);
        if (event == nullptr) {
            continue;
        }
        for (const contracts::KeyShare& share : event->shares) {
            if (share.to == shared.reader.account && crypto::sha256(share.of_task) == shared.of_task &&
                (share.of_checkpoints.empty() ? Hash256{} : crypto::sha256(share.of_checkpoints)) ==
                    shared.of_checkpoints) {
                return share;
            }
        }
    }
    return std::nullopt;
}

const KeptShare& PrivateTasks::share_of(Chain& chain, const contracts::Task& task) {
    const contracts::SharedKeys* const shared = find_shared(task, chain.self());
    if (shared == nullptr || !task.spec.privacy) {
        known_.erase(task.id);  // another solver was drawn, and the keys of the one before are of no use
        return none_;
    }
    Known known{.shared = *shared, .of_task = task.spec.privacy->key, .of_checkpoints = task.secrecy->key, .kept = {}};
    const auto found = known_.find(task.id);
    // By the keys as well: what is wrong by a key that a node has invented is right by the task's.
    if (found != known_.end() && found->second.shared == known.shared && found->second.of_task == known.of_task &&
        found->second.of_checkpoints == known.of_checkpoints) {
        return found->second.kept;
    }
    if (shared->reader.key != chain.signer()) {
        known.kept.standing = Standing::kOthersKey;
    } else if (auto share = find_share(chain, task.id, *shared)) {
        known.kept = open_shares(task, chain.key(), *std::move(share));
    } else {
        return none_;  // the node does not have the history yet
    }
    return known_.insert_or_assign(task.id, std::move(known)).first->second.kept;
}

const artifacts::TaskSecrets* PrivateTasks::secrets(const contracts::TaskId& task) const {
    const auto found = known_.find(task);
    return found == known_.end() || !found->second.kept.secrets ? nullptr : &*found->second.kept.secrets;
}

void PrivateTasks::note_wrong_chunk(contracts::ReportWrongChunk report) {
    const auto known = wrong_chunks_.find(report.task);
    const bool is_known = known != wrong_chunks_.end() && known->second.checkpoint == report.checkpoint &&
                          known->second.evidence.opening == report.evidence.opening;
    if (!is_known) {
        wrong_chunks_.insert_or_assign(report.task, std::move(report));
    }
}

const contracts::ReportWrongChunk* PrivateTasks::wrong_chunk(const contracts::TaskId& task) const {
    const auto found = wrong_chunks_.find(task);
    return found == wrong_chunks_.end() ? nullptr : &found->second;
}

void PrivateTasks::forget(const contracts::TaskId& task) {
    known_.erase(task);
    wrong_chunks_.erase(task);
    const auto opened = opened_.find(task);
    if (opened == opened_.end()) {
        return;
    }
    const std::set<Hash256> names = std::move(opened->second);
    opened_.erase(opened);
    for (const Hash256& name : names) {
        const bool is_shared =
            std::any_of(opened_.begin(), opened_.end(), [&](const auto& other) { return other.second.contains(name); });
        if (!is_shared) {
            store_.remove(name);
        }
    }
}

}  // namespace assay::worker
