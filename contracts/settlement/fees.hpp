// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <contracts/state/context.hpp>
#include <contracts/state/task.hpp>

/// Which verdicts earn a share of the verification fee.
namespace assay::contracts {

/// SET-6: whether the verdict earns its share: it was published, and has not turned out wrong. `refuted` is the segment
/// for which a member is being convicted, if any.
bool has_earned_fee(
    const StateView& view, const Task& task, const Assignment& assignment, const std::optional<std::uint32_t>& refuted
);

}  // namespace assay::contracts
