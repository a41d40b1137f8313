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
#include <contracts/chain/tx_error.hpp>

namespace assay::history {
namespace {

using storage::Column;

// The first byte of a key; a listing's keys end in a position, big-endian.
enum class Kind : std::uint8_t {
    kReceipts = 1,
    kTx = 2,
    kTaskRecord = 3,
    kTask = 4,
    kAccountTx = 5,  ///< by account and height: which of the block's transactions are the account's
    kDispute = 6,
    kTaskDispute = 7,
    kMove = 8,
    kReferee = 9,
    kTaskChallenge = 10,
    kBlock = 11,
};

Bytes make_key(Kind kind, ByteView id = {}) {
    Bytes key{static_cast<std::uint8_t>(kind)};
    append(key, id);
    return key;
}

Bytes with_number(Bytes key, std::uint64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8) {
        key.push_back(static_cast<std::uint8_t>(number >> static_cast<unsigned>(shift)));
    }
    return key;
}

std::uint64_t number_of(const Bytes& key) {
    ASSERT(key.size() >= 8);
    std::uint64_t number = 0;
    for (std::size_t i = key.size() - 8; i < key.size(); ++i) {
        number = number << 8U | key[i];
    }
    return number;
}

constexpr std::uint32_t kIndexBits = 24;

/// The order of things within and across blocks. A block has fewer than 2^24 transactions or records.
std::uint64_t position(Height height, std::uint64_t index) {
    ASSERT(index < (1U << kIndexBits) && height.value < (std::uint64_t{1} << (64 - kIndexBits)));
    return height.value << kIndexBits | index;
}

/// Refused before its signature was checked: whoever made it need not be whom it names.
bool is_sender_known(const contracts::Receipt& receipt) {
    using contracts::TxError;
    switch (TxError{receipt.code}) {
        case TxError::kUndecodable:
        case TxError::kTooLarge:
        case TxError::kWrongChain:
        case TxError::kBadSignature:
        case TxError::kFieldOutOfRange:
            return false;
        default:
            return true;
    }
}

Bytes tx_key(const Hash256& tx) { return make_key(Kind::kTx, tx.view()); }

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

/// The dispute that an event is the beginning of.
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
    return std::nullopt;
}

template <class T>
T decode_stored(const Bytes& bytes) {
    auto value = codec::decode<T>(bytes);
    if (!value) {
        throw storage::StorageError("database: a history entry does not decode");
    }
    return *std::move(value);
}

template <class T>
void put(storage::Batch& batch, const Bytes& key, const T& value) {
    batch.put(Column::kHistory, key, codec::encode(value));
}

/// Where each transaction is, by its hash.
void index_txs(storage::Batch& batch, Height height, const std::vector<contracts::Receipt>& receipts) {
    std::vector<std::pair<Hash256, std::uint32_t>> by_hash;
    by_hash.reserve(receipts.size());
    for (std::uint32_t i = 0; i < receipts.size(); ++i) {
        by_hash.emplace_back(receipts[i].tx, i);
    }
    std::sort(by_hash.begin(), by_hash.end());
    for (const auto& [hash, index] : by_hash) {
        batch.put(Column::kTxs, tx_key(hash), codec::encode(TxPlace{.height = height, .index = index}));
    }
}

/// Which of the block's transactions are whose.
void index_senders(storage::Batch& batch, Height height, const std::vector<contracts::Receipt>& receipts) {
    std::map<AccountId, std::vector<std::uint32_t>> by_sender;
    for (std::uint32_t i = 0; i < receipts.size(); ++i) {
        if (is_sender_known(receipts[i])) {
            by_sender[receipts[i].sender].push_back(i);
        }
    }
    for (const auto& [sender, indices] : by_sender) {
        batch.put(Column::kTxs, account_key(sender, height), codec::encode(indices));
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
        } else if (const auto* challenge = std::get_if<contracts::history::AvailabilityChallenged>(&record.event)) {
            put(batch, with_number(make_key(Kind::kTaskChallenge, record.task.view()), here), challenge->challenge);
        }
    }
    return opened;
}

