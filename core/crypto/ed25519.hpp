// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <core/base/bytes.hpp>

/// Ed25519 (RFC 8032), which CometBFT's validators sign with.
namespace assay::crypto {

/// Whether `signature` (R, S) is the key's of `message`: S is below the group's order, the key's y below the field's, and
/// R is the encoding of S * B - k * A. The engine itself accepts a few more encodings. False also for a key or signature
/// of another length than 32 and 64 bytes.
bool verify_ed25519(ByteView public_key, ByteView message, ByteView signature) noexcept;

/// A key pair, by the 32 bytes that RFC 8032 calls the private key.
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
