// SPDX-License-Identifier: Apache-2.0
#include <verifier/schedule/network.hpp>

#include <cstddef>

#include <core/base/assert.hpp>

namespace assay::schedule {

Network::Network(std::uint32_t size, const Link& link) : size_(size), links_(std::size_t{size} * size, link) {}

void Network::set(std::uint32_t a, std::uint32_t b, const Link& link) {
    ASSERT(a < size_ && b < size_);
    links_[a * size_ + b] = link;
    links_[b * size_ + a] = link;
}

}  // namespace assay::schedule
