// SPDX-License-Identifier: Apache-2.0
#include <verifier/stores/cid.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace assay::stores {
namespace {

constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
constexpr std::uint32_t kBitsOfDigit = 5;
/// Version 1, codec raw, and of the multihash: SHA-256, 32 bytes.
constexpr std::array<std::uint8_t, 4> kHead{0x01, 0x55, 0x12, 0x20};
constexpr std::size_t kBytes = kHead.size() + Hash256::kSizeBytes;
constexpr std::size_t kDigits = (kBytes * 8 + kBitsOfDigit - 1) / kBitsOfDigit;

}  // namespace

std::string encode_cid(const Hash256& sha256) {
    std::array<std::uint8_t, kBytes> bytes{};
    std::copy(sha256.data.begin(), sha256.data.end(), std::copy(kHead.begin(), kHead.end(), bytes.begin()));
    std::string out = "b";
    std::uint32_t held = 0;
    std::uint32_t bits = 0;
    for (const std::uint8_t byte : bytes) {
        held = (held << 8U) | byte;
        for (bits += 8; bits >= kBitsOfDigit; bits -= kBitsOfDigit) {
            out += kAlphabet[(held >> (bits - kBitsOfDigit)) & 31U];
        }
    }
    if (bits > 0) {
        out += kAlphabet[(held << (kBitsOfDigit - bits)) & 31U];
    }
    return out;
}

std::optional<Hash256> decode_cid(std::string_view text) {
    if (text.size() != kDigits + 1 || text.front() != 'b') {
        return std::nullopt;
    }
    std::array<std::uint8_t, kBytes> bytes{};
    std::size_t filled = 0;
    std::uint32_t held = 0;
    std::uint32_t bits = 0;
    for (const char digit : text.substr(1)) {
        const std::size_t value = kAlphabet.find(digit);
        if (value == std::string_view::npos) {
            return std::nullopt;
        }
        held = (held << kBitsOfDigit) | static_cast<std::uint32_t>(value);
        bits += kBitsOfDigit;
        if (bits >= 8) {
            bits -= 8;
            bytes[filled++] = static_cast<std::uint8_t>(held >> bits);
        }
    }
    const bool has_rest = (held & ((1U << bits) - 1)) != 0;
    if (has_rest || !std::equal(kHead.begin(), kHead.end(), bytes.begin())) {
        return std::nullopt;
    }
    Hash256 out;
    std::copy(bytes.begin() + kHead.size(), bytes.end(), out.data.begin());
    return out;
}

}  // namespace assay::stores
