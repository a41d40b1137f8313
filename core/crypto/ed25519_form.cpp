// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/ed25519.hpp>

#include <algorithm>

namespace assay::crypto {
namespace {

constexpr std::size_t kPointBytes = 32;
constexpr std::size_t kPairBytes = 64;

/// Little-endian: 2^252 + 27742317777372353535851937790883648493.
constexpr std::array<std::uint8_t, kPointBytes> kOrder{0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7,
                                                       0xa2, 0xde, 0xf9, 0xde, 0x14, 0,    0,    0,    0,    0,    0,
                                                       0,    0,    0,    0,    0,    0,    0,    0,    0,    0x10};

constexpr std::array<std::uint8_t, kPointBytes> make_field() {
    std::array<std::uint8_t, kPointBytes> out{};
    for (std::uint8_t& byte : out) {
        byte = 0xff;
    }
    out.front() = 0xed;
    out.back() = 0x7f;
    return out;
}
/// 2^255 - 19.
constexpr auto kField = make_field();

bool is_below(ByteView number, const std::array<std::uint8_t, kPointBytes>& bound) {
    return std::lexicographical_compare(number.rbegin(), number.rend(), bound.rbegin(), bound.rend());
}

}  // namespace

bool is_canonical_ed25519(ByteView public_key, ByteView signature) noexcept {
    if (public_key.size() != kPointBytes || signature.size() != kPairBytes) {
        return false;
    }
    std::array<std::uint8_t, kPointBytes> y{};
    std::copy(public_key.begin(), public_key.end(), y.begin());
    y.back() &= 0x7fU;  // without the sign of x
    return is_below(ByteView(y), kField) && is_below(signature.subspan(kPointBytes), kOrder);
}

}  // namespace assay::crypto