/// The moves of disputes, openings included.
void index_moves(
    storage::Batch& batch,
    const consensus::FinalizeRequest& block,
    const std::vector<contracts::Receipt>& receipts,
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

void keep_block(storage::Batch& batch, const consensus::FinalizeRequest& block) {
    const KeptBlock kept{
        .hash = block.block_hash, .time_ms = block.time_ms, .proposer = block.proposer, .txs = block.txs};
    batch.put(Column::kHistory, with_number(make_key(Kind::kBlock), block.height.value), codec::encode(kept));
}

std::size_t prune_block(storage::Batch& batch, const storage::Snapshot& snapshot, Height height) {
    const Reader reader(snapshot);
    const auto receipts = reader.receipts(height).value_or(std::vector<contracts::Receipt>{});
    std::set<AccountId> senders;
    for (const contracts::Receipt& receipt : receipts) {
        // A transaction can be in several blocks; the last is where it is found.
        const auto place = reader.find_tx(receipt.tx);
        if (place && place->height == height) {
            batch.erase(Column::kTxs, tx_key(receipt.tx));
        }
        if (is_sender_known(receipt) && senders.insert(receipt.sender).second) {
            batch.erase(Column::kTxs, account_key(receipt.sender, height));
        }
    }
    batch.erase(Column::kHistory, with_number(make_key(Kind::kReceipts), height.value));
    batch.erase(Column::kHistory, with_number(make_key(Kind::kBlock), height.value));
    return 1 + receipts.size();
}

void index_block(
    storage::Batch& batch,
    const consensus::FinalizeRequest& block,
    const contracts::BlockOutcome& outcome,
    const std::vector<RefereeTime>& referee
) {
    ASSERT(outcome.receipts.size() == block.txs.size());
    put(batch, with_number(make_key(Kind::kReceipts), block.height.value), outcome.receipts);
    index_txs(batch, block.height, outcome.receipts);
    const auto opened = index_records(batch, block.height, outcome.history);
    index_senders(batch, block.height, outcome.receipts);
    index_moves(batch, block, outcome.receipts, opened);
    for (const RefereeTime& time : referee) {
        put(batch, make_key(Kind::kReferee, time.dispute.view()), time.nanoseconds);
    }
}

template <class T>
Part<T> Reader::list(const Bytes& prefix, std::uint64_t from, std::size_t limit) const {
    ASSERT(limit < std::numeric_limits<std::size_t>::max());
    Part<T> part;
    for (const auto& entry : snapshot_.scan(Column::kHistory, prefix, with_number(prefix, from), limit + 1)) {
        if (part.items.size() == limit) {
            part.next = number_of(entry.key);
            break;
        }
        part.items.push_back(decode_stored<T>(entry.value));
    }
    return part;
}

std::optional<std::vector<contracts::Receipt>> Reader::receipts(Height height) const {
    const auto bytes = snapshot_.get(Column::kHistory, with_number(make_key(Kind::kReceipts), height.value));
    return bytes ? std::optional(decode_stored<std::vector<contracts::Receipt>>(*bytes)) : std::nullopt;
}

std::optional<KeptBlock> Reader::kept_block(Height height) const {
    const auto bytes = snapshot_.get(Column::kHistory, with_number(make_key(Kind::kBlock), height.value));
    return bytes ? std::optional(decode_stored<KeptBlock>(*bytes)) : std::nullopt;
}

std::optional<TxPlace> Reader::find_tx(const Hash256& tx) const {
    const auto bytes = snapshot_.get(Column::kTxs, tx_key(tx));
    return bytes ? std::optional(decode_stored<TxPlace>(*bytes)) : std::nullopt;
}

Part<contracts::HistoryRecord> Reader::task_history(
    const contracts::TaskId& task, std::uint64_t from, std::size_t limit
) const {
    return list<contracts::HistoryRecord>(make_key(Kind::kTaskRecord, task.view()), from, limit);
}

Part<contracts::TaskId> Reader::tasks(std::uint64_t from, std::size_t limit) const {
    return list<contracts::TaskId>(make_key(Kind::kTask), from, limit);
}

Part<TxPlace> Reader::account_txs(const AccountId& account, std::uint64_t from, std::size_t limit) const {
    const Height first{from >> kIndexBits};
    Part<TxPlace> part;
    // Of each block there is at least one, but in the first they may all be before `from`.
    for (const auto& entry : snapshot_.scan(
             Column::kTxs, make_key(Kind::kAccountTx, account.view()), account_key(account, first), limit + 2
         )) {
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
    }
    return part;
}

Part<contracts::DisputeId> Reader::disputes(
    const std::optional<contracts::TaskId>& task, std::uint64_t from, std::size_t limit
) const {
    return list<contracts::DisputeId>(
        task ? make_key(Kind::kTaskDispute, task->view()) : make_key(Kind::kDispute), from, limit
    );
}

std::vector<Move> Reader::moves(const contracts::DisputeId& dispute) const {
    constexpr std::size_t kAll = 10'000;
    return list<Move>(make_key(Kind::kMove, dispute.view()), 0, kAll).items;
}

std::optional<std::uint64_t> Reader::referee_nanoseconds(const contracts::DisputeId& dispute) const {
    const auto bytes = snapshot_.get(Column::kHistory, make_key(Kind::kReferee, dispute.view()));
    return bytes ? std::optional(decode_stored<std::uint64_t>(*bytes)) : std::nullopt;
}

std::vector<contracts::ChallengeId> Reader::challenges(const contracts::TaskId& task) const {
    constexpr std::size_t kAll = 100'000;
    return list<contracts::ChallengeId>(make_key(Kind::kTaskChallenge, task.view()), 0, kAll).items;
}

}  // namespace assay::history
