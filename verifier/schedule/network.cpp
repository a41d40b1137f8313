// SPDX-License-Identifier: Apache-2.0
#include <verifier/schedule/network.hpp>

#include <algorithm>
#include <cstddef>

#include <core/base/assert.hpp>

namespace assay::schedule {

double Connection::send(double bytes, const Link& link, double now) {
    constexpr double kLeastTimeout = 0.2;  // of a retransmission, beside the round trip
    constexpr double kMost = 4'194'304.0;  // of a sender's buffer
    const double round_trip = 2.0 * link.delay_s;
    if (now >= begun_ + round_trip) {
        window_ = std::min(2.0 * used_ >= window_ ? window_ + used_ : window_, kMost);
        const double timeout = round_trip + kLeastTimeout;
        for (double idle = now - begun_ - timeout; idle > 0.0 && window_ > kFirstWindow; idle -= timeout) {
            window_ = std::max(window_ / 2.0, kFirstWindow);
        }
        begun_ = now;
        used_ = 0.0;
    }
    while (used_ + bytes > window_ && window_ < round_trip * link.bytes_per_s) {
        bytes -= window_ - used_;
        begun_ += round_trip;
        window_ *= 2.0;
        used_ = 0.0;
    }
    used_ += bytes;
    return std::max(begun_ - now, 0.0) + bytes / link.bytes_per_s;
}

Network::Network(std::uint32_t size, const Link& link) : size_(size), links_(std::size_t{size} * size, link) {}

void Network::set(std::uint32_t a, std::uint32_t b, const Link& link) {
    ASSERT(a < size_ && b < size_);
    links_[a * size_ + b] = link;
    links_[b * size_ + a] = link;
}

}  // namespace assay::schedule
