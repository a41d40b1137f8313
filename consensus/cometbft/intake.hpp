// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <consensus/cometbft/gap_room.hpp>
#include <consensus/cometbft/outbox.hpp>
#include <consensus/mempool.hpp>
#include <consensus/seeded_hash.hpp>
#include <consensus/state_machine.hpp>

namespace assay::cometbft {

/// CheckTx codes that are not a TxError: the mempool is full; on recheck, the transaction is no longer in the mempool,
/// or less than half of the bundle is; the transaction waits already, so there is nothing to pass on; less than half of
/// the bundle was admitted, so it is not passed on as a whole.
inline constexpr std::uint32_t kMempoolFull = 1'000;
inline constexpr std::uint32_t kDropped = 1'001;
inline constexpr std::uint32_t kWaitsAlready = 1'002;
inline constexpr std::uint32_t kMostlyStale = 1'003;

/// How transactions come into the node's mempool under CometBFT: from its users, and alone or in bundles from the
/// engine (CMT-4, CMT-17). It decides what the engine passes on to other nodes. Thread-safe.
class Intake {
  public:
    /// `state`, `mempool` and `outbox` must outlive this object.
    Intake(const consensus::StateMachine& state, consensus::Mempool& mempool, Outbox& outbox)
        : state_(state), mempool_(mempool), outbox_(outbox) {}

    /// The answer to a CheckTx request. Code 0 lets the engine keep the entry and pass it on.
    struct Verdict {
        std::uint32_t code = 0;
        const char* why = "";  ///< for the log; empty with code 0
        /// Of a transaction from elsewhere. nullopt: of a bundle, or of what this node sends itself.
        std::optional<std::uint64_t> gas{};
    };
    /// Checks what is new to the engine and adds it to the mempool.
    Verdict check_new(ByteView entry);
    /// Whether the engine still has to keep what it holds. What waits of a bundle that it drops goes to the outbox.
    Verdict check_again(ByteView entry);
    /// Adds a transaction of a user of this node and queues it in the outbox.
    Result<consensus::Admitted, consensus::Refusal> submit(Bytes tx);
    /// Call after each block and after Mempool::update(), with the hashes of the block's transactions.
    void note_block(const std::vector<Hash256>& txs);

  private:
    /// What became of the parts of a bundle.
    struct Outcome {
        std::size_t admitted_bytes = 0;
        std::vector<consensus::Admitted> admitted;
        std::optional<std::uint8_t> malformed;  ///< the TxError of a part that is valid in no state
    };
    Verdict check_new_tx(ByteView tx);
    Verdict check_bundle(ByteView bundle);
    void add_part(Bytes part, Outcome& outcome);
    /// Keeps a part whose nonce leaves a gap.
    void hold(const Hash256& hash, Bytes part);
    /// Adds the sender's transactions that were kept from this nonce on, up to the next gap.
    void follow(const AccountId& sender, std::uint64_t nonce);
    bool is_in_recent_block(const Hash256& tx) const;

    const consensus::StateMachine& state_;
    consensus::Mempool& mempool_;
    Outbox& outbox_;
    mutable std::mutex mutex_;
    GapRoom gaps_;
    using Hashes = boost::unordered_flat_set<Hash256, consensus::SeededHash>;  // ADR 50
    Hashes recent_;  ///< transactions of recent blocks; moved to older_ when there are many
    Hashes older_;
};

}  // namespace assay::cometbft
