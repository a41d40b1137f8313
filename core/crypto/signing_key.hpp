// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include <core/base/bytes.hpp>
#include <core/crypto/keys.hpp>

namespace assay::crypto {

/// A secret key with its public point, to make several signatures with: SecretKey::sign() computes the point each time,
/// which takes as long as the rest of a signature. Wiped on destruction; never printed.
class SigningKey {
  public:
    explicit SigningKey(const SecretKey& key) noexcept;
    ~SigningKey();
    SigningKey(const SigningKey&) = delete;
    SigningKey& operator=(const SigningKey&) = delete;

    /// The signature that the key's SecretKey::sign() returns for the message, without auxiliary randomness.
    Signature sign(ByteView message) const noexcept;

  private:
    std::array<std::uint8_t, 96> pair_{};
};

}  // namespace assay::crypto
