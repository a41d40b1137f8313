// SPDX-License-Identifier: Apache-2.0
#include <node/state/store.hpp>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <limits>
#include <utility>

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/table_properties_collectors.h>
#include <rocksdb/write_batch.h>

#include <core/base/assert.hpp>
#include <node/state/fault_file_system.hpp>
#include <node/state/guarded_file_system.hpp>

namespace assay::storage {
namespace {

constexpr std::array<const char*, kColumnCount> kColumnNames{"default", "state",   "values", "tree",
                                                             "stale",   "history", "txs"};

/// RocksDB compares what it is given without looking whether it is there, so no null pointer for what is empty.
rocksdb::Slice to_slice(ByteView bytes) {
    return bytes.empty() ? rocksdb::Slice() : rocksdb::Slice(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Bytes to_bytes(const rocksdb::Slice& slice) {
    const auto view = as_bytes(std::string_view(slice.data(), slice.size()));
    return Bytes(view.begin(), view.end());
}

void check(const rocksdb::Status& status, const char* what) {
    if (!status.ok()) {
        throw StorageError(std::string("database: ") + what + ": " + status.ToString());
    }
}

/// What is kept for the next batch: memory fresh from the kernel costs more than what is written into it.
constexpr std::size_t kKeptBytes = 64U << 20U;

/// There is no log beside the files (ADR 26), so the columns go to files together, when the first has filled its
/// buffer. That makes small files of most columns. They are merged many at a time, and those whose keys follow those
/// before them, as heights do, are never written again: RocksDB's other way rewrites each at least once.
void use_small_files(rocksdb::ColumnFamilyOptions& options) {
    constexpr std::size_t kBufferBytes = 16U << 20U;
    constexpr int kFilesMerged = 16;
    options.write_buffer_size = kBufferBytes;
    options.max_write_buffer_number = 4;
    // A read asks each buffer.
    options.memtable_whole_key_filtering = true;
    options.memtable_prefix_bloom_size_ratio = 0.05;
    options.compaction_style = rocksdb::kCompactionStyleUniversal;
    options.compaction_options_universal.allow_trivial_move = true;
    options.level0_file_num_compaction_trigger = kFilesMerged;
    options.level0_slowdown_writes_trigger = 3 * kFilesMerged;
    options.level0_stop_writes_trigger = 4 * kFilesMerged;
    // Most of it is hashes, and a file that is compressed later cannot stay as it is.
    options.compression = rocksdb::kNoCompression;
}

rocksdb::ColumnFamilyOptions make_column_options(Column column, const StoreOptions& store) {
    // A file where so many of so many neighbours erase something is compacted soon: pruning frees the disk.
    constexpr std::size_t kWindow = 4'096;
    constexpr std::size_t kErased = 1'024;
    rocksdb::ColumnFamilyOptions options;
    options.table_properties_collector_factories.push_back(
        rocksdb::NewCompactOnDeletionCollectorFactory(kWindow, kErased)
    );
    use_small_files(options);
    if (column == Column::kTxs) {
        // Nothing is written twice there, so that merging the largest files would gain no room.
        options.compaction_options_universal.max_size_amplification_percent = std::numeric_limits<unsigned>::max();
    }
    if (store.write_buffer_bytes != 0) {
        options.write_buffer_size = store.write_buffer_bytes;
    }
    // One place to begin the search at, where the key before was inserted: a batch is in the order of its keys.
    options.memtable_insert_with_hint_prefix_extractor.reset(rocksdb::NewCappedPrefixTransform(0));
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.format_version = 5;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return options;
}

/// The database's own log: none. It is written beside the guarded files, and a full disk under it ends in an assertion.
class NoLog final : public rocksdb::Logger {
  public:
    using rocksdb::Logger::Logv;
    void Logv(const char* /*format*/, va_list /*values*/) override {}
};

}  // namespace

void Batch::add(Column column, ByteView key, ByteView value, bool erases) {
    ASSERT(std::in_range<std::uint32_t>(key.size()) && std::in_range<std::uint32_t>(value.size()));
    places_[static_cast<std::size_t>(column)].push_back({
        .offset = bytes_.size(),
        .key_size = static_cast<std::uint32_t>(key.size()),
        .value_size = static_cast<std::uint32_t>(value.size()),
        .erases = erases,
    });
    append(bytes_, key);
    append(bytes_, value);
}

void Batch::clear() {
    bytes_.clear();
    if (bytes_.capacity() > kKeptBytes) {
        bytes_.shrink_to_fit();
    }
    for (auto& places : places_) {
        places.clear();
    }
}

Batch::Change Batch::at(const Place& place) const {
    const ByteView both = ByteView(bytes_).subspan(place.offset, std::size_t{place.key_size} + place.value_size);
    return {
        .key = both.first(place.key_size),
        .value = place.erases ? std::nullopt : std::optional(both.subspan(place.key_size)),
    };
}

std::vector<Batch::Change> Batch::in_order(Column column) const {
    std::vector<Change> out;
    out.reserve(places_[static_cast<std::size_t>(column)].size());
    for (const Place& place : places_[static_cast<std::size_t>(column)]) {
        out.push_back(at(place));
    }
    const auto is_before = [](const Change& a, const Change& b) {
        return to_slice(a.key).compare(to_slice(b.key)) < 0;
    };
    if (!std::is_sorted(out.begin(), out.end(), is_before)) {
        std::stable_sort(out.begin(), out.end(), is_before);
    }
    return out;
}

std::size_t Batch::count() const {
    std::size_t count = 0;
    for (const auto& places : places_) {
        count += places.size();
    }
    return count;
}

struct Store::Impl {
    std::unique_ptr<rocksdb::Env> env;
    std::unique_ptr<rocksdb::Env> guard;  // over env
    std::unique_ptr<rocksdb::DB> db;
    std::vector<rocksdb::ColumnFamilyHandle*> columns;
    rocksdb::WriteBatch batch;  ///< of the last write: its memory is used again
    bool failed = false;
    bool in_memory = false;

    rocksdb::ColumnFamilyHandle* handle(Column column) const { return columns.at(static_cast<std::size_t>(column)); }

    ~Impl() {
        if (db == nullptr) {
            return;
        }
        for (rocksdb::ColumnFamilyHandle* column : columns) {
            // Destroying the handle frees it; nothing can be done about a failure to.
            static_cast<void>(db->DestroyColumnFamilyHandle(column));
        }
    }
};

struct Snapshot::Impl {
    std::shared_ptr<Store::Impl> store;
    const rocksdb::Snapshot* snapshot = nullptr;

    rocksdb::ReadOptions read_options() const {
        rocksdb::ReadOptions options;
        options.snapshot = snapshot;
        options.verify_checksums = true;
        return options;
    }
};

Snapshot::Snapshot(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Snapshot::~Snapshot() { impl_->store->db->ReleaseSnapshot(impl_->snapshot); }

std::optional<Bytes> Snapshot::get(Column column, ByteView key) const {
    rocksdb::PinnableSlice value;
    const auto status =
        impl_->store->db->Get(impl_->read_options(), impl_->store->handle(column), to_slice(key), &value);
    if (status.IsNotFound()) {
        return std::nullopt;
    }
    check(status, "read");
    return to_bytes(value);
}

std::vector<Entry> Snapshot::scan(Column column, ByteView prefix, ByteView from, std::size_t limit) const {
    const std::unique_ptr<rocksdb::Iterator> it(
        impl_->store->db->NewIterator(impl_->read_options(), impl_->store->handle(column))
    );
    std::vector<Entry> out;
    for (it->Seek(to_slice(from)); out.size() < limit && it->Valid() && it->key().starts_with(to_slice(prefix));
         it->Next()) {
        out.push_back({.key = to_bytes(it->key()), .value = to_bytes(it->value())});
    }
    check(it->status(), "scan");
    return out;
}

std::vector<Entry> Snapshot::scan_back(Column column, ByteView prefix, ByteView from, std::size_t limit) const {
    const std::unique_ptr<rocksdb::Iterator> it(
        impl_->store->db->NewIterator(impl_->read_options(), impl_->store->handle(column))
    );
    std::vector<Entry> out;
    for (it->SeekForPrev(to_slice(from)); out.size() < limit && it->Valid() && it->key().starts_with(to_slice(prefix));
         it->Prev()) {
        out.push_back({.key = to_bytes(it->key()), .value = to_bytes(it->value())});
    }
    check(it->status(), "scan");
    return out;
}

Store::Store(const std::filesystem::path& directory, StoreOptions options) : impl_(std::make_shared<Impl>()) {
    rocksdb::DBOptions db_options;
    db_options.create_if_missing = true;
    db_options.create_missing_column_families = true;
    db_options.paranoid_checks = true;
    db_options.keep_log_file_num = 2;
    db_options.max_background_jobs = 2;
    db_options.atomic_flush = true;
    db_options.info_log = std::make_shared<NoLog>();
    if (options.in_memory) {
        impl_->in_memory = true;
        impl_->env.reset(rocksdb::NewMemEnv(rocksdb::Env::Default()));
    } else if (options.fault) {
        impl_->env = make_fault_env(std::move(options.fault));
    }
    if (impl_->env) {
        db_options.env = impl_->env.get();
    }
    if (options.on_disk_failure) {
        impl_->guard = make_guarded_env(impl_->env.get(), std::move(options.on_disk_failure));
        db_options.env = impl_->guard.get();
    }
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (std::size_t i = 0; i < kColumnCount; ++i) {
        descriptors.emplace_back(kColumnNames[i], make_column_options(static_cast<Column>(i), options));
    }
    rocksdb::DB* db = nullptr;
    const auto status = rocksdb::DB::Open(db_options, directory.string(), descriptors, &impl_->columns, &db);
    if (!status.ok()) {
        throw StorageError("cannot open the database in " + directory.string() + ": " + status.ToString());
    }
    impl_->db.reset(db);
}

Store::~Store() = default;

void Store::write(const Batch& batch, bool sync) {
    if (impl_->failed) {
        throw StorageError("database: an earlier write failed");
    }
    rocksdb::WriteBatch& out = impl_->batch;
    if (out.GetDataSize() > kKeptBytes) {
        out = rocksdb::WriteBatch();
    }
    out.Clear();
    // Failed until the database says otherwise: a write that throws on the way is a failed one too.
    impl_->failed = true;
    for (std::size_t i = 0; i < kColumnCount; ++i) {
        const auto column = static_cast<Column>(i);
        rocksdb::ColumnFamilyHandle* const handle = impl_->handle(column);
        // Each key is inserted near the one before it.
        for (const Batch::Change& change : batch.in_order(column)) {
            check(
                change.value ? out.Put(handle, to_slice(change.key), to_slice(*change.value))
                             : out.Delete(handle, to_slice(change.key)),
                "collect"
            );
        }
    }
    rocksdb::WriteOptions options;
    options.disableWAL = true;
    check(impl_->db->Write(options, &out), "write");
    if (sync && !impl_->in_memory) {
        check(impl_->db->Flush(rocksdb::FlushOptions(), impl_->columns), "sync");
    }
    impl_->failed = false;
}

std::shared_ptr<const Snapshot> Store::snapshot() const {
    auto impl = std::make_unique<Snapshot::Impl>();
    impl->store = impl_;
    impl->snapshot = impl_->db->GetSnapshot();
    if (impl->snapshot == nullptr) {
        throw StorageError("database: no snapshot");
    }
    return std::shared_ptr<const Snapshot>(new Snapshot(std::move(impl)));
}

}  // namespace assay::storage
