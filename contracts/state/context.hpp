// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/validator.hpp>
#include <contracts/state/overlay.hpp>
#include <contracts/state/params.hpp>
#include <contracts/state/history.hpp>
#include <contracts/state/task.hpp>

namespace assay::contracts {

/// What contracts can know about the block that they execute in.
struct BlockContext {
    Height height;
    std::uint64_t time_ms = 0;
    Hash256 block_hash;  ///< used by a beacon round that opens in this block (BCN-4)
    AccountId proposer;
    std::vector<Misbehaviour> misbehaviour{};  ///< evidence from the consensus engine, included in this block
    std::vector<ConsensusAddress> absent{};    ///< validators whose vote for the previous block is missing
};

/// Execution environment of a contract: the state to change, the block and the sender. `tx` and `actor` are zero if a
/// deadline or a draw is executed.
struct Context {
    Overlay& state;
    const Params& params;
    const BlockContext& block;
    Hash256 tx;
    AccountId actor;
    std::uint64_t nonce = 0;
    std::uint64_t tx_size_bytes = 0;
    std::vector<HistoryRecord> history;
    std::uint64_t judged_proofs = 0;
    std::vector<ValidatorUpdate> validator_updates{};
    std::uint64_t end_gas = 0;  ///< GAS-10

    Height height() const { return block.height; }
    Height height_after(std::uint64_t blocks) const { return Height{block.height.value + blocks}; }
};

/// HIS-1: appends `event` to the history of `task`. The caller stores the task.
void record(Context& context, Task& task, HistoryEvent event);

}  // namespace assay::contracts
