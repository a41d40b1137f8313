// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/result.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/state/task.hpp>

/// Tasks that start from the last checkpoint of another task (LIN rules).
namespace assay::contracts {

inline constexpr std::uint32_t kMaxDepth = 32;  ///< maximum number of ancestors of a task

/// LIN-1: fails with kParentUnfit if `spec` names a parent that cannot be built upon.
Result<void, TxError> check_parent(const StateView& view, const TaskSpec& spec) noexcept;
/// Links a task that is being submitted to its parent, if it has one. The caller stores the task.
void adopt(Context& context, Task& task);
/// LIN-2, LIN-6: the state root from which `task` starts. The task must have a parent.
Hash256 start_root(const StateView& view, const Task& task);

/// LIN-3: moves a task that is ready to settle to kJudged if an ancestor has not ended, or a convicted ancestor's mark
/// has not reached the task yet. Returns whether it did; if so, stores the task.
bool await_ancestors(Context& context, Task& task);

/// LIN-4: starts marking the descendants of the convicted task `task`.
void taint_descendants(Context& context, const TaskId& task);

}  // namespace assay::contracts
