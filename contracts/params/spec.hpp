// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <core/base/result.hpp>
#include <contracts/state/transaction.hpp>
#include <contracts/state/tx_error.hpp>

/// What a task may ask for, whatever the state (TASK-2).
namespace assay::contracts {

/// TASK-2: whether a task of this shape can be trained, replayed and disputed: kSpecInvalid.
Result<void, TxError> check_spec(const TaskSpec& spec) noexcept;

/// Whether a location is printable ASCII of at most kMaxLocationBytes.
bool is_location(const std::string& location) noexcept;

/// Most reveal-select rounds that a dispute of a task of this shape can take (DSP-4).
std::uint32_t dispute_rounds_max(const TaskSpec& spec) noexcept;

/// TASK-2, LED-3: check_spec, and that reward and fee have a sum.
Result<void, TxError> check_stateless(const SubmitTask& action) noexcept;

}  // namespace assay::contracts
