// SPDX-License-Identifier: Apache-2.0
#include <node/history/index.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <contracts/state/tx_error.hpp>
#include <node/history/keys.hpp>
#include <node/history/listings.hpp>
#include <node/history/names.hpp>

namespace assay::history {
namespace {

using storage::Column;

/// A kept block without its transactions.
struct KeptHeader {
    Hash256 hash;
    std::uint64_t time_ms = 0;
    AccountId proposer;
    std::uint32_t txs = 0;
    static constexpr auto fields() {
        return Fields<&KeptHeader::hash, &KeptHeader::time_ms, &KeptHeader::proposer, &KeptHeader::txs>{};
    }
};

Bytes account_key(const AccountId& account, Height height) {
    return with_number(make_key(Kind::kAccountTx, account.view()), height.value);
}

/// Whether an action of this name is a move in a dispute: only of those the transaction is decoded again.
bool moves_dispute(const std::string& action) {
    static const std::array kMoves{
        contracts::action_name(contracts::RevealMove{}), contracts::action_name(contracts::SelectMove{}),
        contracts::action_name(contracts::ProveMove{})};
    return std::find(kMoves.begin(), kMoves.end(), action) != kMoves.end();
}

/// The dispute that an action names; nullopt for actions that move none.
std::optional<contracts::DisputeId> moved_dispute(const contracts::Action& action) {
    if (const auto* reveal = std::get_if<contracts::RevealMove>(&action)) {
        return reveal->dispute;
    }
    if (const auto* select = std::get_if<contracts::SelectMove>(&action)) {
        return select->dispute;
    }
    if (const auto* prove = std::get_if<contracts::ProveMove>(&action)) {
        return prove->dispute;
    }
    return std::nullopt;
}

/// Where each transaction is, by its hash: where it was charged, or where it was first when it never was.
void index_txs(
    storage::Batch& batch, const storage::Snapshot& before, Height height,
    const std::vector<contracts::Receipt>& receipts
) {
    std::map<Hash256, std::uint32_t> by_hash;
    for (std::uint32_t i = 0; i < receipts.size(); ++i) {
        const auto [place, is_new] = by_hash.emplace(receipts[i].tx, i);
        if (!is_new && receipts[i].is_charged) {
            place->second = i;
        }
    }
    for (const auto& [hash, index] : by_hash) {
        if (receipts[index].is_charged || !before.get(Column::kTxs, tx_key(hash))) {
            batch.put(Column::kTxs, tx_key(hash), codec::encode(TxPlace{.height = height, .index = index}));
        }
    }
}

/// What each transaction did and where its bytes are.
void index_records_of_txs(
    storage::Batch& batch, const consensus::FinalizeRequest& block, const std::vector<contracts::Receipt>& receipts
) {
    constexpr std::size_t kLengthBytes = 4;
    put(batch, height_key(Kind::kTxCount, block.height), static_cast<std::uint32_t>(receipts.size()));
    std::size_t before_end = 0;
    for (const Bytes& tx : block.txs) {
        before_end += kLengthBytes + tx.size();
    }
    for (std::uint32_t i = 0; i < receipts.size(); ++i) {
        before_end -= kLengthBytes;
        ASSERT(std::in_range<std::uint32_t>(before_end));
        put(batch, item_key(Kind::kTxRecord, block.height, i),
            TxRecord{
                .receipt = receipts[i],
                .before_end = static_cast<std::uint32_t>(before_end),
                .size_bytes = static_cast<std::uint32_t>(block.txs[i].size()),
            });
        before_end -= block.txs[i].size();
    }
}

/// Which of the block's transactions are whose: the sender's, and the owner's that it acted for (OPR-6).
void index_accounts(storage::Batch& batch, Height height, const std::vector<contracts::Receipt>& receipts) {
    std::map<AccountId, std::vector<std::uint32_t>> by_account;
    for (std::uint32_t i = 0; i < receipts.size(); ++i) {
        if (!receipts[i].is_charged) {
            continue;  // whoever made it need not be whom it names, or made it once before
        }
        by_account[receipts[i].sender].push_back(i);
        if (receipts[i].owner) {
            by_account[*receipts[i].owner].push_back(i);
        }
    }
    for (const auto& [account, indices] : by_account) {
        batch.put(Column::kTxs, account_key(account, height), codec::encode(indices));
    }
}

/// What happened to tasks. Returns the disputes that began, by the transaction that opened them.
std::map<Hash256, contracts::DisputeId> index_records(
    storage::Batch& batch, Height height, const std::vector<contracts::HistoryRecord>& records
) {
    std::map<Hash256, contracts::DisputeId> opened;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const contracts::HistoryRecord& record = records[i];
        const std::uint64_t here = position(height, i);
        put(batch, with_number(make_key(Kind::kTaskRecord, record.task.view()), record.index), record);
        if (std::holds_alternative<contracts::history::Submitted>(record.event)) {
            put(batch, with_number(make_key(Kind::kTask), here), record.task);
        } else if (const auto dispute = opened_dispute(record.event)) {
            put(batch, with_number(make_key(Kind::kDispute), here), *dispute);
            put(batch, with_number(make_key(Kind::kTaskDispute, record.task.view()), here), *dispute);
            opened.emplace(record.tx, *dispute);
        }
    }
    return opened;
}

/// The moves of disputes, openings included.
void index_moves(
    storage::Batch& batch, const consensus::FinalizeRequest& block, const std::vector<contracts::Receipt>& receipts,
    const std::map<Hash256, contracts::DisputeId>& opened
) {
    for (std::size_t i = 0; i < block.txs.size(); ++i) {
        const contracts::Receipt& receipt = receipts[i];
        if (receipt.code != 0) {
            continue;
        }
        std::optional<contracts::DisputeId> dispute;
        if (const auto it = opened.find(receipt.tx); it != opened.end()) {
            dispute = it->second;
        } else if (moves_dispute(receipt.action)) {
            const auto tx = codec::decode<contracts::Tx>(block.txs[i]);
            dispute = tx ? moved_dispute(tx->body.action) : std::nullopt;
        }
        if (dispute) {
            put(batch, with_number(make_key(Kind::kMove, dispute->view()), position(block.height, i)),
                Move{
                    .tx = receipt.tx,
                    .height = block.height,
                    .action = receipt.action,
                    .size_bytes = static_cast<std::uint32_t>(block.txs[i].size()),
                });
        }
    }
}

}  // namespace

