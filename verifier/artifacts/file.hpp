// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include <core/base/bytes.hpp>

namespace assay::artifacts {

/// A disk operation failed. Implies nothing about the bytes.
class StoreError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// An open file. The destructor closes it. Functions throw StoreError, with the path.
class File {
  public:
    /// `flags` as of open(2), for example O_RDONLY.
    File(std::filesystem::path path, int flags);
    /// Opens a file for reading; nullopt if there is none.
    static std::optional<File> open(const std::filesystem::path& path);
    ~File();
    File(File&& other) noexcept;
    File& operator=(File&&) = delete;

    /// Appends, or writes at the position after the last write().
    void write(ByteView bytes) const;
    void write_at(std::uint64_t offset, ByteView bytes) const;
    /// Fails if the file ends before.
    void read_at(std::uint64_t offset, std::span<std::uint8_t> out) const;
    const std::filesystem::path& path() const { return path_; }
    std::uint64_t size_bytes() const;
    /// Longer files get zeros that take no room on the disk.
    void resize(std::uint64_t size_bytes) const;
    void sync() const;
    /// Returns false if another descriptor has the lock.
    bool try_lock() const;
    int descriptor() const { return descriptor_; }

  private:
    File(std::filesystem::path path, int descriptor, bool) noexcept;
    [[noreturn]] void fail(const char* what, int error) const;

    std::filesystem::path path_;
    int descriptor_;
};

/// SHA-256 of a whole file, read piece by piece.
Hash256 sha256_of(const File& file);

/// A complete file of a store. Copies share it. It stays readable when the store drops it.
class StoredFile {
  public:
    /// Returns nullopt if there is no such file. Throws StoreError if it cannot be read.
    static std::optional<StoredFile> open(const std::filesystem::path& path);

    /// Where it was when it was opened.
    const std::filesystem::path& path() const;
    std::uint64_t size_bytes() const;
    /// Open for as long as this is.
    int descriptor() const;
    /// The bytes, mapped into memory: the system reads a page when it is first touched, and may drop it again. A disk
    /// that fails then ends the process; read() throws instead.
    ByteView view() const;
    /// Copies a part. Throws StoreError.
    void read(std::uint64_t offset, std::span<std::uint8_t> out) const;
    Hash256 sha256() const;

  private:
    struct Mapping;
    explicit StoredFile(std::shared_ptr<const Mapping> mapping) : mapping_(std::move(mapping)) {}
    std::shared_ptr<const Mapping> mapping_;
};

}  // namespace assay::artifacts
