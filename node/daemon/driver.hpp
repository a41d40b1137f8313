// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <core/base/result.hpp>
#include <consensus/mempool.hpp>
#include <node/api/node_api.hpp>
#include <node/history/index.hpp>

namespace assay::node {

/// The engine of a node: makes blocks and accepts transactions, either embedded or through CometBFT. Thread-safe except
/// for start() and stop().
class Driver {
  public:
    virtual ~Driver() = default;

    virtual const char* name() const = 0;
    /// Starts the engine. Returns when transactions can be submitted; with an external engine, at once.
    virtual void start() = 0;
    /// Stops making blocks, wakes waiting callers and refuses further transactions. Idempotent.
    virtual void stop() = 0;
    /// Returns what an operator should know about the start, one line each.
    virtual std::vector<std::string> start_notes() const = 0;

    struct Tip {
        Height height;
        Hash256 app_hash;
        std::uint64_t time_ms = 0;
    };
    virtual Tip tip() const = 0;
    /// Returns the account that signs the blocks; zero if many validators sign them.
    virtual AccountId proposer() const = 0;

    virtual Result<Hash256, consensus::Refusal> submit(Bytes tx) = 0;
    /// Waits until there is a block later than `after`, until `timeout` or until stop(). Returns the last height.
    virtual Height wait_for_block(Height after, std::chrono::milliseconds timeout) = 0;

    struct Waiting {
        std::uint64_t txs = 0;
        std::uint64_t bytes = 0;
    };
    virtual Waiting waiting() const = 0;
    /// Returns what the mempool has admitted and refused since the start.
    virtual consensus::Mempool::Tally tally() const = 0;
    /// Returns whether the engine fetches blocks that others have decided already; nullopt if it cannot be asked.
    virtual std::optional<bool> is_catching_up() const = 0;
    virtual bool is_waiting(const Hash256& tx) const = 0;
    /// Returns the nonce after the sender's last pending transaction, or nullopt if it has none.
    virtual std::optional<std::uint64_t> next_nonce(const AccountId& sender) const = 0;

    /// Returns a committed block without its receipts. Throws storage::StorageError if it is missing or incomplete.
    virtual StoredBlock block(Height height) const = 0;
    /// Returns the bytes of one transaction without reading the rest of its block, or nullopt if they are not there.
    /// The caller must check them.
    virtual std::optional<Bytes> tx(const history::TxPlace& place, const history::TxRecord& record) const = 0;
    /// See NodeApi::light_block.
    virtual std::optional<Bytes> light_block(Height height) const = 0;
};

}  // namespace assay::node
