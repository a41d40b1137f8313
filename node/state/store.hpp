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

/// The node's database: an ordered key-value store with a few columns, written in atomic batches. RocksDB inside.
namespace assay::storage {

/// The disk or the database failed, or it returned damaged data. The node cannot continue and stops.
class StorageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Column families. The numbers are indices; the names are on disk.
enum class Column : std::uint8_t {
    kMeta = 0,    ///< height, app hash, chain id
    kState = 1,   ///< SHA-256(slot) -> slot and last committed value
    kValues = 2,  ///< height, big-endian || SHA-256(slot) -> slot and value written at that height
    kTree = 3,    ///< JMT nodes
    kStale =
        4,  ///< height, big-endian -> tree nodes and values that states from that height on do not need; for pruning
    kHistory = 5,  ///< indexes that no rule reads
    kTxs = 6,      ///< positions of transactions: by hash, and by account
};
inline constexpr std::size_t kColumnCount = 7;

/// A set of changes that is applied atomically. Keys and values are stored in one buffer.
class Batch {
  public:
    void put(Column column, ByteView key, ByteView value) { add(column, key, value, false); }
    void erase(Column column, ByteView key) { add(column, key, {}, true); }
    /// Empties the batch. Its memory is kept for reuse unless it is larger than a large block needs.
    void clear();

    struct Change {
        ByteView key;
        std::optional<ByteView> value;  ///< nullopt erases
    };
    /// Returns the changes of `column` sorted by key; changes of one key stay in the order in which they were made.
    /// Valid until the batch is changed.
    std::vector<Change> in_order(Column column) const;
    std::size_t count() const;
    /// Returns the size of all keys and values.
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

/// A consistent view of the database at one moment. Cheap to create; keeps the database open while it exists.
class Snapshot {
  public:
    ~Snapshot();
    Snapshot(const Snapshot&) = delete;
    Snapshot& operator=(const Snapshot&) = delete;

    /// Returns the value of a key, or nullopt if there is none. Throws StorageError on any other result.
    std::optional<Bytes> get(Column column, ByteView key) const;
    /// Returns at most `limit` entries whose keys start with `prefix`, in ascending order, beginning at `from` (a full
    /// key). Throws StorageError.
    std::vector<Entry> scan(Column column, ByteView prefix, ByteView from, std::size_t limit) const;
    /// The same in descending order, beginning at `from` or the last key before it.
    std::vector<Entry> scan_back(Column column, ByteView prefix, ByteView from, std::size_t limit) const;

  private:
    friend class Store;
    struct Impl;
    explicit Snapshot(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// What a test does to one write to a file: let it pass, make it fail, or write half of it and make it fail. After the
/// first failure every later write fails too.
enum class Fault : std::uint8_t { kNone = 0, kFail = 1, kTear = 2 };

struct StoreOptions {
    bool in_memory = false;  ///< nothing is stored on disk; lost when closed, and `sync` has no effect
    /// When one column has this much unwritten data, all columns are written to files; 0: 16 MiB.
    std::size_t write_buffer_bytes = 0;
    /// Tests only: called before every append and sync of every file, with the number of such calls before.
    std::function<Fault(std::uint64_t)> fault;
    /// Called when a write to a file fails, before the database learns of it. Called on any thread; may end the
    /// process.
    std::function<void(const std::string&)> on_disk_failure{};
};

/// Only one process may have a store open. Reads are allowed on any thread, writes on one.
class Store {
  public:
    /// Opens or creates the database. Throws StorageError.
    explicit Store(const std::filesystem::path& directory, StoreOptions options = {});
    ~Store();
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    /// Applies `batch` atomically. With `sync`, it and all batches before it are on disk afterwards. Without, it
    /// reaches the disk with the next synced batch, when the store is closed, or when the buffers are full. A process
    /// that dies before loses only the last batches, each as a whole. Throws StorageError on failure; every later write
    /// then throws too.
    void write(const Batch& batch, bool sync);
    std::shared_ptr<const Snapshot> snapshot() const;

    struct Impl;

  private:
    std::shared_ptr<Impl> impl_;
};

}  // namespace assay::storage
