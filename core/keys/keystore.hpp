// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <core/crypto/keys.hpp>

namespace assay::crypto {

enum class [[nodiscard]] KeystoreError : std::uint8_t{
    kWrongPassword = 1,  ///< the authentication tag does not match: wrong password or modified file
    kMalformed = 2,
    kCostTooHigh = 3,  ///< scrypt parameters exceed what this build accepts (protects against memory exhaustion)
};

/// Cost of scrypt. The default (n = 2^17, r = 8, p = 1: 128 MiB) is for real use; tests use less. A key file stores its
/// own.
struct KeystoreCost {
    std::uint64_t n = 1U << 17U;
    std::uint32_t r = 8;
    std::uint32_t p = 1;
};

/// A secret key encrypted with a password: scrypt, then ChaCha20-Poly1305 with the public key as associated data.
struct SealedKey {
    AccountId account;
    KeystoreCost cost;
    std::array<std::uint8_t, 16> salt{};
    std::array<std::uint8_t, 12> nonce{};
    Bytes ciphertext;  ///< the 32-byte secret, encrypted, and the 16-byte tag
};

SealedKey seal_key(const SecretKey& key, std::string_view password, KeystoreCost cost = {});
Result<SecretKey, KeystoreError> open_key(const SealedKey& sealed, std::string_view password);

}  // namespace assay::crypto
