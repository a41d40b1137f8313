// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <consensus/light/light_block.hpp>
#include <contracts/state/account.hpp>
#include <contracts/state/history.hpp>
#include <contracts/state/task.hpp>
#include <client/audit_file.hpp>
#include <client/signed_header.hpp>

namespace assay::client {

/// What a file shows, all of it verified.
struct AuditFacts {
    AuditSubject subject;
    Height height;
    Hash256 app_hash;
    std::int64_t signed_at_s = 0;  ///< Unix time of the block that carries the app hash
    AccountId proposer;            ///< with the embedded engine: who signed the blocks
    bool is_signer_known = false;  ///< false: who may sign is the file's word
    struct Task {
        contracts::Task task;
        std::vector<contracts::HistoryRecord> records;
    };
    std::vector<Task> tasks;
    std::optional<contracts::Account> account;  ///< of an account's file
    /// Of the blocks in the file, with the embedded engine or of a chain's file.
    std::map<Height, std::uint64_t> block_times_ms;
    std::optional<Hash256> genesis;  ///< of a chain's file: the app hash that block 1 carries
    std::uint64_t slots = 0;
    std::uint64_t blocks = 0;
    std::uint64_t records = 0;
};

/// Verifies every member of the file: the signatures of its blocks by `trust`, each slot's proof against the app hash
/// that the last block carries, each history against the root in its task's slot, and that nothing is missing or too
/// many. That no task is missing is shown for a whole chain only. Throws Mismatch naming the first part that is wrong.
AuditFacts check_audit_file(const AuditFile& file, const Trust& trust);

/// Returns the tasks that a block's transactions submit, executed or not.
std::vector<contracts::TaskId> submitted_tasks(const std::vector<Bytes>& txs);
/// Returns true if these are the transactions that the header of a CometBFT block commits to (LGT-8).
bool are_txs_of(const light::Header& header, const std::vector<Bytes>& txs);

}  // namespace assay::client
