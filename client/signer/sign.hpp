// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <core/base/bytes.hpp>

/// BIP-340 signing without a library, for the build for browsers. The node, the worker and the command line use
/// libsecp256k1 (core/crypto).
namespace assay::signer {

using Secret = std::array<std::uint8_t, 32>;

/// Returns the account of the secret; nullopt if the secret is 0 or not below the order of the group.
std::optional<AccountId> account_of(const Secret& secret) noexcept;

/// Returns the signature of a message of any length. `aux` is the standard's auxiliary randomness: the signature is
/// safe without it, and fresh randomness protects against whoever measures the machine. Verifies the signature before
/// it returns it. nullopt as in account_of().
std::optional<Signature> sign_schnorr(
    const Secret& secret, ByteView message, const std::array<std::uint8_t, 32>& aux
) noexcept;

}  // namespace assay::signer
