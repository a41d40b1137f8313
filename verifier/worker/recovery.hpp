// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <contracts/state/task.hpp>
#include <core/crypto/keys.hpp>
#include <verifier/worker/options.hpp>
#include <verifier/worker/worker_context.hpp>

/// What a worker whose disk is lost has again from the chain, the stores and its key (`assay-worker recover`).
namespace assay::worker {

/// A task in which the account has a duty, or may have to answer for something.
struct RecoveredTask {
    contracts::TaskId task;
    std::string title;
    contracts::TaskState state = contracts::TaskState::kOpen;
    std::uint32_t posted = 0;         ///< checkpoints that the account answers for, or that its next one follows from
    std::uint32_t kept = 0;           ///< of them, from the first on, are in the home now
    std::string missing{};            ///< why the next of them could not be had; empty if all are there
    std::string server{};             ///< of the worker, as the last of them names it: others fetch there
    std::uint32_t due = 0;            ///< segments that the account is drawn for and has committed no verdict on
    std::uint32_t to_open = 0;        ///< of its verdicts, whose openings `verify` makes again by replays
    std::uint32_t disputes = 0;       ///< that the account has opened
    std::vector<std::string> lost{};  ///< what cannot be had again, with what that costs
};

struct Recovery {
    AccountId account;
    std::vector<RecoveredTask> tasks;
    /// Whether everything that the chain names and the stores may have is in the home.
    bool is_whole() const;
};

/// Recovers what concerns the context's account into its journal and its store. Everything is checked against the
/// chain; what the journal has already stays as it is, so a second call goes on where the first stopped. Sends no
/// transaction. For each artifact it waits for `patience`. Throws http::NetError or client::RpcError if the node
/// cannot be asked; JournalError or artifacts::StoreError if the home cannot be written.
Recovery recover(WorkerContext& context, std::chrono::seconds patience);

nlohmann::ordered_json to_json(const Recovery& recovery);
std::string to_text(const Recovery& recovery);

/// `assay-worker recover`: recovers into options.home and prints the result, as JSON if `json`. Returns the exit code.
/// Throws like recover(), and FileError if the credentials of stores are wrong.
int run_recovery(
    const WorkerOptions& options, const crypto::SecretKey& key, std::chrono::seconds patience, bool json,
    const std::atomic<bool>& stop
);

}  // namespace assay::worker
