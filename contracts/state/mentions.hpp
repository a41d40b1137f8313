// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>

#include <contracts/state/history.hpp>

/// Whom and what an event of a task's history is about, for listings and subscriptions. No rule reads it.
namespace assay::contracts {

/// All accounts that the record names: who caused it, and every account in the event's fields.
std::set<AccountId> accounts_of(const HistoryRecord& record);
/// The dispute that the event names, if it names one.
std::optional<DisputeId> dispute_of(const HistoryEvent& event);

}  // namespace assay::contracts
