// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>

/// The node's database: ordered byte strings in a few columns, written one atomic batch at a time. RocksDB inside.
namespace assay::storage {

/// The disk or the database failed, or what it returned is damaged. Nobody can go on after it: the node stops.
class StorageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Column families. Numbers are indices, names are on disk.
enum class Column : std::uint8_t {
    kMeta = 0,     ///< height, app hash, chain id
    kState = 1,    ///< SHA-256(slot) -> slot and last committed value
    kValues = 2,   ///< height, big-endian || SHA-256(slot) -> slot and value written at that height
    kTree = 3,     ///< JMT nodes
    kStale = 4,    ///< height, big-endian -> nodes that it and later ones do not reach, values it replaced; for pruning
    kHistory = 5,  ///< indexes that no rule reads
    kTxs = 6,      ///< where transactions are: by their hash, and by account
};
inline constexpr std::size_t kColumnCount = 7;

/// A set of changes that becomes visible and durable whole or not at all. Keys and values lie in one piece of memory.
class Batch {
  public:
    void put(Column column, ByteView key, ByteView value) { add(column, key, value, false); }
    void erase(Column column, ByteView key) { add(column, key, {}, true); }
    /// Empties it. The memory is kept for the next changes, if it is no more than a large block needs.
    void clear();

    struct Change {
        ByteView key;
        std::optional<ByteView> value;  ///< nullopt erases
    };
    /// The changes of `column` by key, the later of two with one key after the earlier. Until the next put or erase.
    std::vector<Change> in_order(Column column) const;
    std::size_t count() const;
    /// Of all keys and values.
    std::size_t size_bytes() const { return bytes_.size(); }

  private:
    struct Place {
        std::size_t offset = 0;
        std::uint32_t key_size = 0;
        std::uint32_t value_size = 0;
        bool erases = false;
    };
    void add(Column column, ByteView key, ByteView value, bool erases);
    Change at(const Place& place) const;

    Bytes bytes_;
    std::array<std::vector<Place>, kColumnCount> places_;
};

struct Entry {
    Bytes key;
    Bytes value;
};

/// The database as it was at one moment. Cheap; keeps the database open while it lives.
class Snapshot {
  public:
    ~Snapshot();
    Snapshot(const Snapshot&) = delete;
    Snapshot& operator=(const Snapshot&) = delete;

    /// Throws StorageError for anything but found and not found.
    std::optional<Bytes> get(Column column, ByteView key) const;
    /// At most `limit` entries whose keys start with `prefix`, ascending, from `from` (a full key) on.
    std::vector<Entry> scan(Column column, ByteView prefix, ByteView from, std::size_t limit) const;

  private:
    friend class Store;
    struct Impl;
    explicit Snapshot(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// What a test makes of one write to a file: let it pass, refuse it, or let half of it through and refuse it.
/// After the first refusal the device stays dead.
enum class Fault : std::uint8_t { kNone = 0, kFail = 1, kTear = 2 };

struct StoreOptions {
    bool in_memory = false;       ///< nothing on disk; gone when closed, and there is nothing to sync
    std::size_t write_buffer_bytes = 0;  ///< of the column that fills it first, before all go to files; 0: 16 MB
    /// Tests only: asked before every append and sync of every file with their number so far.
    std::function<Fault(std::uint64_t)> fault;
    /// Told of the first write to a file that fails, before the database goes on: on any thread; may end the process.
    std::function<void(const std::string&)> on_disk_failure{};
};

/// One process has a store open at a time. Reads on any thread, writes on one.
class Store {
  public:
    /// Opens or creates. Throws StorageError.
    explicit Store(const std::filesystem::path& directory, StoreOptions options = {});
    ~Store();
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    /// Applies `batch` atomically. With `sync` it is on the disk afterwards, with all before it. Without, it gets there
    /// with the next that is synced, when the store is closed, or when the buffers are full: a process that dies before
    /// loses the last batches, whole ones, and no others. After a failure every further write throws too.
    void write(const Batch& batch, bool sync);
    std::shared_ptr<const Snapshot> snapshot() const;

    struct Impl;

  private:
    std::shared_ptr<Impl> impl_;
};

}  // namespace assay::storage
