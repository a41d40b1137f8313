// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <vector>

#include <core/base/bytes.hpp>

namespace assay::artifacts {

/// The disk failed. Says nothing about the bytes.
class StoreError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Bytes by their SHA-256, one file each, in a directory of its own. A file appears under its name only when it is
/// whole and on disk: a crash leaves at most temporary files, which the next open removes. Thread-safe; one process.
class ContentStore {
  public:
    /// Creates `directory` when it is missing. Throws StoreError.
    explicit ContentStore(std::filesystem::path directory);

    /// Stores `bytes` unless they are there already. Throws StoreError.
    Hash256 put(ByteView bytes) const;
    /// The bytes, checked against their name; nullopt when there are none, or when what is there does not match, in
    /// which case the file is moved to quarantine/. Throws StoreError.
    std::optional<Bytes> get(const Hash256& hash) const;
    bool has(const Hash256& hash) const;
    /// Deletes what is kept under the name, if anything.
    void remove(const Hash256& hash) const;
    struct Entry {
        Hash256 hash;
        std::uint64_t size_bytes = 0;
    };
    /// All that is stored, what was stored first at the beginning.
    std::vector<Entry> entries() const;
    const std::filesystem::path& directory() const { return directory_; }
    /// Where put() keeps `hash`, present or not.
    std::filesystem::path path(const Hash256& hash) const;

  private:
    std::filesystem::path directory_;
};

}  // namespace assay::artifacts
