// SPDX-License-Identifier: Apache-2.0
#include <verifier/ui/guard.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include <core/crypto/hash.hpp>
#include <core/crypto/random.hpp>

namespace assay::ui {
namespace {

constexpr std::string_view kBearer = "Bearer ";

/// The same work for every token of one length, and what is compared says nothing about the token.
Hash256 hash_of(std::string_view token) {
    static const crypto::TaggedHash kTag("assay/ui-token");
    return kTag(as_bytes(token));
}

}  // namespace

std::string new_token() {
    std::array<std::uint8_t, 32> bytes{};
    crypto::fill_random(bytes);
    return to_hex(bytes);
}

http::HttpResponse refusal(unsigned status, const std::string& reason, const std::string& message) {
    http::HttpResponse out;
    out.status = status;
    out.body = nlohmann::ordered_json{{"error", {{"reason", reason}, {"message", message}}}}.dump(
        -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace
    );
    out.fields = {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}};
    return out;
}

bool Guard::Bucket::take(Time now) {
    const double passed = std::chrono::duration<double>(now - at).count();
    at = now;
    tokens = std::min(tokens + passed * per_second, 2.0 * per_second);
    if (tokens < 1) {
        return false;
    }
    tokens -= 1;
    return true;
}

Guard::Guard(std::string_view token, std::uint16_t port, std::function<Time()> now)
    : token_(hash_of(token)),
      hosts_{"127.0.0.1:" + std::to_string(port), "localhost:" + std::to_string(port)},
      now_(std::move(now)),
      owner_{kCallsPerSecond, 2.0 * kCallsPerSecond, now_()},
      strangers_{kStrangersPerSecond, 2.0 * kStrangersPerSecond, now_()} {}

bool Guard::admits(std::string_view authorization) const {
    const bool is_bearer = authorization.starts_with(kBearer);
    const Hash256 given = hash_of(is_bearer ? authorization.substr(kBearer.size()) : authorization);
    std::uint8_t difference = is_bearer ? 0 : 1;
    for (std::size_t i = 0; i < given.data.size(); ++i) {
        difference = static_cast<std::uint8_t>(difference | (given.data[i] ^ token_.data[i]));
    }
    return difference == 0;
}

http::HttpResponse Guard::count(http::HttpResponse response) {
    const std::lock_guard lock(mutex_);
    ++refused_;
    return response;
}

std::optional<http::HttpResponse> Guard::refuse(const http::HttpRequest& request, bool needs_token) {
    if (request.host != hosts_[0] && request.host != hosts_[1]) {
        return count(refusal(403, "host", "this address is served as http://" + hosts_[0] + " only"));
    }
    if (!request.origin.empty() && request.origin != "http://" + request.host) {
        return count(refusal(403, "origin", "only the page of this address may ask it"));
    }
    if (!needs_token) {
        return std::nullopt;
    }
    const bool is_owner = admits(request.authorization);
    bool is_in_time = false;
    {
        const std::lock_guard lock(mutex_);
        is_in_time = (is_owner ? owner_ : strangers_).take(now_());
    }
    if (!is_in_time) {
        return is_owner ? refusal(429, "too_often", "there are too many requests: try again in a second")
                        : count(refusal(429, "too_often", "there are too many requests without the token"));
    }
    if (!is_owner) {
        return count(refusal(
            401, "token",
            "the token is missing or is an old one: open the page with the link that assay-worker has written"
        ));
    }
    return std::nullopt;
}

std::uint64_t Guard::refused() const {
    const std::lock_guard lock(mutex_);
    return refused_;
}

}  // namespace assay::ui
