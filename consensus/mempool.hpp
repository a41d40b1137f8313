// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <consensus/answer_pool.hpp>
#include <consensus/hash_set.hpp>
#include <consensus/seeded_hash.hpp>
#include <consensus/state_machine.hpp>

namespace assay::consensus {

struct MempoolLimits {
    std::uint64_t txs_max = 10'000;         ///< with a fee; POOL-4: as many answers to duties besides
    std::uint64_t bytes_max = 64U << 20U;   ///< likewise
    std::uint64_t sender_txs_max = 1'000;
    std::uint64_t blocks_max = 50;         ///< POOL-3: how long a transaction waits
    std::uint64_t turnover_max = 10'000;  ///< POOL-2: how many are replaced or evicted between two blocks
};

enum class [[nodiscard]] RefusalReason : std::uint8_t{
    kRejected = 1,      ///< the state machine said no, or the nonce or the balance does; `code` has the TxError
    kFull = 2,          ///< a limit in transactions or bytes is reached, of the pool or of this sender
    kAlreadyKnown = 3,  ///< the same bytes are waiting
    kStopping = 4,
};

struct Refusal {
    RefusalReason reason = RefusalReason::kRejected;
    std::uint8_t code = 0;  ///< contracts::TxError with kRejected
};

struct Admitted {
    Hash256 hash;
    std::uint64_t gas = 0;
};

/// The transactions that wait for a block (POOL rules), the same under every engine: answers to duties, and of each sender a
/// queue without gaps in its nonces, whose fees and amounts the sender's balance covers together. Thread-safe.
class Mempool {
  public:
    /// `state` outlives the mempool.
    Mempool(const StateMachine& state, MempoolLimits limits) : state_(state), limits_(limits) {}

    Result<Admitted, Refusal> add(Bytes tx);
    /// What a proposal is chosen from: up to `bytes_max` of answers to duties, the oldest first; then up to `bytes_max` of the others,
    /// best price per gas first, each sender's in order of their nonces. How many answers a block takes is the state machine's to
    /// say (DTY-4), so that answers that have to wait leave no less for the others.
    std::vector<Bytes> candidates(std::uint64_t bytes_max) const;
    /// After a commit: drops what the block had, what has waited too long, and of each sender what the new state refuses
    /// or does not cover, with all that follows it. What follows a sender's first is checked again when it is one.
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
        std::shared_ptr<const Bytes> bytes;
        Hash256 hash;
        std::uint64_t price = 0;    ///< grains for a unit of gas
        std::uint64_t reserve = 0;  ///< grains
        std::uint64_t arrival = 0;
        std::uint64_t since = 0;  ///< the generation it came in
    };
    struct Queue {
        std::uint64_t first_nonce = 0;
        std::deque<Waiting> waiting;  ///< never empty in senders_

        std::uint64_t next_nonce() const { return first_nonce + waiting.size(); }
        std::uint64_t least_price() const;
    };
    using Queues = std::unordered_map<AccountId, Queue, SeededHash>;
    struct First {
        AccountId sender;
        std::shared_ptr<const Bytes> bytes;
        Hash256 hash;
    };

    Result<void, Refusal> admit_answer(const contracts::Duty& duty, Waiting waiting);
    Result<void, Refusal> admit(const CheckResult& check, Waiting waiting);
    Result<void, Refusal> replace(const CheckResult& check, Queue& queue, Waiting waiting);
    bool make_room(const AccountId& sender, const Waiting& waiting);
    bool is_full(std::uint64_t more_bytes) const;
    bool is_known(const Hash256& hash) const { return hashes_.contains(hash) || answers_.contains(hash); }
    void update_answers(const std::vector<Bytes>& block_txs);
    std::vector<First> drop_block(const std::vector<Bytes>& block_txs);
    void settle(const First& first, CheckResult check);
    void drop_from(Queue& queue, std::size_t index);
    void forget(const Waiting& waiting);

    const StateMachine& state_;
    const MempoolLimits limits_;
    mutable std::mutex mutex_;
    std::uint64_t generation_ = 0;  ///< counts updates: a check made before one is made again
    std::uint64_t arrivals_ = 0;
    std::uint64_t turnover_ = 0;  ///< since the last update
    std::uint64_t bytes_ = 0;
    Queues senders_;
    HashSet hashes_;
    AnswerPool answers_;
};

}  // namespace assay::consensus
