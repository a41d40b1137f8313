// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include <contracts/state/transaction.hpp>

/// Which actions can answer a duty (DTY-1).
namespace assay::contracts {

/// DTY-1: whether an action of this kind can answer a duty; its greatest size in bytes as a transaction then, else nullopt.
std::optional<std::size_t> answer_bytes_max(const Action& action) noexcept;

}  // namespace assay::contracts
