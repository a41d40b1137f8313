// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <contracts/state/context.hpp>

/// Marking of a convicted task's descendants (LIN-4).
namespace assay::contracts {

inline constexpr std::uint32_t kMaxMarksPerBlock = 64;  ///< maximum number of descendants visited at the end of a block

/// LIN-4: marks up to kMaxMarksPerBlock of the pending descendants.
void spread_taints(Context& context);

}  // namespace assay::contracts
