// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <consensus/state_machine.hpp>
#include <contracts/chain/chain.hpp>
#include <node/api/listings.hpp>
#include <node/state/store.hpp>

/// What an id or a task's title, or the beginning of one, names. Transactions are in their own index.
namespace assay::history {

/// Adds the accounts and validators that appear in `changes`: of the genesis, or of a block.
void index_names(storage::Batch& batch, const contracts::Changes& changes);
/// Adds the block's hash, the tasks, with their titles, and disputes that began with it, and its accounts and
/// validators.
void index_names(
    storage::Batch& batch, const consensus::FinalizeRequest& block, const contracts::BlockOutcome& outcome
);

/// Returns at most `limit` things whose id begins with `prefix`: in the order of their ids, then transactions in that
/// of their hashes.
std::vector<node::Named> find_names(
    const storage::Snapshot& snapshot, const node::IdPrefix& prefix, std::uint32_t limit
);

/// Returns at most `limit` tasks whose title begins with `beginning`, whatever the case of its letters, in the order of
/// their titles. Control characters find nothing.
std::vector<node::Named> find_titles(
    const storage::Snapshot& snapshot, const std::string& beginning, std::uint32_t limit
);

}  // namespace assay::history
