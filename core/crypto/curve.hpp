// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <core/base/bytes.hpp>
#include <core/crypto/keys.hpp>

/// Points of secp256k1 (SEC 1, SEC 2), for protocols that need more of the curve than signatures.
namespace assay::crypto {

/// A point as 33 bytes: 2 or 3 by the parity of y, then x (SEC 1, compressed). The bytes of a stranger may be no point.
using CurvePoint = FixedBytes<struct CurvePointTag, 33>;

/// Whether the bytes encode a point of the curve.
bool is_on_curve(const CurvePoint& point) noexcept;
/// BIP-340's lift_x: the point with this x coordinate and an even y; nullopt if x is not of a point.
std::optional<CurvePoint> lift_x(ByteView x32) noexcept;
/// SEC 2's base point G.
const CurvePoint& generator() noexcept;
/// secret * G.
CurvePoint public_point(const SecretKey& secret) noexcept;
/// The secret of BIP-340's public key: `secret`, or its negative if the y of its point is odd.
SecretKey with_even_y(const SecretKey& secret) noexcept;
/// secret * point in constant time; nullopt if the bytes are no point.
std::optional<CurvePoint> multiply(const SecretKey& secret, const CurvePoint& point) noexcept;
/// The point as 65 bytes: 4, then x and y (SEC 1, uncompressed); nullopt if the bytes are no point.
std::optional<std::array<std::uint8_t, 65>> uncompressed(const CurvePoint& point) noexcept;
/// The point of an encoding of SEC 1 of 33 or 65 bytes, or nullopt.
std::optional<CurvePoint> decode_point(ByteView bytes) noexcept;

}  // namespace assay::crypto
