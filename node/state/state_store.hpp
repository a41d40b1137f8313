// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <core/merkle/jmt.hpp>
#include <contracts/state/state.hpp>
#include <node/state/chunk.hpp>
#include <node/state/store.hpp>

/// How the state is stored in the database: its slots, their values at every kept height, and the tree over them.
namespace assay::node {

/// The description of the state in the meta column.
struct Meta {
    std::uint32_t format = 0;
    Height height;
    Hash256 app_hash;
    std::string chain_id;
    Hash256 genesis;  ///< SHA-256 of Borsh(Genesis)
    Hash256 genesis_app_hash;
    Height first_state;    ///< states are kept from this height on
    Height first_block;    ///< blocks' receipts and transactions are kept from this one on
    Height first_history;  ///< the history of tasks and disputes is kept from this block on, and never pruned
    static constexpr auto fields() {
        return Fields<
            &Meta::format, &Meta::height, &Meta::app_hash, &Meta::chain_id, &Meta::genesis, &Meta::genesis_app_hash,
            &Meta::first_state, &Meta::first_block, &Meta::first_history>{};
    }
};
inline constexpr std::uint32_t kMetaFormat = 9;

/// Returns nullopt if there is no state. Throws StorageError if the database is of another version.
std::optional<Meta> read_meta(const storage::Snapshot& snapshot);
void write_meta(storage::Batch& batch, const Meta& meta);

/// Reads the nodes of the tree at every kept height.
class TreeReader final : public merkle::NodeReader {
  public:
    explicit TreeReader(const storage::Snapshot& snapshot) : snapshot_(snapshot) {}
    std::optional<Bytes> read_node(const merkle::NodeKey& key) const override;

  private:
    const storage::Snapshot& snapshot_;
};

/// Returns the last committed value of a slot, or nullopt if it is empty.
std::optional<Bytes> read_slot(const storage::Snapshot& snapshot, const Bytes& key);
/// Returns the slot with this hash in the state of `height`, which must be kept, or nullopt if it is empty. The tree of
/// that height says which block wrote the value. Throws StorageError.
std::optional<snapshot::Slot> read_slot_at(const storage::Snapshot& snapshot, const Hash256& slot_hash, Height height);
/// Returns at most `limit` slots of the last state, in the order of the hashes of their keys, beginning after the hash
/// `after`.
std::vector<snapshot::Slot> scan_slots(
    const storage::Snapshot& snapshot, const std::optional<Hash256>& after, std::size_t limit
);

/// Adds the state's changes at `height` to `batch` and returns the new app hash. `base` is the height of the previous
/// state; nullopt at genesis.
Hash256 write_state(
    storage::Batch& batch, const storage::Snapshot& snapshot, std::optional<std::uint64_t> base, Height height,
    const contracts::Changes& changes, merkle::NodeCache* nodes = nullptr
);

/// Erases what only the state of `height` needs, so that the first kept state is the next one, which must be in
/// `snapshot`. Returns the number of entries looked at, as a measure of the work.
std::size_t prune_state(storage::Batch& batch, const storage::Snapshot& snapshot, Height height);

/// Adds slots and tree nodes of the state at `height` that come from a snapshot of another node.
void write_restored(
    storage::Batch& batch, Height height, const std::vector<snapshot::Slot>& slots,
    const std::vector<std::pair<merkle::NodeKey, Bytes>>& nodes
);

/// A mark that the database is being filled from a snapshot. While it is set, the database holds no state.
bool is_restoring(const storage::Snapshot& snapshot);
void mark_restoring(storage::Batch& batch);
void unmark_restoring(storage::Batch& batch);
/// Erases everything except that mark.
void erase_all(storage::Store& store);

}  // namespace assay::node
