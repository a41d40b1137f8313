// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <consensus/answer_pool.hpp>
#include <consensus/refusal.hpp>
#include <consensus/seeded_hash.hpp>
#include <consensus/state_machine.hpp>

namespace assay::consensus {

struct MempoolLimits {
    std::uint64_t txs_max = 10'000;        ///< fee-paying transactions; in addition, as many answers to duties (POOL-4)
    std::uint64_t bytes_max = 64U << 20U;  ///< likewise, in bytes
    std::uint64_t sender_txs_max = 1'000;
    std::uint64_t blocks_max = 50;  ///< POOL-3: a transaction is evicted after waiting longer than this
    std::uint64_t turnover_max =
        10'000;  ///< POOL-2: how many transactions may be replaced or evicted between two blocks
};

struct Admitted {
    Hash256 hash;
    std::uint64_t gas = 0;
    AccountId sender{};
    std::uint64_t nonce = 0;
    /// The transaction. The mempool shares it, so it expires in a weak_ptr when the transaction has left.
    std::shared_ptr<const Bytes> bytes{};
};

/// Which checks of a new transaction come first. It matters where it is refused: for which reason, and at what cost.
enum class CheckOrder : std::uint8_t {
    kSignatureFirst = 1,
    kStateFirst = 2,  ///< what the state refuses costs no verification of a signature
};

/// The mempool (POOL rules), the same under every engine. It holds answers to duties, and for each sender a queue of
/// transactions without nonce gaps whose fees and amounts the sender's balance covers in total. Thread-safe.
class Mempool {
  public:
    /// `state` must outlive the mempool.
    Mempool(const StateMachine& state, MempoolLimits limits) : state_(state), limits_(limits) {}

    /// Checks a transaction and adds it. Returns its hash and gas, or why it was refused.
    Result<Admitted, Refusal> add(Bytes tx, CheckOrder order = CheckOrder::kSignatureFirst);

    /// What add() has answered since the start.
    struct Tally {
        std::uint64_t admitted = 0;
        std::map<std::pair<RefusalReason, std::uint8_t>, std::uint64_t> refused;  ///< by reason and code
    };
    Tally tally() const;
    /// Returns the candidates for a proposal: up to `bytes_max` of answers to duties, the oldest first; then up to
    /// `bytes_max` of other transactions, the highest fee per gas first, each sender's in nonce order. The state
    /// machine decides how many answers fit into a block (DTY-4), so answers that do not fit take no room from other
    /// transactions.
    std::vector<Bytes> candidates(std::uint64_t bytes_max) const;
    /// Call after a commit. Removes the block's transactions and answers that are no longer owed. Evicts all of a
    /// sender's transactions if its lowest-nonce one is invalid; a fee that is only too low now is kept (POOL-3).
    /// Evicts a transaction that has waited too long or that the balance does not cover, with all later ones of its
    /// sender. Later transactions are checked again when they have the sender's lowest nonce.
    void update(const std::vector<Bytes>& block_txs);

    struct Size {
        std::uint64_t txs = 0;
        std::uint64_t bytes = 0;
    };
    Size size() const;
    bool contains(const Hash256& tx) const { return find(tx) != nullptr; }
    /// Returns the bytes of a pending transaction, or null if it is not pending.
    std::shared_ptr<const Bytes> find(const Hash256& tx) const;
    /// Returns the nonce after the sender's last pending transaction, or nullopt if it has none.
    std::optional<std::uint64_t> next_nonce(const AccountId& sender) const;

  private:
    struct Waiting {
        std::shared_ptr<const Bytes> bytes;
        Hash256 hash;
        std::uint64_t price = 0;    ///< grains per unit of gas
        std::uint64_t reserve = 0;  ///< grains
        std::uint64_t arrival = 0;
        std::uint64_t since = 0;  ///< the generation in which it was added
    };
    struct Queue {
        std::uint64_t first_nonce = 0;
        std::deque<Waiting> waiting;  ///< never empty in senders_

        std::uint64_t next_nonce() const { return first_nonce + waiting.size(); }
        std::uint64_t least_price() const;
    };
    using Hashes = boost::unordered_flat_map<Hash256, std::shared_ptr<const Bytes>, SeededHash>;  // ADR 50
    using Queues = std::unordered_map<AccountId, Queue, SeededHash>;
    struct First {
        AccountId sender;
        std::shared_ptr<const Bytes> bytes;
        Hash256 hash;
    };

    Result<Admitted, Refusal> try_add(Bytes tx, CheckOrder order);
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
    std::uint64_t generation_ = 0;  ///< counts updates: a check made before an update is repeated after it
    std::uint64_t arrivals_ = 0;
    std::uint64_t turnover_ = 0;  ///< since the last update
    std::uint64_t bytes_ = 0;
    Tally tally_;
    Queues senders_;
    Hashes hashes_;
    AnswerPool answers_;
};

}  // namespace assay::consensus
