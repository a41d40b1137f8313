// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include <core/base/bytes.hpp>

namespace assay::crypto {

/// MD5 (RFC 1321), by which S3 services name what they have received. It tells accidents and no intent: whoever wants
/// to can make two texts with one MD5.
std::array<std::uint8_t, 16> md5(ByteView data) noexcept;

}  // namespace assay::crypto
