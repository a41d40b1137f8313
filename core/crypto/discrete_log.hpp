// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <core/base/bytes.hpp>
#include <core/crypto/curve.hpp>

/// Proofs that two points have one discrete logarithm, as BIP-374 defines them (version 0.2.0).
namespace assay::crypto {

/// BIP-374: the challenge e, then the response s, 32 big-endian bytes each.
using DlogProof = FixedBytes<struct DlogProofTag, 64>;

/// What is proven: `key` (A) is the same multiple of `generator` (G) as `product` (C) is of `base` (B).
struct EqualLogs {
    CurvePoint key;
    CurvePoint base;
    CurvePoint product;
    CurvePoint generator = crypto::generator();
};

/// BIP-374's GenerateProof: proves that secret * base and secret * generator have one logarithm. `aux` is 32 fresh
/// random bytes (may be zero). `message` has 32 bytes or none, and verification needs the same; a protocol puts there
/// what the proof must not be copied to. The secret is used in constant time. nullopt if `base` or `generator` is no
/// point.
std::optional<DlogProof> prove_equal_logs(
    const SecretKey& secret, const CurvePoint& base, const std::array<std::uint8_t, 32>& aux, ByteView message = {},
    const CurvePoint& generator = crypto::generator()
) noexcept;

/// BIP-374's VerifyProof. False for bytes that are no points, and for a message of neither 0 nor 32 bytes.
bool verify_equal_logs(const EqualLogs& statement, const DlogProof& proof, ByteView message = {}) noexcept;

}  // namespace assay::crypto
