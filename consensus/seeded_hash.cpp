// SPDX-License-Identifier: Apache-2.0
#include <consensus/seeded_hash.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include <core/crypto/random.hpp>

namespace assay::consensus {
namespace {

__extension__ using Wide = unsigned __int128;

/// The halves of the product: each bit of either number reaches most of the result's.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

const std::array<std::uint64_t, 2>& seed() {
    static const auto kSeed = [] {
        std::array<std::uint8_t, 16> bytes{};
        crypto::fill_random(bytes);
        std::array<std::uint64_t, 2> out{};
        std::memcpy(out.data(), bytes.data(), bytes.size());
        out[1] |= 1U;
        return out;
    }();
    return kSeed;
}

}  // namespace

std::size_t SeededHash::operator()(ByteView bytes) const {
    const auto& [start, factor] = seed();
    std::uint64_t hash = fold(start ^ bytes.size(), factor);
    while (!bytes.empty()) {
        std::uint64_t word = 0;
        const std::size_t count = std::min(bytes.size(), sizeof word);
        std::memcpy(&word, bytes.data(), count);
        hash = fold(hash ^ word, factor);
        bytes = bytes.subspan(count);
    }
    return hash;
}

}  // namespace assay::consensus
