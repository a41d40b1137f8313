// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace assay::engine {

/// Integers up to 2 to the power of this are exact in f32.
inline constexpr std::uint32_t kFloatBits = 24;
/// Operands that are too wide for exact products are split: the low part has so many bits.
inline constexpr std::uint32_t kHalfBits = 12;

}  // namespace assay::engine
