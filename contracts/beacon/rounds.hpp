// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <contracts/state/beacon.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/task.hpp>

/// Rounds of the beacon: opened when something waits for a draw, closed with a seed that nobody could know before
/// (BCN-4 to BCN-12).
namespace assay::contracts {

/// What the draws of a round that has closed are made from.
struct ClosedRound {
    std::uint64_t number = 0;
    Hash256 seed;
    std::uint32_t contributors = 0;  ///< how many secrets are in the seed
    std::vector<history::Withheld> withheld;
    Drawing drawing;
};

/// BCN-7: "assay/round" over the seed before it, the number of the round, the hash of the block that opened it, and
/// the contributions in the order of their accounts.
Hash256 round_seed(
    const Hash256& previous, std::uint64_t number, const Hash256& block_hash,
    const std::vector<Contribution>& contributions
);

/// BCN-12: notes in the task's history the round that it is drawn by.
void record_round(Context& context, Task& task, const ClosedRound& round);

}  // namespace assay::contracts
