// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include <contracts/state/transaction.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::artifacts {

/// What an artifact is needed for; the most urgent first.
enum class Urgency : std::uint8_t {
    kDispute = 1,
    kDuty = 2,   ///< a task in which stake of ours is locked
    kOffer = 3,  ///< a task that may be accepted
};

struct CacheLimits {
    /// Of all that is cached. Disputes may exceed it; offers, which anybody may make, fill no more than half.
    std::uint64_t quota_bytes = std::uint64_t{64} << 30U;
    /// So much of the disk stays free, for what is fetched for a dispute and for what the worker makes itself.
    std::uint64_t reserve_bytes = std::uint64_t{1} << 30U;
};

/// Artifacts of others, fetched for tasks. Whoever fetches does not choose their sizes, so they may take no more room
/// than the limits say; what no open task needs makes room, the oldest first. Thread-safe.
class Cache {
  public:
    /// Throws StoreError.
    explicit Cache(std::filesystem::path directory, CacheLimits limits = {});

    std::optional<Bytes> get(const Hash256& hash) const { return store_.get(hash); }
    bool has(const Hash256& hash) const { return store_.has(hash); }
    /// Where it lies, until it makes room for others.
    std::filesystem::path path(const Hash256& hash) const { return store_.path(hash); }
    /// Stores `bytes`; false when there is no room for them. Throws StoreError.
    bool put(ByteView bytes, Urgency urgency);
    /// Whether put() would find room for so many bytes; makes it.
    bool make_room(std::uint64_t size_bytes, Urgency urgency);

    /// The task needs the artifact until it is over.
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
