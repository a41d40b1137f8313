// SPDX-License-Identifier: Apache-2.0
#include <node/app/state_store.hpp>

#include <utility>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>

namespace assay::node {
namespace {

using snapshot::Slot;
using storage::Column;

const Bytes& meta_key() {
    static const Bytes kKey{'m', 'e', 't', 'a'};
    return kKey;
}

const Bytes& restoring_key() {
    static const Bytes kKey{'r', 'e', 's', 't', 'o', 'r', 'i', 'n', 'g'};
    return kKey;
}

void append_big_endian(Bytes& out, std::uint64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8) {
        out.push_back(static_cast<std::uint8_t>(number >> static_cast<unsigned>(shift)));
    }
}

Bytes to_bytes(const Hash256& hash) { return {hash.data.begin(), hash.data.end()}; }

Bytes height_key(Height height) {
    Bytes key;
    append_big_endian(key, height.value);
    return key;
}

/// What the block of one height made useless, for when no earlier state is wanted any more.
struct Stale {
    std::vector<Bytes> nodes;    ///< keys of the tree's column
    std::vector<Hash256> slots;  ///< whose values before that height are superseded
    static constexpr auto fields() { return Fields<&Stale::nodes, &Stale::slots>{}; }
};

Bytes value_key(const Hash256& slot, Height height) {
    Bytes key = to_bytes(slot);
    append_big_endian(key, height.value);
    return key;
}

template <class T>
T decode_stored(const Bytes& bytes) {
    auto value = codec::decode<T>(bytes);
    if (!value) {
        throw storage::StorageError("database: a value does not decode");
    }
    return *std::move(value);
}

}  // namespace

std::optional<Meta> read_meta(const storage::Snapshot& snapshot) {
    const auto bytes = snapshot.get(Column::kMeta, meta_key());
    if (!bytes) {
        return std::nullopt;
    }
    auto meta = codec::decode<Meta>(*bytes);
    if (!meta || meta->format != kMetaFormat) {
        throw storage::StorageError("database: written by another version; delete the db directory to rebuild it");
    }
    return *std::move(meta);
}

void write_meta(storage::Batch& batch, const Meta& meta) { batch.put(Column::kMeta, meta_key(), codec::encode(meta)); }

std::optional<Bytes> TreeReader::read_node(const merkle::NodeKey& key) const {
    return snapshot_.get(Column::kTree, merkle::to_key(key));
}

std::optional<Bytes> read_slot(const storage::Snapshot& snapshot, const Bytes& key) {
    const auto entry = snapshot.get(Column::kState, to_bytes(crypto::sha256(key)));
    return entry ? std::optional(decode_stored<Slot>(*entry).value) : std::nullopt;
}

std::optional<Written> read_written(const storage::Snapshot& snapshot, const Hash256& slot_hash, Height height) {
    const auto entry = snapshot.last_until(Column::kValues, slot_hash.view(), value_key(slot_hash, height));
    return entry ? std::optional(decode_stored<Written>(entry->value)) : std::nullopt;
}

std::vector<Slot> scan_slots(
    const storage::Snapshot& snapshot, const std::optional<Hash256>& after, std::size_t limit
) {
    Bytes from;
    if (after) {
        from = to_bytes(*after);
        from.push_back(0);  // the first that is later
    }
    std::vector<Slot> out;
    for (const storage::Entry& entry : snapshot.scan(Column::kState, {}, from, limit)) {
        out.push_back(decode_stored<Slot>(entry.value));
    }
    return out;
}

Hash256 write_state(
    storage::Batch& batch,
    const storage::Snapshot& snapshot,
    std::optional<std::uint64_t> base,
    Height height,
    const contracts::Changes& changes,
    merkle::NodeCache* nodes
) {
    const auto update = merkle::update_tree(TreeReader(snapshot), base, height.value, changes, nodes);
    for (const auto& [key, node] : update.nodes) {
        batch.put(Column::kTree, merkle::to_key(key), node);
    }
    Stale stale;
    for (const merkle::NodeKey& key : update.stale) {
        stale.nodes.push_back(merkle::to_key(key));
    }
    for (const auto& [key, value] : changes) {
        const Hash256 hash = crypto::sha256(key);
        stale.slots.push_back(hash);
        batch.put(Column::kValues, value_key(hash, height), codec::encode(Written{key, value}));
        if (value) {
            batch.put(Column::kState, hash.view(), codec::encode(Slot{key, *value}));
        } else {
            batch.erase(Column::kState, hash.view());
        }
    }
    if (base) {
        batch.put(Column::kStale, height_key(height), codec::encode(stale));
    }
    return update.root;
}

std::size_t prune_state(storage::Batch& batch, const storage::Snapshot& snapshot, Height height) {
    constexpr std::size_t kStep = 64;
    const Height next{height.value + 1};
    const auto entry = snapshot.get(Column::kStale, height_key(next));
    if (!entry) {
        throw storage::StorageError("database: what block " + std::to_string(next.value) + " made stale is not there");
    }
    const auto stale = decode_stored<Stale>(*entry);
    for (const Bytes& node : stale.nodes) {
        batch.erase(Column::kTree, node);
    }
    for (const Hash256& slot : stale.slots) {
        // Usually one value before and the one of that block, which goes too when it says that there is none.
        const Bytes end = value_key(slot, next);
        Bytes from = to_bytes(slot);
        bool is_done = false;
        while (!is_done) {
            const auto values = snapshot.scan(Column::kValues, to_bytes(slot), from, kStep);
            for (const storage::Entry& value : values) {
                is_done = value.key >= end;
                if (value.key < end || (value.key == end && !decode_stored<Written>(value.value).value)) {
                    batch.erase(Column::kValues, value.key);
                }
                if (is_done) {
                    break;
                }
            }
            is_done = is_done || values.size() < kStep;
            if (!is_done) {
                from = values.back().key;
                from.push_back(0);
            }
        }
    }
    batch.erase(Column::kStale, height_key(next));
    return 1 + stale.nodes.size() + stale.slots.size();
}

void write_restored(
    storage::Batch& batch,
    Height height,
    const std::vector<Slot>& slots,
    const std::vector<std::pair<merkle::NodeKey, Bytes>>& nodes
) {
    for (const Slot& slot : slots) {
        const Hash256 hash = crypto::sha256(slot.key);
        batch.put(Column::kValues, value_key(hash, height), codec::encode(Written{slot.key, slot.value}));
        batch.put(Column::kState, hash.view(), codec::encode(slot));
    }
    for (const auto& [key, node] : nodes) {
        batch.put(Column::kTree, merkle::to_key(key), node);
    }
}

bool is_restoring(const storage::Snapshot& snapshot) {
    return snapshot.get(Column::kMeta, restoring_key()).has_value();
}

void mark_restoring(storage::Batch& batch) { batch.put(Column::kMeta, restoring_key(), {}); }

void unmark_restoring(storage::Batch& batch) { batch.erase(Column::kMeta, restoring_key()); }

void erase_all(storage::Store& store) {
    constexpr std::size_t kStep = 10'000;
    for (std::size_t i = 0; i < storage::kColumnCount; ++i) {
        const auto column = static_cast<Column>(i);
        Bytes from;
        while (true) {
            const auto entries = store.snapshot()->scan(column, {}, from, kStep);
            storage::Batch batch;
            for (const storage::Entry& entry : entries) {
                if (column != Column::kMeta || entry.key != restoring_key()) {
                    batch.erase(column, entry.key);
                }
            }
            store.write(batch, false);
            if (entries.size() < kStep) {
                break;
            }
            from = entries.back().key;
        }
    }
}

}  // namespace assay::node
