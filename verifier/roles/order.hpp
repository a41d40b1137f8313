// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include <contracts/state/dispute.hpp>
#include <contracts/state/task.hpp>
#include <verifier/roles/intent.hpp>

/// What a worker with several duties does first.
namespace assay::roles {

/// The tasks, the one whose present state ends first at the beginning, those without a deadline at the end.
std::vector<contracts::Task> by_deadline(const std::map<contracts::TaskId, contracts::Task>& tasks);

/// The same of disputes.
std::vector<contracts::Dispute> by_deadline(std::vector<contracts::Dispute> disputes);

/// Whether doing it takes a computation, and not just a transaction. What is not long is never kept waiting by what is.
bool is_long(const Intent& intent) noexcept;

}  // namespace assay::roles
