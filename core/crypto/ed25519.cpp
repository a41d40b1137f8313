// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/ed25519.hpp>

#include <crypto++/xed25519.h>

namespace assay::crypto {

bool verify_ed25519(ByteView public_key, ByteView message, ByteView signature) noexcept {
    constexpr std::size_t kKeyBytes = 32;
    constexpr std::size_t kSignatureBytes = 64;
    if (public_key.size() != kKeyBytes || signature.size() != kSignatureBytes) {
        return false;
    }
    const CryptoPP::ed25519Verifier verifier(public_key.data());
    return verifier.VerifyMessage(message.data(), message.size(), signature.data(), signature.size());
}

}  // namespace assay::crypto
