// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <core/crypto/keys.hpp>
#include <contracts/stake/stake.hpp>
#include <net/rpc_client.hpp>
#include <verifier/worker/reporter.hpp>

namespace assay::worker {

/// The chain as one worker sees it: the tasks that are not over, its own stake, and its transactions. Everything here
/// throws net::NetError or net::RpcError when the node cannot be asked.
class Chain {
  public:
    Chain(const std::string& url, crypto::SecretKey key, Reporter& reporter);

    net::RpcClient& rpc() { return rpc_; }
    const AccountId& self() const { return self_; }
    const contracts::Params& params();

    /// Reads the tasks again.
    void refresh();
    /// As of the last refresh: those that are not over.
    const std::map<contracts::TaskId, contracts::Task>& tasks() const { return tasks_; }
    /// Those that were over for the first time at the last refresh.
    const std::vector<contracts::Task>& ended() const { return ended_; }

    std::uint64_t height() const { return height_; }
    Amount free_stake(contracts::Role role);
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

    /// Sends and waits until it is in a block; whether it was executed. What keeps failing is given up for a while,
    /// so that no fee is spent on it in every block.
    bool send(const contracts::Action& action);

  private:
    struct Failures {
        std::uint32_t count = 0;
        std::uint64_t retry_at = 0;  ///< height
    };
    bool note_failure(Failures& failures, const contracts::Action& action, const std::string& why);

    net::RpcClient rpc_;
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
