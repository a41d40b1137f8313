// SPDX-License-Identifier: Apache-2.0
#include <node/state/state_store.hpp>

#include <algorithm>
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
    std::vector<Bytes> nodes;   ///< keys of the tree's column
    std::vector<Bytes> values;  ///< keys of the column of values
    static constexpr auto fields() { return Fields<&Stale::nodes, &Stale::values>{}; }
};

/// The height first, so that what a block writes is appended.
Bytes value_key(std::uint64_t height, const Hash256& slot) {
    Bytes key;
    key.reserve(sizeof height + Hash256::kSizeBytes);
    append_big_endian(key, height);
    append(key, slot.view());
    return key;
}

/// Borsh(Slot).
Bytes encode_slot(const Bytes& key, const Bytes& value) {
    Bytes out;
    out.reserve(2 * sizeof(std::uint32_t) + key.size() + value.size());
    codec::encode_to(out, key);
    codec::encode_to(out, value);
    return out;
}

/// A slot that changes, with its hashes.
struct HashedChange {
    merkle::LeafChange leaf;
    const Bytes* slot = nullptr;
    const std::optional<Bytes>* value = nullptr;
};

/// In the order of the slots' hashes, which is that of the tree and of the columns.
std::vector<HashedChange> hash_changes(const contracts::Changes& changes) {
    std::vector<HashedChange> out;
    out.reserve(changes.size());
    for (const auto& [slot, value] : changes) {
        out.push_back({
            .leaf = {crypto::sha256(slot), value ? std::optional(crypto::sha256(*value)) : std::nullopt},
            .slot = &slot,
            .value = &value,
        });
    }
    std::sort(out.begin(), out.end(), [](const HashedChange& a, const HashedChange& b) {
        return a.leaf.key_hash < b.leaf.key_hash;
    });
    return out;
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

std::optional<Slot> read_slot_at(const storage::Snapshot& snapshot, const Hash256& slot_hash, Height height) {
    const auto written = merkle::leaf_version(TreeReader(snapshot), height.value, slot_hash);
    if (!written) {
        return std::nullopt;
    }
    const auto entry = snapshot.get(Column::kValues, value_key(*written, slot_hash));
    if (!entry) {
        throw storage::StorageError("database: a leaf of the tree has no value");
    }
    return decode_stored<Slot>(*entry);
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
    storage::Batch& batch, const storage::Snapshot& snapshot, std::optional<std::uint64_t> base, Height height,
    const contracts::Changes& changes, merkle::NodeCache* nodes
) {
    const auto hashed = hash_changes(changes);
    std::vector<merkle::LeafChange> leaves;
    leaves.reserve(hashed.size());
    for (const HashedChange& change : hashed) {
        leaves.push_back(change.leaf);
        const Hash256& hash = change.leaf.key_hash;
        if (*change.value) {
            const Bytes slot = encode_slot(*change.slot, **change.value);
            batch.put(Column::kValues, value_key(height.value, hash), slot);
            batch.put(Column::kState, hash.view(), slot);
        } else {
            batch.erase(Column::kState, hash.view());
        }
    }
    const auto update = merkle::update_leaves(TreeReader(snapshot), base, height.value, leaves, nodes);
    for (const auto& [key, node] : update.nodes) {
        batch.put(Column::kTree, merkle::to_key(key), node);
    }
    if (base) {
        Stale stale;
        for (const merkle::NodeKey& key : update.stale) {
            stale.nodes.push_back(merkle::to_key(key));
        }
        for (const merkle::WrittenLeaf& leaf : update.stale_leaves) {
            stale.values.push_back(value_key(leaf.version, leaf.key_hash));
        }
        batch.put(Column::kStale, height_key(height), codec::encode(stale));
    }
    return update.root;
}

std::size_t prune_state(storage::Batch& batch, const storage::Snapshot& snapshot, Height height) {
    const Height next{height.value + 1};
    const auto entry = snapshot.get(Column::kStale, height_key(next));
    if (!entry) {
        throw storage::StorageError("database: what block " + std::to_string(next.value) + " made stale is not there");
    }
    const auto stale = decode_stored<Stale>(*entry);
    for (const Bytes& node : stale.nodes) {
        batch.erase(Column::kTree, node);
    }
    for (const Bytes& value : stale.values) {
        batch.erase(Column::kValues, value);
    }
    batch.erase(Column::kStale, height_key(next));
    return 1 + stale.nodes.size() + stale.values.size();
}

void write_restored(
    storage::Batch& batch, Height height, const std::vector<Slot>& slots,
    const std::vector<std::pair<merkle::NodeKey, Bytes>>& nodes
) {
    for (const Slot& slot : slots) {
        const Hash256 hash = crypto::sha256(slot.key);
        const Bytes encoded = codec::encode(slot);
        batch.put(Column::kValues, value_key(height.value, hash), encoded);
        batch.put(Column::kState, hash.view(), encoded);
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
