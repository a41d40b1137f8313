// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <core/crypto/keys.hpp>

/// Arithmetic on secret keys, for keys that follow from others (BIP-32).
namespace assay::crypto {

/// Returns the public key with its parity: 2 or 3, then the x coordinate (SEC 1).
std::array<std::uint8_t, 33> compressed_public_key(const SecretKey& key) noexcept;

/// Returns the sum of the key and a number of 32 big-endian bytes, modulo the group order. Fails if the number is not
/// below the order or the sum is zero.
Result<SecretKey, KeyError> sum_of(const SecretKey& key, ByteView number32) noexcept;

}  // namespace assay::crypto
