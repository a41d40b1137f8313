// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/ed25519.hpp>

#include <algorithm>

#include <crypto++/xed25519.h>

namespace assay::crypto {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kSignatureBytes = 64;

/// Little-endian: 2^252 + 27742317777372353535851937790883648493.
constexpr std::array<std::uint8_t, kKeyBytes> kOrder{0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7,
                                                     0xa2, 0xde, 0xf9, 0xde, 0x14, 0,    0,    0,    0,    0,    0,
                                                     0,    0,    0,    0,    0,    0,    0,    0,    0,    0x10};

constexpr std::array<std::uint8_t, kKeyBytes> make_field() {
    std::array<std::uint8_t, kKeyBytes> out{};
    for (std::uint8_t& byte : out) {
        byte = 0xff;
    }
    out.front() = 0xed;
    out.back() = 0x7f;
    return out;
}
/// 2^255 - 19.
constexpr auto kField = make_field();

bool is_below(ByteView number, const std::array<std::uint8_t, kKeyBytes>& bound) {
    return std::lexicographical_compare(number.rbegin(), number.rend(), bound.rbegin(), bound.rend());
}

}  // namespace

bool verify_ed25519(ByteView public_key, ByteView message, ByteView signature) noexcept {
    if (public_key.size() != kKeyBytes || signature.size() != kSignatureBytes) {
        return false;
    }
    std::array<std::uint8_t, kKeyBytes> y{};
    std::copy(public_key.begin(), public_key.end(), y.begin());
    y.back() &= 0x7fU;  // without the sign of x
    if (!is_below(ByteView(y), kField) || !is_below(signature.subspan(kKeyBytes), kOrder)) {
        return false;
    }
    const CryptoPP::ed25519Verifier verifier(public_key.data());
    return verifier.VerifyMessage(message.data(), message.size(), signature.data(), signature.size());
}

Ed25519Key::Ed25519Key(const Seed& seed) : seed_(seed), public_{} {
    const CryptoPP::ed25519Signer signer(seed_.data());
    const auto& secret = static_cast<const CryptoPP::ed25519PrivateKey&>(signer.GetPrivateKey());
    std::copy_n(secret.GetPublicKeyBytePtr(), kKeyBytes, public_.begin());
}

std::array<std::uint8_t, 64> Ed25519Key::sign(ByteView message) const {
    const CryptoPP::ed25519Signer signer(public_.data(), seed_.data());
    std::array<std::uint8_t, kSignatureBytes> out{};
    signer.SignMessage(CryptoPP::NullRNG(), message.data(), message.size(), out.data());
    return out;
}

}  // namespace assay::crypto
