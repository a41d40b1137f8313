// SPDX-License-Identifier: Apache-2.0
#include <consensus/solo/block_log.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <span>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/crypto/keys.hpp>
#include <core/system/sync_folder.hpp>

namespace assay::solo {
namespace {

constexpr std::string_view kLogMagic = "ASSAYBL1";
constexpr std::string_view kRecordMagic = "\xA5\x42\x4C\x4B";  // A5 "BLK"
constexpr std::size_t kCheckBytes = 8;
constexpr std::size_t kHeaderBytes = 4 + 4 + kCheckBytes;
constexpr std::uint32_t kPayloadMax = 64U << 20U;
// What a record begins with after its own header: the block's header, without the chain id, and the signature.
constexpr std::size_t kChainIdMax = 48;
constexpr std::size_t kFixedHeaderBytes = 8 + 8 + 4 * 32;
constexpr std::size_t kSignatureBytes = 64;
constexpr std::size_t kSignedHeaderMax = kHeaderBytes + 4 + kChainIdMax + kFixedHeaderBytes + kSignatureBytes;

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what) {
    throw BlockLogError("block log " + file.string() + ": " + what);
}

[[noreturn]] void fail_errno(const std::filesystem::path& file, const char* what) {
    fail(file, std::string(what) + ": " + std::strerror(errno));
}

/// Reads up to out.size() bytes at `offset`; less only at the end of the file.
std::size_t read_at(int fd, std::span<std::uint8_t> out, std::uint64_t offset, const std::filesystem::path& file) {
    std::size_t done = 0;
    while (done < out.size()) {
        const ssize_t n = ::pread(fd, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            fail_errno(file, "read");
        }
        if (n == 0) {
            break;
        }
        done += static_cast<std::size_t>(n);
    }
    return done;
}

bool write_all(int fd, ByteView bytes, std::uint64_t offset) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t n = ::pwrite(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        done += static_cast<std::size_t>(n);
    }
    return true;
}

void sync_directory(const std::filesystem::path& file) {
    if (!system::sync_folder(file.parent_path())) {
        fail_errno(file, "cannot sync the directory");
    }
}

std::array<std::uint8_t, kCheckBytes> check_of(ByteView length, ByteView payload) {
    static const crypto::TaggedHash kHash("assay/blocklog");
    const Hash256 digest = kHash(length, payload);
    std::array<std::uint8_t, kCheckBytes> out{};
    std::copy_n(digest.data.begin(), kCheckBytes, out.begin());
    return out;
}

Bytes frame(const LogRecord& record) {
    Bytes out(kHeaderBytes);
    codec::encode_to(out, record);
    const ByteView payload = ByteView(out).subspan(kHeaderBytes);
    ASSERT(payload.size() <= kPayloadMax);
    Bytes header;
    append(header, as_bytes(kRecordMagic));
    codec::encode_to(header, static_cast<std::uint32_t>(payload.size()));
    append(header, check_of(ByteView(header).subspan(kRecordMagic.size()), payload));
    std::copy(header.begin(), header.end(), out.begin());
    return out;
}

struct Framed {
    LogRecord record;
    std::uint64_t size_bytes = 0;  ///< header included
};

/// The record at `offset` if there is a whole, undamaged one before `end`, where the file ends: nothing is allocated
/// for a length that the file cannot hold.
std::optional<Framed> read_record(int fd, std::uint64_t offset, std::uint64_t end, const std::filesystem::path& file) {
    std::array<std::uint8_t, kHeaderBytes> header{};
    if (end - offset < header.size() || read_at(fd, header, offset, file) != header.size()) {
        return std::nullopt;
    }
    const ByteView view = header;
    if (!std::ranges::equal(view.first(4), as_bytes(kRecordMagic))) {
        return std::nullopt;
    }
    const auto length = codec::decode<std::uint32_t>(view.subspan(4, 4));
    if (!length || *length > kPayloadMax || *length > end - offset - kHeaderBytes) {
        return std::nullopt;
    }
    Bytes payload(*length);
    if (read_at(fd, payload, offset + kHeaderBytes, file) != payload.size() ||
        !std::ranges::equal(view.subspan(8), check_of(view.subspan(4, 4), payload))) {
        return std::nullopt;
    }
    auto record = codec::decode<LogRecord>(payload);
    if (!record) {
        return std::nullopt;
    }
    return Framed{.record = *std::move(record), .size_bytes = kHeaderBytes + payload.size()};
}

