// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include <core/base/bytes.hpp>

namespace assay::crypto {

using SipKey = std::array<std::uint8_t, 16>;

/// SipHash-2-4 with a result of 64 bits (Aumasson and Bernstein, 2012): who does not know the key cannot find inputs
/// whose hashes collide. For tables in memory whose keys are chosen by others; it is no cryptographic digest.
std::uint64_t siphash(const SipKey& key, ByteView bytes);

}  // namespace assay::crypto
