// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include <core/base/bytes.hpp>

/// AES-256-GCM (FIPS 197, NIST SP 800-38D), with tags of 16 bytes.
namespace assay::crypto {

using AeadKey = FixedBytes<struct AeadKeyTag, 32>;
inline constexpr std::size_t kAeadTagBytes = 16;
/// The nonce that SP 800-38D recommends. ECIES has one of 16 bytes, which the functions below take as well.
inline constexpr std::size_t kAeadNonceBytes = 12;
inline constexpr std::size_t kLongNonceBytes = 16;

/// Returns the ciphertext, as long as the plaintext, and then the tag, which also covers `associated`. A key must not
/// seal two plaintexts with one nonce. Aborts if the nonce has neither 12 nor 16 bytes.
Bytes seal_aead(const AeadKey& key, ByteView nonce, ByteView associated, ByteView plaintext);

/// Opens what seal_aead() returned; nullopt if anything of it, the key or the associated data differs. Nothing of the
/// plaintext is returned then. Aborts if the nonce has neither 12 nor 16 bytes.
std::optional<Bytes> open_aead(const AeadKey& key, ByteView nonce, ByteView associated, ByteView sealed);

}  // namespace assay::crypto
