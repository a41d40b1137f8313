// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include <contracts/state/dispute.hpp>
#include <contracts/state/task.hpp>
#include <verifier/roles/intent.hpp>

/// The order in which a worker with several duties carries them out.
namespace assay::roles {

/// Returns the tasks sorted by the deadline of their current state, earliest first; those without a deadline last.
std::vector<contracts::Task> by_deadline(const std::map<contracts::TaskId, contracts::Task>& tasks);

/// Returns the disputes sorted likewise.
std::vector<contracts::Dispute> by_deadline(std::vector<contracts::Dispute> disputes);

/// Whether the intent needs a computation, not only a transaction. Short intents never wait for long ones.
bool is_long(const Intent& intent) noexcept;

}  // namespace assay::roles
