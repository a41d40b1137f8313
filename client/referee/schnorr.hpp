// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/bytes.hpp>

/// BIP-340 verification without a library, for the build for browsers. The node uses libsecp256k1 (core/crypto).
namespace assay::referee {

/// Whether the 32 bytes are the x coordinate of a point of the curve.
bool is_x_of_point(ByteView x32) noexcept;

/// Whether `signature` is a BIP-340 signature of `message` by `signer`; false for a key that is not on the curve. It
/// handles public data alone and takes a time that depends on them, so it must never see a secret. Takes about a
/// millisecond.
bool verify_schnorr(const AccountId& signer, ByteView message, const Signature& signature) noexcept;

}  // namespace assay::referee