std::optional<contracts::DisputeId> opened_dispute(const contracts::HistoryEvent& event) {
    if (const auto* segment = std::get_if<contracts::history::DisputeOpened>(&event)) {
        return segment->dispute;
    }
    if (const auto* verdict = std::get_if<contracts::history::VerdictChallenged>(&event)) {
        return verdict->dispute;
    }
    if (const auto* profile = std::get_if<contracts::history::ProfileChallenged>(&event)) {
        return profile->dispute;
    }
    if (const auto* statement = std::get_if<contracts::history::Accused>(&event)) {
        return statement->dispute;
    }
    return std::nullopt;
}

std::uint64_t from_of(const TxPlace& place) { return position(place.height, place.index); }

void keep_block(storage::Batch& batch, const consensus::FinalizeRequest& block) {
    const KeptHeader header{
        .hash = block.block_hash,
        .time_ms = block.time_ms,
        .proposer = block.proposer,
        .txs = static_cast<std::uint32_t>(block.txs.size())};
    put(batch, height_key(Kind::kBlock, block.height), header);
    for (std::uint32_t i = 0; i < header.txs; ++i) {
        batch.put(Column::kHistory, item_key(Kind::kBlockTx, block.height, i), block.txs[i]);
    }
}

std::size_t prune_block(storage::Batch& batch, const storage::Snapshot& snapshot, Height height) {
    const Reader reader(snapshot);
    const auto receipts = reader.receipts(height).value_or(std::vector<contracts::Receipt>{});
    std::set<AccountId> accounts;
    for (const contracts::Receipt& receipt : receipts) {
        // A transaction can be in several blocks; it is found in one.
        const auto place = reader.find_tx(receipt.tx);
        if (place && place->height == height) {
            batch.erase(Column::kTxs, tx_key(receipt.tx));
        }
        if (receipt.is_charged) {
            accounts.insert(receipt.sender);
            accounts.insert(receipt.owner.value_or(receipt.sender));
        }
    }
    for (const AccountId& account : accounts) {
        batch.erase(Column::kTxs, account_key(account, height));
    }
    for (std::uint32_t i = 0; i < receipts.size(); ++i) {
        batch.erase(Column::kHistory, item_key(Kind::kTxRecord, height, i));
        batch.erase(Column::kHistory, item_key(Kind::kBlockTx, height, i));
    }
    batch.erase(Column::kHistory, height_key(Kind::kTxCount, height));
    batch.erase(Column::kHistory, height_key(Kind::kBlock, height));
    batch.erase(Column::kHistory, height_key(Kind::kFees, height));
    return 1 + receipts.size();
}

void index_block(
    storage::Batch& batch, const storage::Snapshot& before, const consensus::FinalizeRequest& block,
    const contracts::BlockOutcome& outcome, const std::vector<OneStepTime>& times
) {
    ASSERT(outcome.receipts.size() == block.txs.size());
    index_records_of_txs(batch, block, outcome.receipts);
    index_txs(batch, before, block.height, outcome.receipts);
    const auto opened = index_records(batch, block.height, outcome.history);
    index_accounts(batch, block.height, outcome.receipts);
    index_moves(batch, block, outcome.receipts, opened);
    index_listings(batch, before, block, outcome);
    index_names(batch, block, outcome);
    for (const OneStepTime& time : times) {
        put(batch, make_key(Kind::kOneStep, time.dispute.view()), time.nanoseconds);
    }
}

