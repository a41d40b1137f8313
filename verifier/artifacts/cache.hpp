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
/// Artifacts that no open task needs are evicted, oldest first. Thread-safe.
class Cache {
  public:
    /// Throws StoreError if the directory cannot be created.
    explicit Cache(std::filesystem::path directory, CacheLimits limits = {});

    std::optional<Bytes> get(const Hash256& hash) const { return store_.get(hash); }
    bool has(const Hash256& hash) const { return store_.has(hash); }
    /// Path of the artifact's file, which exists until it is evicted.
    std::filesystem::path path(const Hash256& hash) const { return store_.path(hash); }
    /// Stores `bytes`, evicting others if necessary. Returns false if there is no room. Throws StoreError.
    bool put(ByteView bytes, Urgency urgency);
    /// Evicts until put() would find room for `size_bytes`. Returns whether it would.
    bool make_room(std::uint64_t size_bytes, Urgency urgency);

    /// Protects the artifact from eviction until unpin(task).
    void pin(const contracts::TaskId& task, const Hash256& artifact);
    void unpin(const contracts::TaskId& task);

  private:
    bool make_room_locked(std::uint64_t size_bytes, Urgency urgency);
    bool is_pinned(const Hash256& artifact) const;

    ContentStore store_;
    CacheLimits limits_;
    mutable std::mutex mutex_;
    std::map<contracts::TaskId, std::set<Hash256>> pins_;
};

}  // namespace assay::artifacts