/// The header of the block whose record `bytes` begin with, if its proposer signed it. Looks at no more than a header.
std::optional<BlockHeader> signed_header(ByteView bytes, const BlockHeader& last_good, std::uint64_t& signatures) {
    if (bytes.size() < kHeaderBytes + 4) {
        return std::nullopt;
    }
    const auto id_size = codec::decode<std::uint32_t>(bytes.subspan(kHeaderBytes, 4));
    if (!id_size || *id_size > kChainIdMax) {
        return std::nullopt;
    }
    const std::size_t header_size = 4 + *id_size + kFixedHeaderBytes;
    if (bytes.size() < kHeaderBytes + header_size + kSignatureBytes) {
        return std::nullopt;
    }
    auto header = codec::decode<BlockHeader>(bytes.subspan(kHeaderBytes, header_size));
    const bool may_follow = header && header->height > last_good.height &&
                            (last_good.height.value == 0 ||
                             (header->proposer == last_good.proposer && header->chain_id == last_good.chain_id));
    if (!may_follow) {
        return std::nullopt;
    }
    Signature signature;
    std::copy_n(
        bytes.begin() + static_cast<std::ptrdiff_t>(kHeaderBytes + header_size), kSignatureBytes, signature.data.begin()
    );
    ++signatures;
    if (!crypto::verify_signature(header->proposer, block_hash(*header).view(), signature)) {
        return std::nullopt;
    }
    return *std::move(header);
}

