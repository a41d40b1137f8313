// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <core/base/bytes.hpp>
#include <core/crypto/curve.hpp>
#include <core/crypto/keys.hpp>

/// ECIES over secp256k1 as the packages eciespy, eciesjs and ecies-rs define it with their default configuration: an
/// ephemeral key of 65 bytes, a nonce of 16, a tag of 16, and the ciphertext of AES-256-GCM. The key is HKDF-SHA256
/// over the ephemeral point and the shared point, both uncompressed, without salt and info.
namespace assay::crypto {

/// By how many bytes a sealed message is longer than its plaintext.
inline constexpr std::size_t kEciesOverhead = 65 + 16 + 16;

/// Fresh random bytes for one message.
struct EciesEntropy {
    std::array<std::uint8_t, 32> ephemeral{};  ///< the ephemeral secret; not zero, and below the group order
    std::array<std::uint8_t, 16> nonce{};
};
/// From the operating system's random source; aborts if there is none. Not for modules that must be pure.
EciesEntropy draw_ecies_entropy();

/// Seals `plaintext` for the owner of the account's key. nullopt if the account is not the x coordinate of a point, or
/// the ephemeral secret is out of range.
std::optional<Bytes> seal_to(const AccountId& reader, ByteView plaintext, const EciesEntropy& entropy) noexcept;

/// The ephemeral public key of a sealed message; nullopt if the message is too short or does not begin with a point.
std::optional<CurvePoint> ephemeral_point(ByteView sealed) noexcept;
/// What reader and sender alone can compute: the reader's secret, with an even y as its account has it, times the
/// ephemeral point. nullopt as for ephemeral_point().
std::optional<CurvePoint> shared_point(const SecretKey& reader, ByteView sealed) noexcept;

/// Opens a message with the reader's key; nullopt if it is not one that seal_to() made for it.
std::optional<Bytes> open_with_key(const SecretKey& reader, ByteView sealed) noexcept;
/// Opens a message with its shared point, which opens this one message only. Whoever shows that the point is right
/// (verify_equal_logs() with the reader's key, and the ephemeral point as base) shows what was sealed without showing
/// the key. nullopt if the point does not open it.
std::optional<Bytes> open_with_shared_point(const CurvePoint& shared, ByteView sealed) noexcept;

}  // namespace assay::crypto
