// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/crypto/hash.hpp>
#include <verifier/artifacts/file.hpp>

namespace assay::artifacts {

/// A store of files, each under the name of an artifact: its SHA-256, a checkpoint's name (ART-10) or a sealed file's
/// root (ART-24). A file appears under its name only when it is complete, and on disk unless get() verifies it; a crash
/// leaves at most temporary files, which the next open removes, and resumable downloads (PartialFile). Thread-safe; one
/// process at a time.
class ContentStore {
  public:
    struct Entry {
        Hash256 hash;
        std::uint64_t size_bytes = 0;
    };

    /// Creates `directory` if it does not exist. Throws StoreError.
    explicit ContentStore(std::filesystem::path directory);

    /// Stores a file that is written piece by piece and hashed on the way. Without finish(), nothing is stored.
    class Writer {
      public:
        /// The file gets the SHA-256 of its bytes as its name. Throws StoreError, as do the functions.
        explicit Writer(const ContentStore& store);
        /// A checkpoint's file: it gets `name`, and replaces what is there under it.
        Writer(const ContentStore& store, const Hash256& name);
        /// A sealed file, whose name is known once it is written: finish(name) ends it.
        struct Sealed {};
        Writer(const ContentStore& store, Sealed sealed);
        ~Writer();
        Writer(const Writer&) = delete;
        Writer& operator=(const Writer&) = delete;
        void write(ByteView bytes);
        /// Gives the file its name, once; returns the name and the size. A file of the same SHA-256 stays.
        Entry finish();
        Entry finish(const Hash256& name);

      private:
        const ContentStore& store_;
        std::filesystem::path path_;
        File file_;
        std::optional<Hash256> name_;
        bool hashes_ = true;
        crypto::Sha256 hash_;
        std::uint64_t size_bytes_ = 0;
    };

    /// Stores `bytes` unless they are present, and returns their hash. Throws StoreError.
    Hash256 put(ByteView bytes) const;
    /// Returns the file after verifying its hash; nullopt if there is none or it does not match, in which case it is
    /// moved to quarantine/. Throws StoreError if it cannot be read.
    std::optional<StoredFile> get(const Hash256& hash) const;
    /// Returns a checkpoint's or a sealed file as it is; nullopt if there is none. Whoever reads it computes its root,
    /// and if that is another one, the file was damaged here: it goes to quarantine/.
    std::optional<StoredFile> open(const Hash256& name) const;
    static void quarantine(const StoredFile& file);
    bool has(const Hash256& hash) const;
    /// Deletes the file of this name, if it exists.
    void remove(const Hash256& hash) const;
    /// Returns everything stored, oldest first.
    std::vector<Entry> entries() const;
    const std::filesystem::path& directory() const { return directory_; }
    /// Path at which put() stores `hash`, present or not.
    std::filesystem::path path(const Hash256& hash) const;

    /// The hashes of a checkpoint's tiles (ART-15) or of a dataset's chunks (ART-17), kept beside the artifact of this
    /// name and removed with it.
    void put_leaves(const Hash256& hash, ByteView bytes) const;
    std::optional<StoredFile> leaves(const Hash256& hash) const;
    /// Where a store that has the artifact at this path keeps them.
    static std::filesystem::path leaves_path(const std::filesystem::path& artifact);

    /// Path of the unfinished download of `hash` with that size, present or not.
    std::filesystem::path partial_path(const Hash256& hash, std::uint64_t size_bytes) const;
    /// Returns the unfinished downloads, parts of datasets among them, with what they take of the disk.
    std::vector<Entry> partials() const;
    /// Deletes the unfinished downloads of `hash`, of any size, with what is known of it.
    void remove_partials(const Hash256& hash) const;
    /// Gives a complete file of this file system its name. Throws StoreError.
    void adopt(const std::filesystem::path& complete, const Hash256& hash) const;

  private:
    std::filesystem::path directory_;
};

}  // namespace assay::artifacts
