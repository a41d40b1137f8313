// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <consensus/solo/block.hpp>
#include <tests/simulation/events.hpp>

/// What a lying replica does to blocks and transactions.
namespace assay::simulation {

/// Before the network's key signs it: what some rule refuses (garbage among the transactions, one of them twice).
void spoil(Events& events, solo::BlockHeader& header, std::vector<Bytes>& txs);

/// A copy that the network's key did not sign as it is.
solo::Block damaged(Events& events, solo::Block block);
Bytes damaged(Events& events, Bytes bytes);

}  // namespace assay::simulation
