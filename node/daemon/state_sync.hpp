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

/// Adds the state to the archive; nothing when `stop` becomes true on the way. Returns whether it is there. Throws
/// StorageError.
bool make_snapshot(const CommittedState& state, snapshot::Archive& archive, const std::atomic<bool>& stop);

struct StateSyncOptions {
    std::filesystem::path directory;     ///< of the snapshots
    std::uint64_t interval_blocks = 0;   ///< a snapshot at every multiple of it; 0: none
    std::uint32_t keep = 2;
    /// Lines for the operator, on any thread. May be empty.
    std::function<void(const std::string&)> on_note;
    /// The application has the state of a snapshot now. On the thread of the engine's request. May be empty.
    std::function<void()> on_restored;
};

/// The snapshots of a node: makes them on a thread of its own, gives them to others, and restores those of others.
class StateSync final : public consensus::StateSync {
  public:
    /// `application` outlives this. Throws StorageError, std::filesystem::filesystem_error.
    StateSync(Application& application, StateSyncOptions options);
    ~StateSync() override;

    /// A block was committed. Makes a snapshot where one is due, the latest where they take longer than the interval.
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
    std::shared_ptr<const CommittedState> due_;  ///< what the thread is to make next
    std::thread maker_;
};

}  // namespace assay::node
