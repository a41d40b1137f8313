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

/// The log cannot be written, or what is in it is damaged where no crash could have damaged it.
class BlockLogError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct LogRecord {
    Block block;
    Hash256 app_hash;  ///< of the state after the block
    static constexpr auto fields() { return Fields<&LogRecord::block, &LogRecord::app_hash>{}; }
};

/// What opening found after the last whole record.
struct TornTail {
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
};

/// What looking for records behind a damaged one took: tests hold it against the size of the file.
struct ScanCost {
    std::uint64_t bytes_read = 0;
    std::uint64_t signatures_verified = 0;
};

/// The chain itself: an append-only file of blocks, each on the disk before anybody hears of it. Everything else the
/// node stores can be computed from it.
///
/// File: kLogMagic, then per record kRecordMagic, payload length (u32 little-endian), the first 8 bytes of
/// "assay/blocklog" over length and payload, and the payload, Borsh(LogRecord). Heights run from 1 without gaps.
/// Reads on any thread, appends on one.
class BlockLog {
  public:
    enum class Mode : std::uint8_t { kAppend = 1, kReadOnly = 2 };

    /// Opens or creates, checking every record. A record that a crash cut short is moved to `<file>.torn` and reported;
    /// any other damage throws BlockLogError naming the offset. Read-only leaves the file as it is.
    explicit BlockLog(std::filesystem::path file, Mode mode = Mode::kAppend);
    ~BlockLog();
    BlockLog(const BlockLog&) = delete;
    BlockLog& operator=(const BlockLog&) = delete;

    /// Height of the last block; 0 when there is none.
    Height height() const;
    const std::optional<TornTail>& torn_tail() const { return torn_tail_; }
    const ScanCost& scan_cost() const { return scan_cost_; }
    /// Returns when the record is on the disk. The block's height must be height() + 1. After a failure every further
    /// append throws too.
    void append(const LogRecord& record);
    /// nullopt beyond the last height. Throws BlockLogError when the record is damaged.
    std::optional<LogRecord> read(Height height) const;
    /// `size` bytes of a block's transactions, from `before_end` bytes before the end of their Borsh list on. Nothing else
    /// is read, so it is the caller who checks them. nullopt where the record has no such bytes.
    std::optional<Bytes> read_part(Height height, std::uint64_t before_end, std::uint64_t size) const;

  private:
    void create();
    void scan();
    void take_torn_tail(std::uint64_t offset, std::uint64_t end);

    std::filesystem::path file_;
    Mode mode_;
    int fd_ = -1;
    bool failed_ = false;
    std::optional<TornTail> torn_tail_;
    ScanCost scan_cost_;
    mutable std::shared_mutex mutex_;
    std::vector<std::uint64_t> offsets_;  ///< of record i + 1
    std::uint64_t end_ = 0;
};

}  // namespace assay::solo
