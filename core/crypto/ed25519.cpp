// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/ed25519.hpp>

#include <algorithm>

#include <crypto++/xed25519.h>

namespace assay::crypto {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kSignatureBytes = 64;

}  // namespace

bool verify_ed25519(ByteView public_key, ByteView message, ByteView signature) noexcept {
    if (!is_canonical_ed25519(public_key, signature)) {
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
