// SPDX-License-Identifier: Apache-2.0
#include <client/referee/sha256.hpp>

#include <algorithm>
#include <bit>

namespace assay::referee {
namespace {

constexpr std::size_t kBlockBytes = 64;
constexpr std::size_t kLengthBytes = 8;

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> kRound{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t load_big_endian(const std::uint8_t* from) {
    return std::uint32_t{from[0]} << 24U | std::uint32_t{from[1]} << 16U | std::uint32_t{from[2]} << 8U | from[3];
}

template <class Word>
void store_big_endian(Word word, std::uint8_t* to) {
    for (std::size_t i = 0; i < sizeof(Word); ++i) {
        to[i] = static_cast<std::uint8_t>(word >> (8 * (sizeof(Word) - 1 - i)));
    }
}

std::array<std::uint32_t, 64> expand(const std::uint8_t* block) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 16; ++i) {
        w[i] = load_big_endian(block + 4 * i);
    }
    for (std::size_t i = 16; i < w.size(); ++i) {
        const std::uint32_t a = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3U;
        const std::uint32_t b = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10U;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    return w;
}

}  // namespace

void PlainSha256::absorb(const std::uint8_t* block) noexcept {
    const std::array<std::uint32_t, 64> w = expand(block);
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t i = 0; i < w.size(); ++i) {
        const std::uint32_t choice = (e & f) ^ (~e & g);
        const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
        const std::uint32_t first =
            h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + choice + kRound[i] + w[i];
        const std::uint32_t second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + majority;
        h = g;
        g = f;
        f = e;
        e = d + first;
        d = c;
        c = b;
        b = a;
        a = first + second;
    }
    const std::array<std::uint32_t, 8> added{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < added.size(); ++i) {
        state_[i] += added[i];
    }
}

PlainSha256& PlainSha256::update(ByteView data) noexcept {
    while (!data.empty()) {
        const std::size_t held = size_bytes_ % kBlockBytes;
        if (held == 0 && data.size() >= kBlockBytes) {
            absorb(data.data());
            size_bytes_ += kBlockBytes;
            data = data.subspan(kBlockBytes);
            continue;
        }
        const std::size_t taken = std::min(kBlockBytes - held, data.size());
        std::copy_n(data.begin(), taken, pending_.begin() + static_cast<std::ptrdiff_t>(held));
        size_bytes_ += taken;
        data = data.subspan(taken);
        if (held + taken == kBlockBytes) {
            absorb(pending_.data());
        }
    }
    return *this;
}

Hash256 PlainSha256::finish() noexcept {
    const std::uint64_t size_bits = size_bytes_ * 8;
    const std::size_t held = size_bytes_ % kBlockBytes;
    const std::size_t zeros = (2 * kBlockBytes - 1 - kLengthBytes - held) % kBlockBytes;
    std::array<std::uint8_t, 1 + kBlockBytes + kLengthBytes> padding{0x80};
    store_big_endian(size_bits, padding.data() + 1 + zeros);
    update(ByteView(padding).first(1 + zeros + kLengthBytes));
    Hash256 out;
    for (std::size_t i = 0; i < state_.size(); ++i) {
        store_big_endian(state_[i], out.data.data() + 4 * i);
    }
    *this = {};
    return out;
}

}  // namespace assay::referee
