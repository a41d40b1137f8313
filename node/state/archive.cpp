// SPDX-License-Identifier: Apache-2.0
#include <node/state/archive.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <core/system/file.hpp>
#include <core/system/sync_folder.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <node/state/store.hpp>

namespace assay::snapshot {
namespace {

using storage::StorageError;

constexpr const char* kMetadataFile = "metadata";
/// What is not a snapshot, or no longer one, has this behind its name.
constexpr const char* kPart = ".part";

[[noreturn]] void fail(const std::filesystem::path& file) {
    throw StorageError("snapshots: cannot write " + file.string() + ": " + std::strerror(errno));
}

void sync_folder(const std::filesystem::path& folder) {
    if (!system::sync_folder(folder)) {
        fail(folder);
    }
}

void write_file(const std::filesystem::path& file, ByteView bytes) {
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) {
        fail(file);
    }
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t size = ::write(fd, bytes.data() + done, bytes.size() - done);
        if (size < 0 && errno != EINTR) {
            break;
        }
        done += size > 0 ? static_cast<std::size_t>(size) : 0U;
    }
    const bool synced = done == bytes.size() && ::fsync(fd) == 0;
    ::close(fd);
    if (!synced) {
        fail(file);
    }
}

std::optional<Bytes> read_file(const std::filesystem::path& file) {
    const auto text = system::read_file(file);
    return text ? std::optional(to_bytes(*text)) : std::nullopt;
}

consensus::SnapshotInfo describe(const Metadata& metadata) {
    consensus::SnapshotInfo info{
        .height = metadata.height,
        .format = kFormat,
        .chunks = static_cast<std::uint32_t>(metadata.chunks.size()),
        .hash = {},
        .metadata = codec::encode(metadata)};
    info.hash = crypto::sha256(info.metadata);
    return info;
}

/// The snapshot in a folder of this name; nullopt when it is none.
std::optional<consensus::SnapshotInfo> read_snapshot(const std::filesystem::path& folder) {
    const std::string name = folder.filename().string();
    std::uint64_t height = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), height);
    const auto bytes = read_file(folder / kMetadataFile);
    const auto metadata = bytes ? decode_metadata(*bytes) : std::nullopt;
    if (error != std::errc{} || end != name.data() + name.size() || !metadata || metadata->height.value != height) {
        return std::nullopt;
    }
    return describe(*metadata);
}

}  // namespace

Archive::Archive(std::filesystem::path directory, std::uint32_t keep)
    : directory_(std::move(directory)), keep_(std::max<std::uint32_t>(keep, 1)) {
    std::filesystem::create_directories(directory_);
    std::vector<std::filesystem::path> folders;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
        folders.push_back(entry.path());
    }
    for (const std::filesystem::path& folder : folders) {
        if (auto info = read_snapshot(folder)) {
            const auto height = info->height;
            snapshots_.emplace(height, *std::move(info));
        } else {
            std::filesystem::remove_all(folder);
        }
    }
    remove_oldest();
}

std::filesystem::path Archive::folder_of(Height height) const { return directory_ / std::to_string(height.value); }

std::unique_ptr<Archive::Writer> Archive::begin(Height height) {
    return std::unique_ptr<Writer>(new Writer(*this, height));
}

std::vector<consensus::SnapshotInfo> Archive::list() const {
    const std::lock_guard lock(mutex_);
    std::vector<consensus::SnapshotInfo> out;
    for (auto it = snapshots_.rbegin(); it != snapshots_.rend(); ++it) {
        out.push_back(it->second);
    }
    return out;
}

bool Archive::has(Height height) const {
    const std::lock_guard lock(mutex_);
    return snapshots_.contains(height);
}

std::optional<Bytes> Archive::load(Height height, std::uint32_t index) const {
    const std::lock_guard lock(mutex_);
    const auto found = snapshots_.find(height);
    if (found == snapshots_.end() || index >= found->second.chunks) {
        return std::nullopt;
    }
    return read_file(folder_of(height) / std::to_string(index));
}

void Archive::remove_oldest() {
    while (snapshots_.size() > keep_) {
        const auto folder = folder_of(snapshots_.begin()->first);
        const std::filesystem::path gone = folder.string() + kPart;
        snapshots_.erase(snapshots_.begin());
        std::error_code error;
        std::filesystem::rename(folder, gone, error);
        std::filesystem::remove_all(error ? folder : gone, error);
        if (error) {
            throw StorageError("snapshots: cannot remove " + folder.string() + ": " + error.message());
        }
    }
}

Archive::Writer::Writer(Archive& archive, Height height)
    : archive_(archive), folder_(archive.folder_of(height).string() + kPart) {
    metadata_.height = height;
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
}

Archive::Writer::~Writer() {
    if (!finished_) {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
}

void Archive::Writer::add(const Chunk& chunk) {
    const Bytes bytes = codec::encode(chunk);
    write_file(folder_ / std::to_string(metadata_.chunks.size()), bytes);
    metadata_.chunks.push_back(crypto::sha256(bytes));
}

void Archive::Writer::finish() {
    const consensus::SnapshotInfo info = describe(metadata_);
    write_file(folder_ / kMetadataFile, info.metadata);
    sync_folder(folder_);
    const std::lock_guard lock(archive_.mutex_);
    const auto place = archive_.folder_of(metadata_.height);
    std::filesystem::remove_all(place);
    std::filesystem::rename(folder_, place);
    finished_ = true;
    sync_folder(archive_.directory_);
    archive_.snapshots_.insert_or_assign(metadata_.height, info);
    archive_.remove_oldest();
}

}  // namespace assay::snapshot
