// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <contracts/state/context.hpp>
#include <contracts/state/task.hpp>

/// What remains of a group's task when one of its members is convicted (GRP-7).
namespace assay::contracts {

/// GRP-7: whether the conviction for segment `first` cuts the task instead of ending it: a group trained it, at least
/// one training segment remains, and verifiers may be drawn anew.
bool can_cut(const Params& params, const Task& task, std::uint32_t first) noexcept;

/// GRP-7: drops the segments from `first` on, for which `member` was convicted, and all verdicts; the task waits for
/// verifiers of what is left. `waits`: whether it waits for a draw already. Stores the task.
void cut(Context& context, Task& task, std::uint32_t first, const AccountId& member, bool waits);

}  // namespace assay::contracts
