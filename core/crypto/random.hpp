// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace assay::crypto {

/// Fills `out` from the operating system's random source; aborts when there is none. Not for pure modules.
void fill_random(std::span<std::uint8_t> out);

/// Overwrites a secret in a way that the compiler keeps.
void wipe(std::span<std::uint8_t> secret) noexcept;

}  // namespace assay::crypto
