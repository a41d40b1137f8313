// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <consensus/solo/block.hpp>

namespace assay::solo {

/// The log cannot be written, or it is damaged in a way that a crash cannot cause.
class BlockLogError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct LogRecord {
    Block block;
    Hash256 app_hash;  ///< of the state after the block
    static constexpr auto fields() { return Fields<&LogRecord::block, &LogRecord::app_hash>{}; }
};

/// The incomplete data that opening the log found after the last whole record.
struct TornTail {
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
};

/// The cost of searching for whole records after a damaged one. Tests compare it with the size of the file.
struct ScanCost {
    std::uint64_t bytes_read = 0;
    std::uint64_t signatures_verified = 0;
};

/// The chain itself: an append-only file of blocks. A block is on disk before anyone learns of it. Everything else that
/// the node stores can be computed from this file.
///
/// File: kLogMagic, then per record kRecordMagic, payload length (u32 little-endian), the first 8 bytes of the tagged
/// hash "assay/blocklog" of length and payload, and the payload, Borsh(LogRecord). Heights have no gaps; they start at
/// 1 unless the log was pruned (ADR 106). Reads are allowed on any thread, appends on one.
class BlockLog {
  public:
    enum class Mode : std::uint8_t { kAppend = 1, kReadOnly = 2 };

    /// Opens or creates the log and checks every record. A record cut short by a crash is moved to `<file>.torn` and
    /// reported by torn_tail(); any other damage throws BlockLogError with the offset. Read-only mode does not change
    /// the file.
    explicit BlockLog(std::filesystem::path file, Mode mode = Mode::kAppend);
    ~BlockLog();
    BlockLog(const BlockLog&) = delete;
    BlockLog& operator=(const BlockLog&) = delete;

    /// Returns the height of the last block, or 0 if there is none.
    Height height() const;
    /// Returns the height of the first block, which is above 1 if the log was pruned; 1 if there is none.
    Height first_height() const;
    /// Returns the size of the file up to the end of its last whole record.
    std::uint64_t size_bytes() const;
    const std::optional<TornTail>& torn_tail() const { return torn_tail_; }
    const ScanCost& scan_cost() const { return scan_cost_; }
    /// Appends a record and returns when it is on disk. The block's height must be height() + 1. Throws BlockLogError
    /// on failure; every later append then throws too.
    void append(const LogRecord& record);
    /// Appends the records of `source` from `first` on, which must be height() + 1 unless this log is empty, and
    /// returns when they are on disk. Throws BlockLogError as append() does.
    void append_from(const BlockLog& source, Height first);
    /// Returns the record of `height`, or nullopt if there is none. Throws BlockLogError if the record is damaged.
    std::optional<LogRecord> read(Height height) const;
    /// Returns `size` bytes of a block's transactions, starting `before_end` bytes before the end of their Borsh list,
    /// or nullopt if the record has no such bytes. Nothing else is read, so the caller must check the bytes.
    std::optional<Bytes> read_part(Height height, std::uint64_t before_end, std::uint64_t size) const;

  private:
    void create();
    void scan();
    std::uint64_t offset_of(Height height) const;
    bool has(Height height) const;
    void begin_append();
    void finish_append(const std::vector<std::uint64_t>& offsets, std::uint64_t end);
    void take_torn_tail(std::uint64_t offset, std::uint64_t end);

    std::filesystem::path file_;
    Mode mode_;
    int fd_ = -1;
    bool failed_ = false;
    std::optional<TornTail> torn_tail_;
    ScanCost scan_cost_;
    mutable std::shared_mutex mutex_;
    std::uint64_t first_ = 1;             ///< height of the first record
    std::vector<std::uint64_t> offsets_;  ///< of record first_ + i
    std::uint64_t end_ = 0;
};

/// Replaces the file of `log` with one that has its records from `first` on, which is on disk when this returns. A
/// process that dies in it leaves one of the two, and perhaps `<file>.pruned`. `log` still reads the old file. Throws
/// BlockLogError and std::filesystem::filesystem_error.
void cut_log(const BlockLog& log, const std::filesystem::path& file, Height first);

}  // namespace assay::solo
