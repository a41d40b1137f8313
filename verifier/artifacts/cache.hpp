// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include <contracts/transaction/transaction.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::artifacts {

/// What an artifact is needed for, most urgent first.
enum class Urgency : std::uint8_t {
    kDispute = 1,
    kDuty = 2,   ///< a task in which our stake is locked
    kOffer = 3,  ///< a task that we may accept
};

struct CacheLimits {
    /// Limit for all cached artifacts. Disputes may exceed it; offers, which anybody can make, use at most half of it.
    std::uint64_t quota_bytes = std::uint64_t{64} << 30U;
    /// Disk space that stays free for dispute downloads and for the worker's own output.
    std::uint64_t reserve_bytes = std::uint64_t{1} << 30U;
};

/// Cache of artifacts fetched from others. Others choose their sizes, so their total is limited as CacheLimits says.
/// Artifacts that no open task needs are evicted, oldest first; so are their unfinished downloads. Thread-safe.
class Cache {
  public:
    /// Throws StoreError if the directory cannot be created.
    explicit Cache(std::filesystem::path directory, CacheLimits limits = {});

    bool has(const Hash256& hash) const { return store_.has(hash); }
    /// Path of the artifact's file, which exists until it is evicted.
    std::filesystem::path path(const Hash256& hash) const { return store_.path(hash); }
    /// Where downloads go that reserve() has found room for.
    const ContentStore& store() const { return store_; }
    /// Sets room aside for a download, evicting others if necessary. Returns false if there is not enough. What the
    /// download has left from an earlier attempt counts as a part of it.
    bool reserve(const Hash256& hash, std::uint64_t size_bytes, Urgency urgency);
    /// Ends the reservation: what is on the disk counts from now on.
    void settle(const Hash256& hash);

    /// Protects the artifact from eviction until unpin(task).
    void pin(const contracts::TaskId& task, const Hash256& artifact);
    void unpin(const contracts::TaskId& task);
    /// Returns what pin() protects for the task.
    std::set<Hash256> pinned(const contracts::TaskId& task) const;

  private:
    /// Drops the oldest of what nobody needs, unfinished downloads first. Returns false if there is nothing.
    bool evict_one();
    bool has_room(const Hash256& hash, std::uint64_t size_bytes, Urgency urgency) const;
    bool is_pinned(const Hash256& artifact) const;

    ContentStore store_;
    CacheLimits limits_;
    mutable std::mutex mutex_;
    std::map<contracts::TaskId, std::set<Hash256>> pins_;
    std::map<Hash256, std::uint64_t> reserved_;  ///< sizes of running downloads
};

}  // namespace assay::artifacts
