// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <contracts/state/beacon.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/history.hpp>
#include <contracts/state/task.hpp>

/// Beacon rounds: opened when a task waits for a draw, and closed with a seed that nobody could know before (BCN-4 to
/// BCN-12).
namespace assay::contracts {

/// The inputs of a closed round's draws.
struct ClosedRound {
    std::uint64_t number = 0;
    Hash256 seed;
    std::uint32_t contributors = 0;  ///< number of secrets in the seed
    std::vector<history::Withheld> withheld;
    Drawing drawing;
};

/// BCN-7: "assay/round" over the previous seed, the round number, the hash of the block that opened the round, and the
/// contributions ordered by account.
Hash256 round_seed(
    const Hash256& previous, std::uint64_t number, const Hash256& block_hash,
    const std::vector<Contribution>& contributions
);

/// BCN-12: records in the task's history the round whose seed its draws use.
void record_round(Context& context, Task& task, const ClosedRound& round);

}  // namespace assay::contracts
