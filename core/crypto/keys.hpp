// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>

namespace assay::crypto {

enum class [[nodiscard]] KeyError : std::uint8_t{
    kSecretOutOfRange = 1,  ///< zero, or not below the group order
};

/// A BIP-340 signing key. Wiped on destruction; never printed.
class SecretKey {
  public:
    /// From 32 big-endian bytes.
    static Result<SecretKey, KeyError> from_bytes(ByteView bytes32) noexcept;
    /// From the operating system's random source; aborts if there is none. Not for modules that must be pure.
    static SecretKey generate();
    ~SecretKey();
    SecretKey(const SecretKey&) = default;
    SecretKey& operator=(const SecretKey&) = default;

    AccountId account() const noexcept;
    /// BIP-340 signature of a message of any length. `aux` is the standard's auxiliary randomness (may be zero).
    Signature sign(ByteView message, const std::array<std::uint8_t, 32>& aux = {}) const noexcept;
    const std::array<std::uint8_t, 32>& bytes() const noexcept { return secret_; }

  private:
    SecretKey() = default;
    std::array<std::uint8_t, 32> secret_{};
};

/// A decoded public key, to verify several signatures with: decoding takes a tenth of the time of a verification.
class PublicKey {
  public:
    /// nullopt if the account is not the x coordinate of a curve point.
    static std::optional<PublicKey> of(const AccountId& account) noexcept;
    /// ENC-2: like verify_signature() for the key's account.
    bool verifies(ByteView message, const Signature& signature) const noexcept;

  private:
    PublicKey() = default;
    std::array<std::uint8_t, 64> point_{};
};

/// ENC-2: BIP-340 verification; false for a public key that is not on the curve.
bool verify_signature(const AccountId& signer, ByteView message, const Signature& signature) noexcept;

}  // namespace assay::crypto
