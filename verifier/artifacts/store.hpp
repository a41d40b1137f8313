// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <vector>

#include <core/base/bytes.hpp>

namespace assay::artifacts {

/// A disk operation failed. Implies nothing about the bytes.
class StoreError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Content-addressed store: one file per SHA-256 in its own directory. A file appears under its name only when it is
/// complete and on disk; a crash leaves at most temporary files, which the next open removes. Thread-safe; used by one
/// process at a time.
class ContentStore {
  public:
    /// Creates `directory` if it does not exist. Throws StoreError.
    explicit ContentStore(std::filesystem::path directory);

    /// Stores `bytes` unless they are present, and returns their hash. Throws StoreError.
    Hash256 put(ByteView bytes) const;
    /// Returns the bytes after verifying their hash; nullopt if there are none or they do not match, in which case the
    /// file is moved to quarantine/. Throws StoreError if the file cannot be read.
    std::optional<Bytes> get(const Hash256& hash) const;
    bool has(const Hash256& hash) const;
    /// Deletes the file of this name, if it exists.
    void remove(const Hash256& hash) const;
    struct Entry {
        Hash256 hash;
        std::uint64_t size_bytes = 0;
    };
    /// Returns everything stored, oldest first.
    std::vector<Entry> entries() const;
    const std::filesystem::path& directory() const { return directory_; }
    /// Path at which put() stores `hash`, present or not.
    std::filesystem::path path(const Hash256& hash) const;

  private:
    std::filesystem::path directory_;
};

}  // namespace assay::artifacts
