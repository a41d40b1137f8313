// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <consensus/hash_set.hpp>
#include <consensus/seeded_hash.hpp>
#include <consensus/state_machine.hpp>

namespace assay::solo {

struct MempoolLimits {
    std::uint64_t txs_max = 10'000;
    std::uint64_t bytes_max = 64U << 20U;
    std::uint64_t sender_txs_max = 1'000;
};

enum class [[nodiscard]] RefusalReason : std::uint8_t{
    kRejected = 1,      ///< the state machine said no; `code` has its TxError
    kFull = 2,          ///< a limit in transactions or bytes is reached, of the pool or of this sender
    kAlreadyKnown = 3,  ///< the same bytes are waiting
    kStopping = 4,
};

struct Refusal {
    RefusalReason reason = RefusalReason::kRejected;
    std::uint8_t code = 0;  ///< contracts::TxError with kRejected
};

/// The transactions that wait for a block, in order of arrival; of each sender without gaps in its nonces. A
/// transaction that waits cannot be replaced by another with its nonce. Thread-safe.
class Mempool {
  public:
    /// `state` outlives the mempool.
    Mempool(const consensus::StateMachine& state, MempoolLimits limits) : state_(state), limits_(limits) {}

    /// Returns the transaction's hash.
    Result<Hash256, Refusal> add(Bytes tx);
    /// In order, up to `bytes_max` in all.
    std::vector<Bytes> candidates(std::uint64_t bytes_max) const;
    /// After a commit: drops what the block had, and where the new state refuses the first that waits of a sender, all of
    /// that sender's. What waits behind a first is checked again when it is one.
    void update(const std::vector<Bytes>& block_txs);

    struct Size {
        std::uint64_t txs = 0;
        std::uint64_t bytes = 0;
    };
    Size size() const;
    bool contains(const Hash256& tx) const;
    /// The nonce that follows what waits of `sender`, or nullopt when nothing does.
    std::optional<std::uint64_t> next_nonce(const AccountId& sender) const;

  private:
    struct Waiting {
        Bytes bytes;
        Hash256 hash;
        AccountId sender;
        std::uint64_t nonce = 0;
    };
    struct SenderQueue {
        std::uint64_t next_nonce = 0;
        std::uint64_t count = 0;
    };
    Result<void, Refusal> admit(
        const consensus::CheckResult& check, const SenderQueue* queue, std::size_t size_bytes
    ) const;
    std::size_t drop_first(const std::vector<Bytes>& block_txs);
    std::vector<const Waiting*> first_of_senders() const;
    void drop_others(const std::vector<Bytes>& block_txs);
    void forget(const Waiting& waiting);
    bool is_next(const Waiting& waiting) const;

    const consensus::StateMachine& state_;
    const MempoolLimits limits_;
    mutable std::mutex mutex_;
    std::uint64_t generation_ = 0;  ///< counts updates: a check made before one is made again
    std::uint64_t bytes_ = 0;
    std::deque<Waiting> waiting_;  ///< by arrival
    std::unordered_map<AccountId, SenderQueue, consensus::SeededHash> senders_;
    consensus::HashSet hashes_;
};

}  // namespace assay::solo
