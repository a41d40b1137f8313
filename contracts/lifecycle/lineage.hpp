// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/result.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/state/task.hpp>

/// Tasks that start from the last checkpoint of another (LIN rules).
namespace assay::contracts {

inline constexpr std::uint32_t kMaxDepth = 32;          ///< ancestors that a task can have

/// LIN-1: whether the parent that `spec` names, if any, can be built upon: kParentUnfit.
Result<void, TxError> check_parent(const StateView& view, const TaskSpec& spec) noexcept;
/// Enters a task that is being submitted into the family of its parent, if it has one. The caller stores the task.
void adopt(Context& context, Task& task);
/// LIN-2, LIN-6: the state root that `task`, which has a parent, starts from.
Hash256 start_root(const StateView& view, const Task& task);

/// LIN-3: a task that would settle is `judged` while one of its ancestors is not over, or the mark of one that was convicted is
/// still on its way. Whether it is; stores the task then.
bool await_ancestors(Context& context, Task& task);

/// LIN-4: begins to mark the descendants of `task`, which was convicted.
void taint_descendants(Context& context, const TaskId& task);

}  // namespace assay::contracts
