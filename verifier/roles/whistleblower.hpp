// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/integers.hpp>
#include <contracts/state/task.hpp>
#include <verifier/roles/finding.hpp>
#include <verifier/roles/intent.hpp>

namespace assay::roles {

/// What a whistleblower knows about one task.
struct WatchView {
    AccountId self;
    contracts::Task task;
    std::vector<Hash256> claimed;  ///< claimed state roots of checkpoints 0 .. segment_count
    std::vector<Replays> replays;  ///< our replays by segment; same size as `claimed`
    bool has_disputed = false;     ///< we have opened a dispute about a segment that counts (GRP-7)
    std::uint64_t seed = 0;        ///< seed of the checking order
    Amount free_stake;             ///< in the whistleblower role
    Amount challenger_bond;
    bool is_breaker_open = false;
};

/// Returns segments 0 .. count-1 in an order that cannot be predicted without `seed`.
std::vector<std::uint32_t> checking_order(std::uint64_t seed, const TaskId& task, std::uint32_t count);

/// Returns the next action for a completed task until it is settled: replay its segments in random order and dispute
/// the first that two replays contradict. Skips segments that it cannot compute; those with a missing artifact come
/// last.
Intent decide_whistleblower(const WatchView& view);

}  // namespace assay::roles
