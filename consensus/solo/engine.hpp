// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <core/base/result.hpp>
#include <core/crypto/keys.hpp>
#include <consensus/mempool.hpp>
#include <consensus/solo/block.hpp>
#include <consensus/solo/block_log.hpp>
#include <consensus/state_machine.hpp>

namespace assay::solo {

/// Log and state do not belong together, or the log is not valid, or a replay gave another app hash than the one
/// logged.
class HandshakeError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};
/// A block gave another app hash than the one in the log.
class AppHashMismatch : public HandshakeError {
  public:
    using HandshakeError::HandshakeError;
};

/// The steps of making a block, in order. Tests stop the engine after any of them.
enum class BlockStage : std::uint8_t { kFinalized = 1, kLogged = 2, kCommitted = 3, kMempoolUpdated = 4 };

struct EngineOptions {
    std::string chain_id;
    crypto::SecretKey proposer;
    std::chrono::milliseconds block_interval{1'000};
    bool create_empty_blocks = true;
    std::uint64_t block_bytes_max = 4U << 20U;
    consensus::MempoolLimits mempool;
    std::function<std::uint64_t()> now_ms;  ///< Unix time
    std::function<std::array<std::uint8_t, 32>()> signing_randomness;
    std::function<void(BlockStage)> after_stage;  ///< may throw; empty outside tests
    /// Called once, on the engine's thread, when a block could not be made. No further block is made. May be empty.
    std::function<void(const std::string&)> on_failure;
};

/// Checks that `record` extends the chain whose last header is `parent` (nullopt: it is block 1) and whose last state
/// has `app_hash`: BLK-12 to BLK-16. Returns the fault in words, or an empty string if there is none.
std::string find_fault(
    const LogRecord& record, const std::string& chain_id, const std::optional<BlockHeader>& parent,
    const Hash256& app_hash
);

consensus::FinalizeRequest to_request(const Block& block);

/// Finalizes and commits the logged blocks that `state` does not have yet and compares every app hash. Returns their
/// number. Throws HandshakeError if the state is ahead of the log, before its first block, or of another chain, or if a
/// block is not valid.
/// `progress` may be empty.
std::uint64_t replay(
    consensus::StateMachine& state, const BlockLog& log, const std::string& chain_id,
    const std::function<void(Height)>& progress
);

/// Single-node consensus: makes blocks at an interval and drives the state machine with them. Each block is in the log
/// on disk before the state machine commits it, so replay restores a state that lost its last commits.
class SoloEngine {
  public:
    struct Tip {
        Height height;
        Hash256 app_hash;
        Hash256 block_hash;  ///< zero before block 1
        std::uint64_t time_ms = 0;
    };

    /// Replays the logged blocks that the state does not have yet. `state` must be initialised; state and log must
    /// outlive the engine. Throws HandshakeError, also if the log's blocks have another proposer than options.proposer.
    SoloEngine(consensus::StateMachine& state, BlockLog& log, EngineOptions options);
    ~SoloEngine();
    SoloEngine(const SoloEngine&) = delete;
    SoloEngine& operator=(const SoloEngine&) = delete;

    /// Returns the number of blocks that the constructor replayed.
    std::uint64_t replayed() const { return replayed_; }
    /// Starts to make blocks, on a separate thread.
    void start();
    /// Stops after the block in progress and wakes all callers of wait_for_block(). Idempotent.
    void stop();
    /// Makes one block now. For tests and tools; not allowed after start().
    void make_block();

    /// Adds a transaction to the mempool. Returns its hash, or why it was refused.
    Result<Hash256, consensus::Refusal> submit(Bytes tx);
    /// Waits until there is a block later than `after`, until `timeout` or until stop(). Returns the last height.
    Height wait_for_block(Height after, std::chrono::milliseconds timeout);
    Tip tip() const;
    const consensus::Mempool& mempool() const { return mempool_; }

  private:
    void run();
    void pass(BlockStage stage) const;

    consensus::StateMachine& state_;
    BlockLog& log_;
    const EngineOptions options_;
    const AccountId proposer_;
    std::uint64_t replayed_ = 0;
    consensus::Mempool mempool_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Tip tip_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace assay::solo
