// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <core/base/bytes.hpp>

/// Ed25519 (RFC 8032), the signature scheme of CometBFT's validators.
namespace assay::crypto {

/// Whether `signature` (R, S) is valid: S is below the group order, the key's y is below the field order, and R is the
/// encoding of S * B - k * A. The consensus engine accepts a few more encodings. False if the key or the signature does
/// not have 32 or 64 bytes, respectively.
bool verify_ed25519(ByteView public_key, ByteView message, ByteView signature) noexcept;

/// The part of verify_ed25519() that needs no curve: whether key and signature have 32 and 64 bytes, and both numbers
/// in them are below their bounds.
bool is_canonical_ed25519(ByteView public_key, ByteView signature) noexcept;

/// A key pair, created from the 32 bytes that RFC 8032 calls the private key.
class Ed25519Key {
  public:
    using Seed = std::array<std::uint8_t, 32>;
    explicit Ed25519Key(const Seed& seed);

    const std::array<std::uint8_t, 32>& public_key() const { return public_; }
    std::array<std::uint8_t, 64> sign(ByteView message) const;

  private:
    Seed seed_;
    std::array<std::uint8_t, 32> public_;
};

}  // namespace assay::crypto
