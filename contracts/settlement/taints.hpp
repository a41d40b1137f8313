// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <contracts/state/context.hpp>

/// Marking the descendants of a task that was convicted (LIN-4).
namespace assay::contracts {

inline constexpr std::uint32_t kMaxMarksPerBlock = 64;  ///< descendants of the convicted visited at the end of a block

/// LIN-4: marks at most kMaxMarksPerBlock of those that are to be marked.
void spread_taints(Context& context);

}  // namespace assay::contracts
