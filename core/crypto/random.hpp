// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace assay::crypto {

/// Fills `out` from the operating system's random source; aborts if there is none. Not for modules that must be pure.
void fill_random(std::span<std::uint8_t> out);

/// Overwrites a secret in a way that the compiler does not optimise away.
void wipe(std::span<std::uint8_t> secret) noexcept;

}  // namespace assay::crypto
