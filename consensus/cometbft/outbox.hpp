// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include <boost/unordered/unordered_flat_set.hpp>

#include <core/base/bytes.hpp>
#include <consensus/mempool.hpp>
#include <consensus/seeded_hash.hpp>

namespace assay::cometbft {

/// The transactions that this node passes on to its peers itself (CMT-18): those submitted to it, and those of a peer's
/// bundle that the engine does not pass on as a whole. One thread takes them, any may add. Thread-safe.
class Outbox {
  public:
    using Clock = std::chrono::steady_clock;

    /// Adds a transaction that waits in the mempool. Does nothing if it is queued already. It is left out later if it
    /// has left the mempool by then.
    void push(const consensus::Admitted& tx);

    /// What the engine is given to pass on: one transaction, or a bundle.
    struct Parcel {
        Bytes bytes;
        Hash256 hash;  ///< SHA-256 of the bytes
    };
    /// Blocks until something is queued and either `due` is reached, a whole bundle is queued, or stop() was called.
    /// Returns false when it was stopped and nothing is queued.
    bool await(Clock::time_point due);
    /// Returns the next parcel, the oldest transactions first, and nullopt if nothing is queued that still waits. It is
    /// this node's own (is_own) until the next call of take() or finish().
    std::optional<Parcel> take();
    /// The engine has answered about the parcel that was taken last.
    void finish();
    /// Whether this is the parcel that the engine is being given.
    bool is_own(const Hash256& parcel) const;
    /// From now on await() waits no longer.
    void stop();
    /// Forgets what is queued.
    void clear();

    std::size_t size() const;

  private:
    /// What is gone from the mempool is looked for when so many are queued, and then when twice as many are as stayed.
    static constexpr std::size_t kSweepMin = 1'024;
    /// The mempool owns the bytes: what it drops is dropped here.
    struct Item {
        Hash256 hash;
        std::weak_ptr<const Bytes> bytes;
        std::size_t size_bytes = 0;
    };
    bool is_due(Clock::time_point due) const;
    void drop_front();
    void drop_gone();

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Item> queue_;
    boost::unordered_flat_set<Hash256, consensus::SeededHash> queued_;  ///< hashes of queue_
    std::size_t bytes_ = 0;                                             ///< of queue_ as parts of bundles
    std::size_t sweep_at_ = kSweepMin;                                  ///< size of queue_ at which drop_gone() runs
    std::optional<Hash256> own_;
    bool stopping_ = false;
};

}  // namespace assay::cometbft
