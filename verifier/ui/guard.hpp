// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <client/http/http.hpp>
#include <core/base/bytes.hpp>

namespace assay::ui {

/// Returns a token of 64 hex digits from the operating system's random source.
std::string new_token();

/// An error as the API answers it: {"error": {"reason", "message"}}.
http::HttpResponse refusal(unsigned status, const std::string& reason, const std::string& message);

/// Lets only the owner's page in. Other pages of the same browser are kept out by the Host field (DNS rebinding), by
/// the Origin field and by the token, which they have not; other users of the machine by the token. Thread-safe.
class Guard {
  public:
    using Time = std::chrono::steady_clock::time_point;
    /// Calls with the token in a second, and twice as many at once.
    static constexpr std::uint32_t kCallsPerSecond = 25;
    /// Calls without it that are answered as such; further ones are told to come back later.
    static constexpr std::uint32_t kStrangersPerSecond = 5;

    Guard(std::string_view token, std::uint16_t port, std::function<Time()> now = &std::chrono::steady_clock::now);

    /// Returns the answer to a request that must not be served. With `needs_token` it must have the token; the files of
    /// the page hold no secret and need none. The token is compared in the same time whatever was sent.
    std::optional<http::HttpResponse> refuse(const http::HttpRequest& request, bool needs_token);
    /// Returns how many requests without the right token, host or origin were refused.
    std::uint64_t refused() const;

  private:
    struct Bucket {
        std::uint32_t per_second;
        double tokens;
        Time at;
        bool take(Time now);
    };
    bool admits(std::string_view authorization) const;
    http::HttpResponse count(http::HttpResponse response);

    const Hash256 token_;
    const std::string hosts_[2];
    const std::function<Time()> now_;
    mutable std::mutex mutex_;
    Bucket owner_;
    Bucket strangers_;
    std::uint64_t refused_ = 0;
};

}  // namespace assay::ui
