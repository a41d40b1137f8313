// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <core/base/result.hpp>
#include <consensus/refusal.hpp>
#include <consensus/solo/block.hpp>
#include <consensus/state_machine.hpp>
#include <contracts/chain/chain.hpp>
#include <node/api/listings.hpp>

/// What the RPC server may ask of a running node. Implementations are thread-safe. All of one answer comes from the
/// same committed height.
namespace assay::node {

enum class LastStop : std::uint8_t { kFirstStart = 1, kClean = 2, kUnclean = 3 };

struct NodeStatus {
    std::string chain_id;
    Hash256 genesis_hash;  ///< the app hash of the state before block 1
    std::string engine;    ///< "solo" or "cometbft"
    Height height;
    Hash256 app_hash;
    std::uint64_t time_ms = 0;  ///< of the last block
    AccountId proposer;         ///< the account that signs the blocks; zero if many validators sign them
    std::uint64_t mempool_txs = 0;
    std::uint64_t mempool_bytes = 0;
    std::uint64_t block_interval_ms = 0;
    Height first_state;    ///< states, and proofs from them, are available from this height on
    Height first_block;    ///< blocks and their transactions are available from this one on
    Height first_history;  ///< the history of tasks and disputes is available from this block on
    LastStop last_stop = LastStop::kFirstStart;
    std::uint64_t uptime_s = 0;
};

struct StoredBlock {
    Height height;
    Hash256 hash;
    std::optional<Hash256> parent;  ///< nullopt: this is the first block that is available
    std::uint64_t time_ms = 0;
    AccountId proposer;
    Hash256 parent_app_hash;
    Hash256 app_hash;  ///< of the state after this block
    std::vector<Bytes> txs;
    std::vector<contracts::Receipt> receipts;
    /// Only with the embedded engine: the block as its proposer signed it.
    std::optional<solo::Block> signed_block;
};

struct StoredTx {
    Bytes bytes;
    Height height;
    std::uint32_t index = 0;  ///< within the block
    contracts::Receipt receipt;
};

/// A transaction that made a move in a dispute. The opening counts as a move.
struct DisputeMove {
    Hash256 tx;
    Height height;
    std::string action;
    std::uint32_t size_bytes = 0;
};

class NodeApi {
  public:
    virtual ~NodeApi() = default;
    virtual NodeStatus status() const = 0;
    virtual contracts::Params params() const = 0;
    /// Checks a transaction and queues it. Returns its hash at once, or why it was refused; it is executed in a later
    /// block.
    virtual Result<Hash256, consensus::Refusal> submit(Bytes tx) = 0;
    /// Waits until a block later than `after` is committed, at most `timeout`. Returns the last committed height.
    virtual Height wait_for_block(Height after, std::chrono::milliseconds timeout) = 0;
    /// Returns a committed block, or nullopt if it does not exist yet. Throws consensus::HeightNotKept if it was
    /// pruned.
    virtual std::optional<StoredBlock> block(Height height) const = 0;
    /// Returns Borsh(light::LightBlock), which is what the validators signed of a block; nullopt under the embedded
    /// engine or if there is no such block. Throws consensus::HeightNotKept if it was pruned; also throws if the engine
    /// cannot be asked.
    virtual std::optional<Bytes> light_block(Height height) const = 0;
    virtual std::optional<StoredTx> tx(const Hash256& hash) const = 0;
    virtual bool in_mempool(const Hash256& tx) const = 0;
    /// Returns a slot of the last committed state by its key (contracts::keys); nullopt: it is empty.
    virtual std::optional<Bytes> state(const Bytes& key) const = 0;
    /// Returns a slot with its proof, at `height` or at the last height. Throws consensus::HeightNotKept.
    virtual consensus::QueryResult prove(const Bytes& key, std::optional<Height> height) const = 0;
    /// Returns the nonce for the account's next transaction, counting its pending transactions in the mempool.
    virtual std::uint64_t next_nonce(const AccountId& account) const = 0;
    virtual Page<contracts::HistoryRecord> task_history(
        const contracts::TaskId& task, std::uint64_t from, std::uint32_t limit
    ) const = 0;
    virtual Page<contracts::TaskId> tasks(std::uint64_t from, std::uint32_t limit, Order order)
        const = 0;  ///< oldest first
    virtual Page<StoredTx> account_history(const AccountId& account, std::uint64_t from, std::uint32_t limit)
        const = 0;  ///< transactions it sent, oldest first
    virtual Page<contracts::DisputeId> disputes(
        const std::optional<contracts::TaskId>& task, std::uint64_t from, std::uint32_t limit, Order order
    ) const = 0;
    virtual std::vector<DisputeMove> dispute_moves(const contracts::DisputeId& dispute) const = 0;
    /// Returns how many microseconds this node took to judge the dispute's proof, or nullopt if it judged none.
    virtual std::optional<double> one_step_us(const contracts::DisputeId& dispute) const = 0;
    /// Returns what happened in all tasks, oldest first; with `account` only what names it.
    virtual Page<contracts::HistoryRecord> events(
        const std::optional<AccountId>& account, std::uint64_t from, std::uint32_t limit, Order order
    ) const = 0;
    /// Returns everything that happened in tasks with one block, in order.
    virtual std::vector<contracts::HistoryRecord> events_of(Height height) const = 0;
    /// Returns what the account was paid, oldest first.
    virtual Page<Payment> payments(const AccountId& account, std::uint64_t from, std::uint32_t limit, Order order)
        const = 0;
    /// Returns the changes of validators, oldest first; with `account` only its own.
    virtual Page<ValidatorChange> validator_changes(
        const std::optional<AccountId>& account, std::uint64_t from, std::uint32_t limit
    ) const = 0;
    /// Returns what validators were punished for; with `account` only its own.
    virtual Page<ValidatorPenalty> validator_penalties(
        const std::optional<AccountId>& account, std::uint64_t from, std::uint32_t limit, Order order
    ) const = 0;
    /// Returns the fees of `count` blocks up to `last`, the latest first; fewer if earlier ones are not available.
    virtual std::vector<BlockFees> fees(Height last, std::uint32_t count) const = 0;
    /// Returns at most `limit` things whose id begins with `prefix`, transactions last.
    virtual std::vector<Named> search(const IdPrefix& prefix, std::uint32_t limit) const = 0;
    /// Returns at most `limit` tasks whose title begins with `beginning`, whatever the case of its letters, in the
    /// order of their titles.
    virtual std::vector<Named> tasks_titled(const std::string& beginning, std::uint32_t limit) const = 0;
};

}  // namespace assay::node
