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
#include <node/api/node_api.hpp>
#include <node/history/index.hpp>

namespace assay::node {

/// What makes a node's blocks and takes its transactions: the embedded engine, or CometBFT. Thread-safe, but for
/// start() and stop().
class Driver {
  public:
    virtual ~Driver() = default;

    virtual const char* name() const = 0;
    /// Returns when transactions can be submitted.
    virtual void start() = 0;
    /// No more blocks, waiters wake, submissions are refused. Idempotent.
    virtual void stop() = 0;
    /// What happened on the way up that an operator wants to know, a line each.
    virtual std::vector<std::string> start_notes() const = 0;

    struct Tip {
        Height height;
        Hash256 app_hash;
        std::uint64_t time_ms = 0;
    };
    virtual Tip tip() const = 0;
    /// Whose signature blocks carry; zero where they carry many.
    virtual AccountId proposer() const = 0;

    virtual Result<Hash256, SubmitError> submit(Bytes tx) = 0;
    /// Returns the last height as soon as it is later than `after`, at `timeout`, or at a stop.
    virtual Height wait_for_block(Height after, std::chrono::milliseconds timeout) = 0;

    struct Waiting {
        std::uint64_t txs = 0;
        std::uint64_t bytes = 0;
    };
    virtual Waiting waiting() const = 0;
    virtual bool is_waiting(const Hash256& tx) const = 0;
    /// The nonce that follows what waits of `sender`, or nullopt when nothing does.
    virtual std::optional<std::uint64_t> next_nonce(const AccountId& sender) const = 0;

    /// A committed block, without its receipts. Throws storage::StorageError when it is not whole.
    virtual StoredBlock block(Height height) const = 0;
    /// The bytes of one transaction of it; only these are read. nullopt when they are not there.
    virtual std::optional<Bytes> tx(const history::TxPlace& place, const history::TxRecord& record) const = 0;
    /// As NodeApi::light_block.
    virtual std::optional<Bytes> light_block(Height height) const = 0;
};

}  // namespace assay::node
