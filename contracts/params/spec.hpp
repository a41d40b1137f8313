// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <core/base/result.hpp>
#include <contracts/state/spec.hpp>
#include <contracts/state/tx_error.hpp>

/// Checks of a task's specification that need no state (TASK-2).
namespace assay::contracts {

/// TASK-2: fails with kSpecInvalid unless a task with this spec can be trained, replayed and disputed.
Result<void, TxError> check_spec(const TaskSpec& spec) noexcept;

/// Whether a location is printable ASCII of at most kMaxLocationBytes bytes.
bool is_location(const std::string& location) noexcept;

/// Maximum number of reveal-select rounds in a dispute of a task with this spec (DSP-4).
std::uint32_t dispute_rounds_max(const TaskSpec& spec) noexcept;

/// TASK-2, LED-3: check_spec(), and that the sum of the reward and the fees does not overflow.
Result<void, TxError> check_submission(const TaskSpec& spec) noexcept;

}  // namespace assay::contracts
