// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include <client/http/http.hpp>
#include <node/rpc/describe/methods.hpp>

namespace assay::rpc {

/// Calls of one client per second, by class. 0: as many as it likes.
struct RateLimits {
    std::uint32_t reads_per_s = 0;
    std::uint32_t listings_per_s = 0;
    std::uint32_t submissions_per_s = 0;
    std::uint32_t waits_per_s = 0;

    std::uint32_t of(describe::RateClass rate_class) const;
};

/// A token bucket for each client and class of calls. It holds kBurstSeconds of calls and is full at first.
/// Thread-safe.
class RateLimiter {
  public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::uint64_t kBurstSeconds = 2;
    /// The most clients whose buckets are kept. Further ones share the buckets of one client.
    static constexpr std::size_t kClientsMax = 65'536;

    explicit RateLimiter(const RateLimits& limits, std::function<Time()> now = &std::chrono::steady_clock::now);

    /// Takes one call out of the client's bucket. Returns nullopt, or, if it is empty, how long it takes until there is
    /// one. Clients of the Unix socket are not limited.
    std::optional<std::chrono::milliseconds> take(const http::ClientAddress& client, describe::RateClass rate_class);
    /// Returns the number of clients whose buckets are not full or were not until lately.
    std::size_t clients() const;

  private:
    /// For each class the time at which the bucket is full again.
    using Buckets = std::array<Time, describe::kRateClasses>;

    Buckets& buckets_of(const http::ClientAddress& client, Time now);

    const RateLimits limits_;
    const std::function<Time()> now_;
    mutable std::mutex mutex_;
    std::map<http::ClientAddress, Buckets> clients_;
    std::size_t looked_at_ = 0;  ///< the size at which full buckets were last removed
};

}  // namespace assay::rpc
