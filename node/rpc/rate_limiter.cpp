// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/rate_limiter.hpp>

#include <algorithm>
#include <utility>

namespace assay::rpc {

namespace {

constexpr http::ClientAddress kOthers{};  // the shared client of those for whom there is no room

}  // namespace

std::uint32_t RateLimits::of(describe::RateClass rate_class) const {
    switch (rate_class) {
        case describe::RateClass::kRead:
            return reads_per_s;
        case describe::RateClass::kListing:
            return listings_per_s;
        case describe::RateClass::kSubmission:
            return submissions_per_s;
        case describe::RateClass::kWait:
            return waits_per_s;
    }
    return 0;
}

RateLimiter::RateLimiter(const RateLimits& limits, std::function<Time()> now) : limits_(limits), now_(std::move(now)) {}

std::optional<std::chrono::milliseconds> RateLimiter::take(
    const http::ClientAddress& client, describe::RateClass rate_class
) {
    const std::uint32_t rate = limits_.of(rate_class);
    if (rate == 0 || client == http::kSocketClient) {
        return std::nullopt;
    }
    const std::chrono::nanoseconds of_call = std::chrono::nanoseconds(std::chrono::seconds(1)) / rate;
    const std::chrono::nanoseconds capacity = std::chrono::seconds(kBurstSeconds);
    const std::lock_guard lock(mutex_);
    const Time now = now_();
    Time& full_at = buckets_of(client, now)[static_cast<std::size_t>(rate_class)];
    const Time after = std::max(full_at, now) + of_call;
    if (after - now > capacity) {
        return std::chrono::ceil<std::chrono::milliseconds>(after - now - capacity);
    }
    full_at = after;
    return std::nullopt;
}

RateLimiter::Buckets& RateLimiter::buckets_of(const http::ClientAddress& client, Time now) {
    if (const auto found = clients_.find(client); found != clients_.end()) {
        return found->second;
    }
    if (clients_.size() >= std::max<std::size_t>(2 * looked_at_, 256) || clients_.size() >= kClientsMax) {
        std::erase_if(clients_, [now](const auto& each) {
            return std::all_of(each.second.begin(), each.second.end(), [now](Time full_at) { return full_at <= now; });
        });
        looked_at_ = clients_.size();
    }
    return clients_[clients_.size() < kClientsMax ? client : kOthers];
}

std::size_t RateLimiter::clients() const {
    const std::lock_guard lock(mutex_);
    return clients_.size();
}

}  // namespace assay::rpc
