// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <consensus/refusal.hpp>
#include <consensus/state_machine.hpp>
#include <contracts/chain/chain.hpp>

/// What a node tells of its work to whoever counts it. The rules know nothing of it.
namespace assay::node {

/// Is told of every block, on the thread that executes blocks. Implementations must not throw and should take
/// microseconds: blocks wait for them.
class Observer {
  public:
    virtual ~Observer() = default;
    /// A block was executed in `time`. It is not committed yet; if the next call is for another block, it never is.
    virtual void on_executed(
        const consensus::FinalizeRequest& block, const contracts::BlockOutcome& outcome, std::chrono::nanoseconds time
    ) = 0;
    /// The last executed block was committed, which took `time`. `after` is the state after it.
    virtual void on_committed(const contracts::StateView& after, std::chrono::nanoseconds time) = 0;
};

/// An account that the operator watches.
struct WatchedAccount {
    AccountId account;
    Amount balance;
};

/// The record of the validator that this node runs.
struct OwnValidator {
    std::uint64_t power = 0;   ///< 0: not in the set
    std::uint32_t missed = 0;  ///< VAL-7: consecutive blocks without its vote
    std::uint32_t missed_max = 0;
    bool is_jailed = false;
    bool is_banned = false;
};

/// Figures of a node that are read when they are asked for. Each costs a few reads, however long the chain is.
struct NodeReadings {
    Amount base_fee;
    std::uint64_t block_gas_max = 0;
    std::uint64_t mempool_txs_max = 0;
    std::uint64_t mempool_bytes_max = 0;
    std::uint64_t mempool_admitted = 0;                                                          ///< since the start
    std::map<std::pair<consensus::RefusalReason, std::uint8_t>, std::uint64_t> mempool_refused;  ///< likewise
    std::uint64_t beacon_rounds = 0;  ///< closed since genesis
    std::uint64_t beacon_seats = 0;
    std::optional<bool> is_catching_up;     ///< nullopt: the engine cannot be asked
    std::optional<OwnValidator> validator;  ///< nullopt: this node runs none that is registered
    std::vector<WatchedAccount> accounts;
    std::uint64_t database_bytes = 0;
    std::uint64_t block_log_bytes = 0;
    std::uint64_t disk_free_bytes = 0;  ///< of the file system with the data
    std::uint64_t disk_size_bytes = 0;
};

}  // namespace assay::node
