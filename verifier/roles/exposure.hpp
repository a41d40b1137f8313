// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include <core/base/integers.hpp>
#include <contracts/state/params.hpp>
#include <contracts/state/task.hpp>
#include <contracts/state/terms.hpp>

/// Whether a verifier's stake has bonds for more segments at once than its machine replays by the time that verdicts
/// are due.
namespace assay::roles {

struct StakeView {
    AccountId self;
    Amount free_stake;           ///< as verifier, without what a seat in the beacon is going to lock
    contracts::Terms terms;      ///< as registered (TRM-1)
    std::uint64_t score = 0;     ///< as registered (HW-2), in millions of multiply-adds per second; 0: not measured
    std::uint64_t block_us = 0;  ///< time between blocks
    std::map<contracts::TaskId, contracts::Task> tasks{};  ///< those that have not ended
};

/// A task for which the account may be drawn more often than its machine can replay.
struct Exposure {
    std::uint64_t segments = 0;  ///< that it may be drawn for at once, of this task and of others
    std::uint64_t replays = 0;   ///< that its machine does in the time that verdicts on the task have
    Amount excess;               ///< free stake to unbond, so that it has bonds for no more
    /// TRM-1: the longest replay time of which its machine does as many as it has bonds for; 0: there is none.
    std::uint32_t replay_blocks = 0;
    bool operator==(const Exposure&) const = default;
};

/// Returns the worst of the tasks for which verifiers are still to be drawn and to which the account consents (TRM-2);
/// nullopt if its machine can replay everything. The machine has the registered score, or the least of its class.
/// Replays of less than a block are not counted.
std::optional<Exposure> find_exposure(const contracts::Params& params, const StakeView& view);

}  // namespace assay::roles
