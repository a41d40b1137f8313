// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include <core/base/assert.hpp>
#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <core/codec/borsh.hpp>
#include <contracts/state/history.hpp>
#include <node/api/listings.hpp>
#include <node/state/store.hpp>

/// Keys and values of the history indexes.
namespace assay::history {

// The first byte of a key; a listing's keys end in a position, big-endian.
enum class Kind : std::uint8_t {
    kTxCount = 1,  ///< by height: how many transactions and receipts it has
    kTx = 2,
    kTaskRecord = 3,
    kTask = 4,
    kAccountTx = 5,  ///< by account and height: which of the block's transactions are the account's
    kDispute = 6,
    kTaskDispute = 7,
    kMove = 8,
    kOneStep = 9,
    kBlock = 10,
    kTxRecord = 11,         ///< by height and index
    kBlockTx = 12,          ///< likewise, of kept blocks
    kEvent = 13,            ///< what happened in any task, in order: where its record is
    kAccountEvent = 14,     ///< likewise, by the accounts that it names
    kPayment = 15,          ///< by account
    kValidatorChange = 16,  ///< in order
    kAccountChange = 17,    ///< the same by account
    kFees = 18,             ///< by height
    kName = 19,             ///< by id and its kind
    kPenalty = 20,          ///< of validators, in order
    kAccountPenalty = 21,   ///< the same by account
    kTitle = 22,            ///< by a task's title in small letters, a zero byte, and its position
};

inline Bytes make_key(Kind kind, ByteView id = {}) {
    Bytes key{static_cast<std::uint8_t>(kind)};
    append(key, id);
    return key;
}

inline Bytes with_number(Bytes key, std::uint64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8) {
        key.push_back(static_cast<std::uint8_t>(number >> static_cast<unsigned>(shift)));
    }
    return key;
}

inline std::uint64_t number_of(const Bytes& key) {
    ASSERT(key.size() >= 8);
    std::uint64_t number = 0;
    for (std::size_t i = key.size() - 8; i < key.size(); ++i) {
        number = number << 8U | key[i];
    }
    return number;
}

inline Bytes height_key(Kind kind, Height height) { return with_number(make_key(kind), height.value); }

/// Something of the transaction at `index` of a block.
inline Bytes item_key(Kind kind, Height height, std::uint32_t index) {
    Bytes key = height_key(kind, height);
    for (int shift = 24; shift >= 0; shift -= 8) {
        key.push_back(static_cast<std::uint8_t>(index >> static_cast<unsigned>(shift)));
    }
    return key;
}

inline constexpr std::uint32_t kIndexBits = 24;

/// The order of things within and across blocks. A block has fewer than 2^24 transactions or records.
inline std::uint64_t position(Height height, std::uint64_t index) {
    ASSERT(index < (1U << kIndexBits) && height.value < (std::uint64_t{1} << (64 - kIndexBits)));
    return height.value << kIndexBits | index;
}

inline Bytes tx_key(const Hash256& tx) { return make_key(Kind::kTx, tx.view()); }

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
    batch.put(storage::Column::kHistory, key, codec::encode(value));
}

/// A page of the listing whose keys are `prefix` and a position: at most `limit` items, from the position `from` on; 0
/// is the beginning in either order.
template <class T>
node::Page<T> read_page(
    const storage::Snapshot& snapshot, const Bytes& prefix, std::uint64_t from, std::size_t limit,
    node::Order order = node::Order::kOldest
) {
    constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
    ASSERT(limit < std::numeric_limits<std::size_t>::max());
    constexpr auto kColumn = storage::Column::kHistory;
    const auto entries =
        order == node::Order::kOldest
            ? snapshot.scan(kColumn, prefix, with_number(prefix, from), limit + 1)
            : snapshot.scan_back(kColumn, prefix, with_number(prefix, from == 0 ? kLast : from), limit + 1);
    node::Page<T> page;
    for (const auto& entry : entries) {
        if (page.items.size() == limit) {
            page.next = number_of(entry.key);
            break;
        }
        page.items.push_back(decode_stored<T>(entry.value));
    }
    return page;
}

/// The dispute that an event is the beginning of.
std::optional<contracts::DisputeId> opened_dispute(const contracts::HistoryEvent& event);

}  // namespace assay::history