std::vector<storage::Entry> Reader::items(std::uint8_t kind, Height height, std::uint32_t count) const {
    const Bytes prefix = height_key(Kind{kind}, height);
    auto entries = snapshot_.scan(Column::kHistory, prefix, prefix, count);
    if (entries.size() != count) {
        throw storage::StorageError("database: block " + std::to_string(height.value) + " is not whole");
    }
    return entries;
}

std::optional<std::vector<contracts::Receipt>> Reader::receipts(Height height) const {
    const auto count = snapshot_.get(Column::kHistory, height_key(Kind::kTxCount, height));
    if (!count) {
        return std::nullopt;
    }
    std::vector<contracts::Receipt> out;
    const auto size = decode_stored<std::uint32_t>(*count);
    for (const auto& entry : items(static_cast<std::uint8_t>(Kind::kTxRecord), height, size)) {
        out.push_back(decode_stored<TxRecord>(entry.value).receipt);
    }
    return out;
}

std::optional<KeptBlock> Reader::kept_block(Height height) const {
    const auto bytes = snapshot_.get(Column::kHistory, height_key(Kind::kBlock, height));
    if (!bytes) {
        return std::nullopt;
    }
    const auto header = decode_stored<KeptHeader>(*bytes);
    KeptBlock out{.hash = header.hash, .time_ms = header.time_ms, .proposer = header.proposer, .txs = {}};
    for (auto& entry : items(static_cast<std::uint8_t>(Kind::kBlockTx), height, header.txs)) {
        out.txs.push_back(std::move(entry.value));
    }
    return out;
}

std::optional<Bytes> Reader::kept_tx(const TxPlace& place) const {
    return snapshot_.get(Column::kHistory, item_key(Kind::kBlockTx, place.height, place.index));
}

std::optional<TxRecord> Reader::tx_record(const TxPlace& place) const {
    const auto bytes = snapshot_.get(Column::kHistory, item_key(Kind::kTxRecord, place.height, place.index));
    return bytes ? std::optional(decode_stored<TxRecord>(*bytes)) : std::nullopt;
}

std::optional<TxPlace> Reader::find_tx(const Hash256& tx) const {
    const auto bytes = snapshot_.get(Column::kTxs, tx_key(tx));
    return bytes ? std::optional(decode_stored<TxPlace>(*bytes)) : std::nullopt;
}

node::Page<contracts::HistoryRecord> Reader::task_history(
    const contracts::TaskId& task, std::uint64_t from, std::size_t limit
) const {
    return read_page<contracts::HistoryRecord>(snapshot_, make_key(Kind::kTaskRecord, task.view()), from, limit);
}

node::Page<contracts::TaskId> Reader::tasks(std::uint64_t from, std::size_t limit, node::Order order) const {
    return read_page<contracts::TaskId>(snapshot_, make_key(Kind::kTask), from, limit, order);
}

node::Page<TxPlace> Reader::account_txs(const AccountId& account, std::uint64_t from, std::size_t limit) const {
    constexpr std::size_t kAtOnce = 8;  // entries, each with all of the account's transactions in a block
    const Bytes prefix = make_key(Kind::kAccountTx, account.view());
    node::Page<TxPlace> part;
    for (Height first{from >> kIndexBits};;) {
        const auto entries = snapshot_.scan(Column::kTxs, prefix, account_key(account, first), kAtOnce);
        for (const auto& entry : entries) {
            const Height height{number_of(entry.key)};
            for (const std::uint32_t index : decode_stored<std::vector<std::uint32_t>>(entry.value)) {
                const std::uint64_t here = position(height, index);
                if (here < from) {
                    continue;
                }
                if (part.items.size() == limit) {
                    part.next = here;
                    return part;
                }
                part.items.push_back({.height = height, .index = index});
            }
            first = Height{height.value + 1};
        }
        if (entries.size() < kAtOnce) {
            return part;
        }
    }
}

node::Page<contracts::DisputeId> Reader::disputes(
    const std::optional<contracts::TaskId>& task, std::uint64_t from, std::size_t limit, node::Order order
) const {
    return read_page<contracts::DisputeId>(
        snapshot_, task ? make_key(Kind::kTaskDispute, task->view()) : make_key(Kind::kDispute), from, limit, order
    );
}

std::vector<Move> Reader::moves(const contracts::DisputeId& dispute) const {
    constexpr std::size_t kAll = 10'000;
    return read_page<Move>(snapshot_, make_key(Kind::kMove, dispute.view()), 0, kAll).items;
}

std::optional<std::uint64_t> Reader::one_step_nanoseconds(const contracts::DisputeId& dispute) const {
    const auto bytes = snapshot_.get(Column::kHistory, make_key(Kind::kOneStep, dispute.view()));
    return bytes ? std::optional(decode_stored<std::uint64_t>(*bytes)) : std::nullopt;
}

}  // namespace assay::history
