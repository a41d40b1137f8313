// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <client/proven_chain.hpp>
#include <core/crypto/keys.hpp>
#include <contracts/state/stake.hpp>
#include <client/rpc_client.hpp>
#include <verifier/worker/pins.hpp>
#include <verifier/worker/reporter.hpp>

namespace assay::worker {

/// The chain as one worker sees it: the tasks that are not over, its own stake, and its transactions. Everything here
/// throws http::NetError or client::RpcError when the node cannot be asked.
class Chain {
  public:
    /// The chain is the one that `home` has pinned, or pins now.
    Chain(const std::string& url, const std::filesystem::path& home, const Pins& pins, crypto::SecretKey key, Reporter& reporter);

    client::RpcClient& rpc() { return rpc_; }
    const AccountId& self() const { return self_; }
    /// Proven against the chain that is pinned, as are parameters and what send() signs on. Throws RpcError "mismatch".
    const contracts::Params& params();
    contracts::Beacon beacon();
    const std::string& chain_id();

    /// Reads the tasks again; what tasks() gave before no longer holds.
    void refresh();
    /// As of the last refresh: those that are not over.
    const std::map<contracts::TaskId, contracts::Task>& tasks() const { return tasks_; }
    /// Those that a refresh found over for the first time, since they were last dropped.
    const std::vector<contracts::Task>& ended() const { return ended_; }
    void drop_ended() { ended_.clear(); }

    std::uint64_t height() const { return height_; }
    Amount free_stake(contracts::Role role);
    /// What is registered for the role (HW-2, TRM-1), and whether no draw falls on it (TASK-6).
    struct Listing {
        contracts::Terms terms;
        std::uint64_t score = 0;
        bool is_unlisted = false;
    };
    Listing listing(contracts::Role role);
    /// In milliseconds since 1970, of the block at `height`.
    std::uint64_t block_time(Height height);
    /// The accounts that the chain may draw in a role.
    std::vector<AccountId> stakers(contracts::Role role);
    /// Free, locked and unbonding, of all roles.
    std::uint64_t total_stake();
    /// A posted checkpoint; cached, since it never changes.
    const contracts::Checkpoint& checkpoint(const contracts::TaskId& task, std::uint32_t index);
    /// The state root that the solver claims after a segment: the checkpoint's, or of the evaluation the score's.
    Hash256 claimed_root(const contracts::Task& task, std::uint32_t segment);
    /// Every history record of a task.
    std::vector<contracts::HistoryRecord> history(const contracts::TaskId& task);

    /// Sends and waits until it is in a block; whether it was executed. What answers a duty costs nothing (DTY-1). What keeps
    /// failing is given up for a while, so that no fee is spent on it in every block.
    bool send(const contracts::Action& action);

  private:
    struct Failures {
        std::uint32_t count = 0;
        std::uint64_t retry_at = 0;  ///< height
    };
    /// What may be read from it in its newest state.
    template <class Read>
    auto proven(Read read);
    client::TxResult submit(const contracts::Action& action);
    bool note_failure(Failures& failures, const contracts::Action& action, const std::string& why);

    client::RpcClient rpc_;
    std::filesystem::path anchor_file_;
    Pins pins_;
    std::optional<client::ProvenChain> proven_;
    crypto::SecretKey key_;
    AccountId self_;
    Reporter& reporter_;
    std::uint64_t height_ = 0;
    std::map<contracts::TaskId, contracts::Task> tasks_;
    std::set<contracts::TaskId> over_;
    std::vector<contracts::Task> ended_;
    std::map<std::pair<contracts::TaskId, std::uint32_t>, contracts::Checkpoint> checkpoints_;
    std::map<Hash256, Failures> failures_;
    std::optional<contracts::Params> params_;
};

}  // namespace assay::worker
