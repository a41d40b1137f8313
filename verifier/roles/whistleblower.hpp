// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/integers.hpp>
#include <contracts/state/task.hpp>
#include <verifier/roles/finding.hpp>
#include <verifier/roles/intent.hpp>

namespace assay::roles {

/// What a whistleblower knows of one task.
struct WatchView {
    AccountId self;
    contracts::Task task;
    std::vector<Hash256> claimed;   ///< state roots of checkpoints 0 .. segment_count
    std::vector<Replays> replays;   ///< ours, by segment; as many
    bool has_disputed = false;      ///< we have opened a dispute of this task
    std::uint64_t seed = 0;         ///< of the order in which segments are checked
    Amount free_stake;              ///< as whistleblower
    Amount challenger_bond;
    bool is_breaker_open = false;
};

/// Segments 0 .. count-1 in an order that nobody without `seed` can foresee.
std::vector<std::uint32_t> checking_order(std::uint64_t seed, const TaskId& task, std::uint32_t count);

/// Watches a completed task until it is settled: replays its segments in random order and disputes the first that two
/// replays contradict. Skips what it cannot compute; a segment whose artifact is missing comes last.
Intent decide_whistleblower(const WatchView& view);

}  // namespace assay::roles
