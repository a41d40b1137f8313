// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <contracts/state/result_check.hpp>
#include <core/canonical/tile.hpp>

namespace assay::worker {

/// Whether the check holds of the state (CHK-2). Its tensors are in the order of the program's; a check of a tensor
/// that the state does not have fails.
bool holds(const contracts::ResultCheck& check, std::span<const canonical::Tensor> state);

/// Returns the report of a verdict on the state (CHK-3): bit i is set if check i fails. There are at most
/// contracts::kMaxResultChecks.
std::uint32_t failed_checks(
    const std::vector<contracts::ResultCheck>& checks, std::span<const canonical::Tensor> state
);

}  // namespace assay::worker
