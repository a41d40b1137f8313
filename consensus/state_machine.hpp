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

/// What a consensus engine drives, in the shape of ABCI 2.0 and in plain structs. The same implementation runs under
/// every engine; nothing but the arguments reaches finalize().
namespace assay::consensus {

struct Info {
    Height height;     ///< last committed; 0 before the first block
    Hash256 app_hash;  ///< of that height
};

enum class CheckKind : std::uint8_t { kNew = 1, kRecheck = 2 };

/// Answer to check(): code 0 means "may enter the mempool".
struct CheckResult {
    std::uint8_t code = 0;  ///< contracts::TxError, or 0
    AccountId sender;
    std::uint64_t nonce = 0;
    std::uint64_t state_nonce = 0;  ///< the sender's next nonce in the committed state
    std::uint64_t gas = 0;          ///< GAS-1
    Amount fee{};                   ///< what it names
    Amount reserve{};               ///< POOL-1: what it may take of the balance, its fee included
    Amount balance{};               ///< the sender's in the committed state
    std::optional<contracts::Duty> duty{};  ///< DTY-2: what it answers, in place of nonce and fee
};

/// Why a proposal is not one that validators accept.
enum class [[nodiscard]] ProposalError : std::uint8_t {
    kHeight = 1,      ///< CMT-3: not the block after the last committed one
    kTooLarge = 2,    ///< BLK-17
    kTooMuchGas = 3,  ///< GAS-7
    kUnpaid = 4,      ///< FEE-4
    kLane = 5,        ///< DTY-4
};
constexpr const char* to_string(ProposalError error) noexcept {
    switch (error) {
        case ProposalError::kHeight: return "it does not follow the last committed block";
        case ProposalError::kTooLarge: return "its transactions exceed block_size_max";
        case ProposalError::kTooMuchGas: return "its transactions exceed block_gas_max";
        case ProposalError::kUnpaid:
            return "it holds a transaction that is not valid, not the sender's next one, or not paid for";
        case ProposalError::kLane: return "its answers to duties exceed duty_gas_max, or the same share of block_size_max";
    }
    return "unknown";
}

struct FinalizeRequest {
    Height height;
    std::uint64_t time_ms = 0;
    Hash256 block_hash;
    AccountId proposer;
    std::vector<Bytes> txs;
    std::vector<contracts::Misbehaviour> misbehaviour{};  ///< the engine's evidence
    std::vector<contracts::ConsensusAddress> absent{};    ///< validators that did not vote for the block before
    std::vector<Hash256> tx_hashes{};  ///< of `txs`, from an engine that has them; or empty
};

struct FinalizeResult {
    Hash256 app_hash;
    std::vector<contracts::Receipt> receipts;  ///< one per transaction
    std::vector<contracts::ValidatorUpdate> validator_updates{};
};

struct QueryRequest {
    Bytes key;  ///< contracts::keys
    std::optional<Height> height;  ///< nullopt: last committed
    bool with_neighbours = false;  ///< prove the keys on either side of one that is not there (JMT-6)
};
/// A key of the state, what it holds, and the proof of both.
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
    std::optional<ProvenKey> left{};   ///< when asked for, and the key is not there; nullopt: none is smaller
    std::optional<ProvenKey> right{};  ///< nullopt: none is greater
};

/// A height that was asked for and is not there: not yet, or no longer. The text says which ones are.
class HeightNotKept : public std::out_of_range {
  public:
    HeightNotKept(const char* what, Height asked, Height first, Height last)
        : std::out_of_range(std::string(what) + " of height " + std::to_string(asked.value) + " is not here: heights " +
                            std::to_string(first.value) + " to " + std::to_string(last.value) + " are"),
          first_(first), last_(last) {}
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
    /// Makes the state of height 0; idempotent until the first commit. Returns its app hash. Throws
    /// std::runtime_error for a genesis that is not valid.
    virtual Hash256 init(const contracts::Genesis& genesis) = 0;
    /// Against the last committed state; may run on any thread while blocks run. `hash` is that of `tx`.
    virtual CheckResult check(ByteView tx, const Hash256& hash, CheckKind kind) const = 0;
    /// Chooses transactions for a proposal, in the order given and at most `max_bytes` in all, so that process() accepts it.
    virtual std::vector<Bytes> prepare(std::vector<Bytes> candidates, std::uint64_t max_bytes) const = 0;
    /// Whether a proposal is acceptable: what prepare() chose is. Depends on the block and the committed state only.
    virtual Result<void, ProposalError> process(const FinalizeRequest& proposal) const = 0;
    /// Executes a decided block in memory. Total: bad transactions give receipts.
    virtual FinalizeResult finalize(const FinalizeRequest& block) = 0;
    /// Makes the finalized block durable-in-order: the only write. Throws when storage fails.
    virtual void commit() = 0;
    /// Blocks before this height are needed by nobody here; 0: all are.
    virtual Height retain_height() const { return {}; }
    /// The set of validators of the last committed state; empty when it has none, and the engine keeps its own.
    virtual std::vector<contracts::ValidatorUpdate> validators() const { return {}; }
    /// Throws HeightNotKept.
    virtual QueryResult query(const QueryRequest& request) const = 0;
};

}  // namespace assay::consensus
