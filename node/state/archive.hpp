// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <consensus/state_sync.hpp>
#include <node/state/chunk.hpp>

namespace assay::snapshot {

/// The snapshots of a node on disk: one folder per snapshot, named by its height. A folder is either complete or
/// absent. Thread-safe, with one writer at a time. Throws StorageError when the disk fails.
class Archive {
  public:
    /// Opens the archive. Removes unfinished snapshots of an earlier run, and all but the latest `keep` snapshots; at
    /// least one is kept.
    Archive(std::filesystem::path directory, std::uint32_t keep);

    /// A snapshot that is being written; it is not listed yet. The destructor removes it unless finish() was called.
    class Writer {
      public:
        ~Writer();
        Writer(const Writer&) = delete;
        Writer& operator=(const Writer&) = delete;
        void add(const Chunk& chunk);
        /// Makes the snapshot durable, adds it to the archive and removes the oldest ones beyond `keep`.
        void finish();
        std::uint32_t chunks() const { return static_cast<std::uint32_t>(metadata_.chunks.size()); }

      private:
        friend class Archive;
        Writer(Archive& archive, Height height);

        Archive& archive_;
        std::filesystem::path folder_;
        Metadata metadata_;
        bool finished_ = false;
    };
    std::unique_ptr<Writer> begin(Height height);

    /// Returns all snapshots, the latest first.
    std::vector<consensus::SnapshotInfo> list() const;
    bool has(Height height) const;
    /// Returns a chunk of a snapshot, or nullopt if there is none.
    std::optional<Bytes> load(Height height, std::uint32_t index) const;

  private:
    std::filesystem::path folder_of(Height height) const;
    void remove_oldest();

    const std::filesystem::path directory_;
    const std::uint32_t keep_;
    mutable std::mutex mutex_;
    std::map<Height, consensus::SnapshotInfo> snapshots_;
};

}  // namespace assay::snapshot
