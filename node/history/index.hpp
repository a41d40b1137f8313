// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <consensus/state_machine.hpp>
#include <contracts/chain/chain.hpp>
#include <node/api/listings.hpp>
#include <node/state/store.hpp>

/// History indexes of tasks, accounts and disputes. They are for readers only; no rule reads them. They are written in
/// the same batch as the block's state, so they are always at the same height.
namespace assay::history {

/// The position of a transaction in the chain.
struct TxPlace {
    Height height;
    std::uint32_t index = 0;
    bool operator==(const TxPlace&) const = default;
    static constexpr auto fields() { return Fields<&TxPlace::height, &TxPlace::index>{}; }
};

/// One move of a dispute. The opening counts as a move.
struct Move {
    Hash256 tx;
    Height height;
    std::string action;
    std::uint32_t size_bytes = 0;
    static constexpr auto fields() { return Fields<&Move::tx, &Move::height, &Move::action, &Move::size_bytes>{}; }
};

/// A block as it was executed; stored for an engine whose log the node cannot read.
struct KeptBlock {
    Hash256 hash;
    std::uint64_t time_ms = 0;
    AccountId proposer;
    std::vector<Bytes> txs;
};

/// The result of a transaction, and where its bytes are in the Borsh list of its block's transactions, so that the rest
/// of the block need not be read.
struct TxRecord {
    contracts::Receipt receipt;
    std::uint32_t before_end = 0;  ///< from its first byte to the end of the list
    std::uint32_t size_bytes = 0;
    static constexpr auto fields() {
        return Fields<&TxRecord::receipt, &TxRecord::before_end, &TxRecord::size_bytes>{};
    }
};

/// How long this node took to judge a dispute's proof.
struct OneStepTime {
    contracts::DisputeId dispute;
    std::uint64_t nanoseconds = 0;
};

/// Adds the history of `block` to `batch`. `before` is the database before the batch is written.
void index_block(
    storage::Batch& batch, const storage::Snapshot& before, const consensus::FinalizeRequest& block,
    const contracts::BlockOutcome& outcome, const std::vector<OneStepTime>& times
);

/// Adds the block itself to `batch`.
void keep_block(storage::Batch& batch, const consensus::FinalizeRequest& block);

/// Erases the block of `height` with its receipts and the positions of its transactions. The history of tasks and
/// disputes is kept. Returns how many records were looked at.
std::size_t prune_block(storage::Batch& batch, const storage::Snapshot& snapshot, Height height);

/// Returns the `from` with which a listing of an account's transactions begins at `place`.
std::uint64_t from_of(const TxPlace& place);

/// Reads the indexes of one snapshot of the database. `from` is 0 or the `next` of a page.
class Reader {
  public:
    explicit Reader(const storage::Snapshot& snapshot) : snapshot_(snapshot) {}

    std::optional<std::vector<contracts::Receipt>> receipts(Height height) const;
    std::optional<KeptBlock> kept_block(Height height) const;
    /// Returns the bytes of one transaction of a kept block.
    std::optional<Bytes> kept_tx(const TxPlace& place) const;
    std::optional<TxRecord> tx_record(const TxPlace& place) const;
    std::optional<TxPlace> find_tx(const Hash256& tx) const;
    node::Page<contracts::HistoryRecord> task_history(
        const contracts::TaskId& task, std::uint64_t from, std::size_t limit
    ) const;
    node::Page<contracts::TaskId> tasks(std::uint64_t from, std::size_t limit, node::Order order = node::Order::kOldest)
        const;
    node::Page<TxPlace> account_txs(const AccountId& account, std::uint64_t from, std::size_t limit) const;
    node::Page<contracts::DisputeId> disputes(
        const std::optional<contracts::TaskId>& task, std::uint64_t from, std::size_t limit,
        node::Order order = node::Order::kOldest
    ) const;
    std::vector<Move> moves(const contracts::DisputeId& dispute) const;
    std::optional<std::uint64_t> one_step_nanoseconds(const contracts::DisputeId& dispute) const;

    node::Page<contracts::HistoryRecord> events(
        const std::optional<AccountId>& account, std::uint64_t from, std::size_t limit,
        node::Order order = node::Order::kOldest
    ) const;
    /// Returns all events of one block.
    std::vector<contracts::HistoryRecord> events_of(Height height) const;
    node::Page<node::Payment> payments(
        const AccountId& account, std::uint64_t from, std::size_t limit, node::Order order = node::Order::kOldest
    ) const;
    node::Page<node::ValidatorChange> validator_changes(
        const std::optional<AccountId>& account, std::uint64_t from, std::size_t limit
    ) const;
    node::Page<node::ValidatorPenalty> validator_penalties(
        const std::optional<AccountId>& account, std::uint64_t from, std::size_t limit,
        node::Order order = node::Order::kOldest
    ) const;
    std::optional<node::BlockFees> fees(Height height) const;

  private:
    std::vector<storage::Entry> items(std::uint8_t kind, Height height, std::uint32_t count) const;

    const storage::Snapshot& snapshot_;
};

}  // namespace assay::history
