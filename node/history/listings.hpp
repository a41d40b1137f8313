// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <consensus/state_machine.hpp>
#include <contracts/chain/chain.hpp>
#include <node/state/store.hpp>

namespace assay::history {

/// Adds to `batch` what happened in tasks, by the accounts that it names; payments by their receiver; changes of
/// validators; and the price of gas. `before` is the database before the batch is written.
void index_listings(
    storage::Batch& batch, const storage::Snapshot& before, const consensus::FinalizeRequest& block,
    const contracts::BlockOutcome& outcome
);

}  // namespace assay::history
