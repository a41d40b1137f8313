// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <consensus/state_sync.hpp>
#include <core/merkle/range.hpp>
#include <node/daemon/application.hpp>
#include <node/state/archive.hpp>

namespace assay::node {

/// Writes a snapshot of the state into the archive and returns true. Returns false, without a snapshot, if `stop`
/// becomes true meanwhile. Throws StorageError.
bool make_snapshot(const CommittedState& state, snapshot::Archive& archive, const std::atomic<bool>& stop);

struct StateSyncOptions {
    std::filesystem::path directory;    ///< of the snapshots
    std::uint64_t interval_blocks = 0;  ///< a snapshot at every multiple of this height; 0: none
    std::uint32_t keep = 2;
    /// Messages for the operator, one line each. Called on any thread. May be empty.
    std::function<void(const std::string&)> on_note;
    /// Called when a snapshot has been restored into the application, on the thread of the engine's request. May be
    /// empty.
    std::function<void()> on_restored;
};

/// The snapshots of a node: makes them on a separate thread, serves them to peers, and restores those of peers.
class StateSync final : public consensus::StateSync {
  public:
    /// `application` must outlive this object. Throws StorageError, std::filesystem::filesystem_error.
    StateSync(Application& application, StateSyncOptions options);
    ~StateSync() override;

    /// Call after each commit. Starts a snapshot if one is due. If snapshots take longer than the interval, only the
    /// latest due one is made.
    void note_commit();

    std::vector<consensus::SnapshotInfo> snapshots() const override { return archive_.list(); }
    std::optional<Bytes> load_chunk(Height height, std::uint32_t format, std::uint32_t index) const override;
    consensus::OfferAnswer offer(const consensus::SnapshotInfo& snapshot, const Hash256& app_hash) override;
    consensus::ApplyAnswer apply_chunk(std::uint32_t index, const Bytes& chunk, const std::string& sender) override;

  private:
    struct Restoring {
        Hash256 app_hash;
        snapshot::Metadata metadata;
        merkle::TreeBuilder builder;
        std::uint32_t next = 0;
    };
    void note(const std::string& text) const;
    void make();
    consensus::ApplyAnswer reject(const std::string& why);

    Application& application_;
    const StateSyncOptions options_;
    snapshot::Archive archive_;
    std::optional<Restoring> restoring_;
    std::atomic<bool> stop_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
    std::shared_ptr<const CommittedState> due_;  ///< the state of the next snapshot to make
    std::thread maker_;
};

}  // namespace assay::node
