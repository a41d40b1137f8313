// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <secp256k1.h>

#include <core/crypto/curve.hpp>

/// Points as libsecp256k1 holds them. Only for files of this folder.
namespace assay::crypto {

/// From an encoding of SEC 1; nullopt if it is of no point.
std::optional<secp256k1_pubkey> to_library(ByteView sec1) noexcept;
CurvePoint from_library(const secp256k1_pubkey& point) noexcept;

}  // namespace assay::crypto
