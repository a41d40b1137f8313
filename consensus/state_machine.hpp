// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <core/base/result.hpp>
#include <core/merkle/jmt.hpp>
#include <contracts/chain/chain.hpp>
#include <contracts/chain/duty.hpp>

/// The interface that a consensus engine drives: ABCI 2.0 in plain structs. The same implementation runs under every
/// engine; finalize() depends on nothing of the engine but its arguments.
namespace assay::consensus {

struct Info {
    Height height;                       ///< last committed; 0 before the first block
    Hash256 app_hash;                    ///< of the state at that height
    std::uint32_t protocol_version = 0;  ///< of the state; 0 before there is one
};

/// The next block is not this program's to execute (GOV-8). The message says what to do.
class HaltError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

enum class CheckKind : std::uint8_t { kNew = 1, kRecheck = 2 };

/// The result of check(). Code 0 means that the transaction may enter the mempool.
struct CheckResult {
    std::uint8_t code = 0;  ///< contracts::TxError, or 0
    AccountId sender;
    std::uint64_t nonce = 0;
    std::uint64_t state_nonce = 0;  ///< the sender's next nonce in the committed state
    std::uint64_t gas = 0;          ///< GAS-1
    Amount fee{};                   ///< the fee that the transaction offers
    Amount reserve{};               ///< POOL-1: the most that it may take from the sender's balance, including the fee
    Amount balance{};               ///< the sender's balance in the committed state
    std::optional<contracts::Duty> duty{};  ///< DTY-2: the duty that it answers; an answer has no nonce and no fee
};

/// Why validators reject a proposal.
enum class [[nodiscard]] ProposalError : std::uint8_t{
    kHeight = 1,      ///< CMT-3: it is not the block after the last committed one
    kTooLarge = 2,    ///< BLK-17: its transactions exceed block_size_max
    kTooMuchGas = 3,  ///< GAS-7: its transactions exceed block_gas_max
    kUnpaid = 4,      ///< FEE-4: a transaction is invalid, out of nonce order or not paid for
    kLane = 5,        ///< DTY-4: its answers to duties exceed their share of gas or bytes
    kHalted = 6,      ///< GOV-8: validators have voted that this program does not go on
};
constexpr const char* to_string(ProposalError error) noexcept {
    switch (error) {
        case ProposalError::kHeight:
            return "it does not follow the last committed block";
        case ProposalError::kTooLarge:
            return "its transactions exceed block_size_max";
        case ProposalError::kTooMuchGas:
            return "its transactions exceed block_gas_max";
        case ProposalError::kUnpaid:
            return "it holds a transaction that is not valid, not the sender's next one, or not paid for";
        case ProposalError::kLane:
            return "its answers to duties exceed duty_gas_max, or the same share of block_size_max";
        case ProposalError::kHalted:
            return "validators have voted to halt before it, or to go on with another program";
    }
    return "unknown";
}

struct FinalizeRequest {
    Height height;
    std::uint64_t time_ms = 0;
    Hash256 block_hash;
    AccountId proposer;
    std::vector<Bytes> txs;
    std::vector<contracts::Misbehaviour> misbehaviour{};  ///< evidence from the engine
    std::vector<contracts::ConsensusAddress> absent{};    ///< validators that did not vote for the previous block
    std::vector<Hash256> tx_hashes{};                     ///< of `txs`, if the engine has them; else empty
};

struct FinalizeResult {
    Hash256 app_hash;
    std::vector<contracts::Receipt> receipts;  ///< one per transaction
    std::vector<contracts::ValidatorUpdate> validator_updates{};
    std::optional<std::uint32_t> protocol_version{};  ///< if this block changed it (GOV-8)
};

struct QueryRequest {
    Bytes key;                     ///< a key of the state (contracts::keys)
    std::optional<Height> height;  ///< nullopt: the last committed height
    bool with_neighbours = false;  ///< if the key does not exist, also prove the keys before and after it (JMT-6)
};
/// A key of the state with its value and the proof of both.
struct ProvenKey {
    Bytes key;
    Bytes value;
    merkle::JmtProof proof;
};
struct QueryResult {
    Height height;
    Hash256 app_hash;
    std::optional<Bytes> value;
    merkle::JmtProof proof;
    std::optional<ProvenKey>
        left{};  ///< the key before it, by SHA-256 of the keys, if asked for; nullopt: there is none
    std::optional<ProvenKey> right{};  ///< the key after it, likewise
};

/// The requested height is not available: not committed yet, or already pruned. The message names the available
/// heights.
class HeightNotKept : public std::out_of_range {
  public:
    HeightNotKept(const char* what, Height asked, Height first, Height last)
        : std::out_of_range(
              std::string(what) + " of height " + std::to_string(asked.value) + " is not here: heights " +
              std::to_string(first.value) + " to " + std::to_string(last.value) + " are"
          ),
          first_(first),
          last_(last) {}
    Height first() const { return first_; }
    Height last() const { return last_; }

  private:
    Height first_;
    Height last_;
};

class StateMachine {
  public:
    virtual ~StateMachine() = default;
    virtual Info info() const = 0;
    /// Creates the state of height 0 and returns its app hash. Idempotent until the first commit. Throws
    /// std::runtime_error if the genesis is not valid.
    virtual Hash256 init(const contracts::Genesis& genesis) = 0;
    /// Checks a transaction against the last committed state. May run on any thread, concurrently with blocks. `hash`
    /// is the hash of `tx`.
    virtual CheckResult check(ByteView tx, const Hash256& hash, CheckKind kind) const = 0;
    /// Returns the transactions for a proposal: chosen in the given order, at most `max_bytes` in total, and such that
    /// process() accepts them.
    virtual std::vector<Bytes> prepare(std::vector<Bytes> candidates, std::uint64_t max_bytes) const = 0;
    /// Checks whether a proposal is acceptable; one that prepare() chose always is. Depends only on the block and the
    /// committed state.
    virtual Result<void, ProposalError> process(const FinalizeRequest& proposal) const = 0;
    /// GOV-8: why this program must not execute the next block, in words for an operator; nullopt: it may.
    virtual std::optional<std::string> why_halted() const { return std::nullopt; }
    /// Executes a decided block in memory. Bad transactions are not an error: their receipts have an error code.
    /// Throws HaltError.
    virtual FinalizeResult finalize(const FinalizeRequest& block) = 0;
    /// Writes the finalized block; this is the only write. Blocks become durable in order. Throws when storage fails.
    virtual void commit() = 0;
    /// Returns the first block that this node still needs; earlier ones may be pruned. 0: all blocks are needed.
    virtual Height retain_height() const { return {}; }
    /// Returns the validator set of the last committed state. It is empty if the state has none; the engine then keeps
    /// its own set.
    virtual std::vector<contracts::ValidatorUpdate> validators() const { return {}; }
    /// Returns the value of a key with its proof. Throws HeightNotKept.
    virtual QueryResult query(const QueryRequest& request) const = 0;
};

}  // namespace assay::consensus