/// Whether a later block of the same proposer lies behind `offset`: then what is at `offset` was once written whole and
/// has been damaged since. Its signed header tells: the proposer did not sign bytes of a transaction that look like a
/// record. Every byte is read once, and a signature verified at most once for as many bytes as a header and its
/// signature have.
bool has_later_record(
    int fd, std::uint64_t offset, std::uint64_t end, const BlockHeader& last_good, const std::filesystem::path& file,
    ScanCost& cost
) {
    constexpr std::size_t kWindow = 1U << 20U;
    const ByteView magic = as_bytes(kRecordMagic);
    Bytes window;
    for (std::uint64_t base = offset + 1; base < end; base += kWindow) {
        window.resize(std::min<std::uint64_t>(kWindow + kSignedHeaderMax, end - base));
        window.resize(read_at(fd, window, base, file));
        cost.bytes_read += window.size();
        const auto stop = window.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(window.size(), kWindow));
        for (auto at = window.begin();; ++at) {
            at = std::search(at, window.end(), magic.begin(), magic.end());
            if (at >= stop) {
                break;
            }
            const ByteView rest = ByteView(window).subspan(static_cast<std::size_t>(at - window.begin()));
            if (signed_header(rest, last_good, cost.signatures_verified)) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

BlockLog::BlockLog(std::filesystem::path file, Mode mode) : file_(std::move(file)), mode_(mode) {
    fd_ = ::open(file_.c_str(), (mode_ == Mode::kAppend ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC, 0644);
    if (fd_ < 0) {
        fail_errno(file_, "cannot open");
    }
    try {
        scan();
    } catch (...) {
        ::close(fd_);
        throw;
    }
}

BlockLog::~BlockLog() { ::close(fd_); }

void BlockLog::create() {
    if (mode_ == Mode::kReadOnly) {
        fail(file_, "is empty");
    }
    if (::ftruncate(fd_, 0) != 0 || !write_all(fd_, as_bytes(kLogMagic), 0) || ::fsync(fd_) != 0) {
        fail_errno(file_, "cannot create");
    }
    sync_directory(file_);
    end_ = kLogMagic.size();
}

void BlockLog::scan() {
    struct ::stat info {};
    if (::fstat(fd_, &info) != 0) {
        fail_errno(file_, "cannot stat");
    }
    const auto size = static_cast<std::uint64_t>(info.st_size);
    Bytes magic(kLogMagic.size());
    magic.resize(read_at(fd_, magic, 0, file_));
    if (!std::ranges::equal(magic, as_bytes(kLogMagic.substr(0, magic.size())))) {
        fail(file_, "is not a block log, or is one of another version");
    }
    if (magic.size() < kLogMagic.size()) {
        create();
        return;
    }
    end_ = kLogMagic.size();
    BlockHeader last_good;
    while (end_ < size) {
        const auto framed = read_record(fd_, end_, size, file_);
        if (!framed) {
            if (has_later_record(fd_, end_, size, last_good, file_, scan_cost_)) {
                fail(
                    file_, "the record of height " + std::to_string(last_good.height.value + 1) + " at offset " +
                               std::to_string(end_) + " is damaged and whole records follow it: restore a backup"
                );
            }
            take_torn_tail(end_, size);
            break;
        }
        const std::uint64_t height = framed->record.block.header.height.value;
        if (offsets_.empty() && height != 0) {
            first_ = height;
        } else if (height != last_good.height.value + 1) {
            fail(file_, "the record at offset " + std::to_string(end_) + " is not of the next height");
        }
        last_good = framed->record.block.header;
        offsets_.push_back(end_);
        end_ += framed->size_bytes;
    }
}

void BlockLog::take_torn_tail(std::uint64_t offset, std::uint64_t end) {
    torn_tail_ = TornTail{.offset = offset, .size_bytes = end - offset};
    if (mode_ == Mode::kReadOnly) {
        return;
    }
    const std::string aside = file_.string() + ".torn";
    const int out = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (out < 0) {
        fail_errno(file_, "cannot set the torn record aside");
    }
    Bytes chunk(1U << 20U);
    for (std::uint64_t at = offset; at < end;) {
        const std::size_t n =
            read_at(fd_, std::span(chunk).first(std::min<std::uint64_t>(chunk.size(), end - at)), at, file_);
        if (n == 0 || !write_all(out, ByteView(chunk).first(n), at - offset)) {
            ::close(out);
            fail_errno(file_, "cannot set the torn record aside");
        }
        at += n;
    }
    ::close(out);
    if (::ftruncate(fd_, static_cast<off_t>(offset)) != 0 || ::fsync(fd_) != 0) {
        fail_errno(file_, "cannot cut the torn record");
    }
}

std::uint64_t BlockLog::size_bytes() const {
    const std::shared_lock lock(mutex_);
    return end_;
}

Height BlockLog::height() const {
    const std::shared_lock lock(mutex_);
    return Height{first_ - 1 + offsets_.size()};
}

Height BlockLog::first_height() const {
    const std::shared_lock lock(mutex_);
    return Height{first_};
}

bool BlockLog::has(Height height) const { return height.value >= first_ && height.value - first_ < offsets_.size(); }

std::uint64_t BlockLog::offset_of(Height height) const { return offsets_[height.value - first_]; }

void BlockLog::begin_append() {
    ASSERT(mode_ == Mode::kAppend);
    if (failed_) {
        fail(file_, "an earlier append failed");
    }
    // A failed fdatasync may have dropped the pages: only a restart, which reads what is there, can tell.
    failed_ = true;
}

void BlockLog::finish_append(const std::vector<std::uint64_t>& offsets, std::uint64_t end) {
    if (::fdatasync(fd_) != 0) {
        fail_errno(file_, "cannot append");
    }
    failed_ = false;
    const std::unique_lock lock(mutex_);
    offsets_.insert(offsets_.end(), offsets.begin(), offsets.end());
    end_ = end;
}

void BlockLog::append(const LogRecord& record) {
    ASSERT(record.block.header.height.value == height().value + 1);
    begin_append();
    const Bytes bytes = frame(record);
    if (!write_all(fd_, bytes, end_)) {
        fail_errno(file_, "cannot append");
    }
    finish_append({end_}, end_ + bytes.size());
}

void BlockLog::append_from(const BlockLog& source, Height first) {
    const bool is_empty = offsets_.empty();
    ASSERT(is_empty || first.value == height().value + 1);
    begin_append();
    std::vector<std::uint64_t> offsets;
    std::uint64_t end = end_;
    for (Height height = first; height <= source.height(); ++height.value) {
        const auto record = source.read(height);
        ASSERT(record.has_value());
        const Bytes bytes = frame(*record);
        if (!write_all(fd_, bytes, end)) {
            fail_errno(file_, "cannot append");
        }
        offsets.push_back(end);
        end += bytes.size();
    }
    if (is_empty && !offsets.empty()) {
        first_ = first.value;
    }
    finish_append(offsets, end);
}

std::optional<LogRecord> BlockLog::read(Height height) const {
    std::uint64_t offset = 0;
    std::uint64_t end = 0;
    {
        const std::shared_lock lock(mutex_);
        if (!has(height)) {
            return std::nullopt;
        }
        offset = offset_of(height);
        end = end_;
    }
    auto framed = read_record(fd_, offset, end, file_);
    if (!framed) {
        fail(
            file_, "the record of height " + std::to_string(height.value) + " at offset " + std::to_string(offset) +
                       " is damaged: restore a backup"
        );
    }
    return std::move(framed->record);
}

std::optional<Bytes> BlockLog::read_part(Height height, std::uint64_t before_end, std::uint64_t size) const {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    {
        const std::shared_lock lock(mutex_);
        if (!has(height)) {
            return std::nullopt;
        }
        begin = offset_of(height) + kHeaderBytes;
        const Height next{height.value + 1};
        end = has(next) ? offset_of(next) : end_;
    }
    // LogRecord ends with the transactions and the app hash.
    end -= Hash256::kSizeBytes;
    if (size > before_end || before_end > end - begin) {
        return std::nullopt;
    }
    Bytes out(size);
    if (read_at(fd_, out, end - before_end, file_) != size) {
        return std::nullopt;
    }
    return out;
}

void cut_log(const BlockLog& log, const std::filesystem::path& file, Height first) {
    const std::filesystem::path shorter = file.string() + ".pruned";
    std::filesystem::remove(shorter);
    BlockLog(shorter).append_from(log, first);
    std::filesystem::rename(shorter, file);
    sync_directory(file);
}

}  // namespace assay::solo
