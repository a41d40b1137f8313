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

/// The snapshots of a node: a folder for each, named by its height, that is there whole or not at all. Thread-safe, with
/// one writer at a time. Throws StorageError when the disk fails.
class Archive {
  public:
    /// Removes what an earlier run left half-made. Of the snapshots the last `keep` stay, at least one.
    Archive(std::filesystem::path directory, std::uint32_t keep);

    /// A snapshot in the making; nobody is offered it. Removed by the destructor unless it was finished.
    class Writer {
      public:
        ~Writer();
        Writer(const Writer&) = delete;
        Writer& operator=(const Writer&) = delete;
        void add(const Chunk& chunk);
        /// Makes it durable and one of the snapshots, and removes the oldest.
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

    /// The latest first.
    std::vector<consensus::SnapshotInfo> list() const;
    bool has(Height height) const;
    /// nullopt: there is none.
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
