// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include <contracts/state/transaction.hpp>

/// Which actions can answer a duty (DTY-1).
namespace assay::contracts {

/// DTY-1: the maximum size in bytes of a transaction that answers a duty with this action; nullopt if such an action
/// cannot.
std::optional<std::size_t> answer_bytes_max(const Action& action) noexcept;

}  // namespace assay::contracts
