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

/// The chain as a worker sees it: open tasks, its own stake and its transactions. Functions that ask the node throw
/// http::NetError or client::RpcError if that fails.
class Chain {
  public:
    /// Uses the chain that `home` has pinned; pins one on first use if there is none, subject to `pins`. The worker
    /// signs with `key`, and acts for `owner` if there is one (OPR-2).
    Chain(
        const client::NodeAddress& node, const std::filesystem::path& home, const Pins& pins,
        const crypto::SecretKey& key, const std::optional<AccountId>& owner, Reporter& reporter
    );

    client::RpcClient& rpc() { return rpc_; }
    /// Whose stakes, duties and earnings they are: the owner, or the key's account.
    const AccountId& self() const { return owner_ ? *owner_ : signer_; }
    /// The key's account, which pays the fees.
    const AccountId& signer() const { return signer_; }
    /// OPR-5: whether this key may act for self() now, on the node's word.
    bool may_act();
    /// Params, beacon and chain id are proven against the pinned chain, as is the account data that send() signs on.
    /// Throw RpcError "mismatch" if a proof does not match.
    const contracts::Params& params();
    contracts::Beacon beacon();
    const std::string& chain_id();

    /// Reloads the tasks and the height. Invalidates references into tasks().
    void refresh();
    /// Tasks that had not ended at the last refresh, without the verdicts that a cut has dropped.
    const std::map<contracts::TaskId, contracts::Task>& tasks() const { return tasks_; }
    /// Tasks that refresh() found to have ended and that drop_ended() has not dropped.
    const std::vector<contracts::Task>& ended() const { return ended_; }
    /// Whether a task of ended() was open at an earlier refresh(); else it ended before this process looked.
    bool was_open(const contracts::TaskId& task) const { return were_open_.contains(task); }
    void drop_ended(const contracts::TaskId& task);
    /// Tasks whose results this account keeps (RET-2). Each is in ended() twice: when it was paid for, and when it has
    /// ended.
    const std::map<contracts::TaskId, contracts::Task>& kept() const { return kept_; }
    /// Whether a task that was built upon this one, directly or not, has not ended.
    bool has_open_descendants(const contracts::TaskId& task);

    std::uint64_t height() const { return height_; }
    /// The node's last block, and the time between two that it is configured with.
    struct Look {
        std::uint64_t height = 0;
        std::uint64_t time_ms = 0;  ///< since 1970, of the block
        std::uint64_t block_interval_ms = 0;
    };
    Look look();
    Amount free_stake(contracts::Role role);
    /// What is registered for the role (HW-2, TRM-1), and what hinders the account from being drawn.
    struct Listing {
        contracts::Terms terms;
        std::uint64_t score = 0;
        bool is_unlisted = false;  ///< TASK-6
        Amount free{};
        std::uint64_t declined_until = 0;  ///< TASK-15: height; 0: it has declined nothing of late
    };
    Listing listing(contracts::Role role);
    /// Time of the block at `height`, in milliseconds since 1970.
    std::uint64_t block_time(Height height);
    /// Returns the accounts that the chain may draw in a role.
    std::vector<AccountId> stakers(contracts::Role role);
    /// Sum of free, locked and unbonding stake over all roles.
    std::uint64_t total_stake();
    /// The task's record in the last state that is proven, a block before the newest; nullopt if it has none.
    std::optional<contracts::Task> proven_task(const contracts::TaskId& task);
    /// Likewise a checkpoint of it.
    std::optional<contracts::Checkpoint> proven_checkpoint(const contracts::TaskId& task, std::uint32_t index);
    /// Returns a posted checkpoint; cached, since it never changes.
    const contracts::Checkpoint& checkpoint(const contracts::TaskId& task, std::uint32_t index);
    /// Returns the root that the solver claims after a segment: the checkpoint's state root, or the score's root for
    /// the evaluation.
    Hash256 claimed_root(const contracts::Task& task, std::uint32_t segment);
    /// Returns all history records of a task.
    std::vector<contracts::HistoryRecord> history(const contracts::TaskId& task);

    /// For what is signed to others off the chain. An operator's key signs nothing that members of a group look at.
    const crypto::SecretKey& key() const { return key_; }
    /// Signs a claim with that key (BIP-340).
    Signature sign(const Hash256& claim) const { return key_.sign(claim.view()); }
    /// Sends a transaction and waits until it is in a block. Returns whether it was executed. Answers to duties are
    /// free (DTY-1). After repeated failures the same action is paused for some blocks, to avoid a fee in every block.
    bool send(const contracts::Action& action);

  private:
    struct Failures {
        std::uint32_t count = 0;
        std::uint64_t retry_at = 0;  ///< block height
    };
    /// Calls `read` on the proven chain at its newest state. Throws RpcError.
    template <class Read>
    auto proven(Read read);
    client::TxResult submit(const contracts::Action& action);
    bool note_failure(Failures& failures, const contracts::Action& action, const std::string& why);

    client::RpcClient rpc_;
    std::filesystem::path anchor_file_;
    Pins pins_;
    std::optional<client::ProvenChain> proven_;
    crypto::SecretKey key_;
    AccountId signer_;
    std::optional<AccountId> owner_;
    Reporter& reporter_;
    std::uint64_t height_ = 0;
    std::map<contracts::TaskId, contracts::Task> tasks_;
    std::map<contracts::TaskId, contracts::Task> kept_;
    std::set<contracts::TaskId> over_;
    std::vector<contracts::Task> ended_;
    std::set<contracts::TaskId> were_open_;  ///< of ended_
    std::map<std::pair<contracts::TaskId, std::uint32_t>, contracts::Checkpoint> checkpoints_;
    std::map<Hash256, Failures> failures_;
    std::optional<contracts::Params> params_;
    std::uint64_t params_at_ = 0;  ///< height at which `params_` were read
};

}  // namespace assay::worker
