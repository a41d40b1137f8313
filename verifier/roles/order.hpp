// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
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

/// A dispute, and the round of it in which a move is due.
using Turn = std::pair<contracts::DisputeId, std::uint32_t>;

/// Whether who computes a move of the dispute `playing` leaves that for another one: `due` has the disputes in which a
/// move is due, earliest first, and `tried` what could not be played just now. So it does where one of them is due
/// earlier, and where no move is due in `playing` any more.
bool gives_way(
    const contracts::DisputeId& playing, const std::vector<contracts::Dispute>& due, const std::set<Turn>& tried
);

/// Whether the intent needs a computation, not only a transaction. Short intents never wait for long ones.
bool is_long(const Intent& intent) noexcept;

}  // namespace assay::roles
