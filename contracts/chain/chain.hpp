// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <core/base/result.hpp>
#include <core/crypto/keys.hpp>
#include <contracts/state/state.hpp>
#include <contracts/state/transaction.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/state/context.hpp>

/// The replicated state machine: blocks in, changes and receipts out. Pure (BLK rules).
namespace assay::contracts {

/// A validator of the first set (VAL-2).
struct GenesisValidator {
    AccountId account;
    ConsensusKey key;
    Amount stake;  ///< besides the account's balance
    static constexpr auto fields() {
        return Fields<&GenesisValidator::account, &GenesisValidator::key, &GenesisValidator::stake>{};
    }
};

struct Genesis {
    std::string chain_id;  ///< 1..48 characters of [a-z0-9-]
    Params params;
    std::map<AccountId, Amount> balances;
    std::vector<GenesisValidator> validators{};
    static constexpr auto fields() {
        return Fields<&Genesis::chain_id, &Genesis::params, &Genesis::balances, &Genesis::validators>{};
    }
};

enum class [[nodiscard]] GenesisError : std::uint8_t {
    kChainId = 1,
    kSupplyOverflow = 2,
    kParams = 3,
    kValidators = 4,  ///< VAL-2: one twice, a key twice or zero, too little stake, or too many
};

/// The changes that make the state of height 0 from nothing.
Result<Changes, GenesisError> make_genesis(const Genesis& genesis);

struct Receipt {
    Hash256 tx;
    /// 0: executed; else a TxError: nothing changed, except, where the sender could pay, fee and nonce.
    std::uint8_t code = 0;
    std::string action;     ///< action_name, empty when the bytes did not decode
    AccountId sender;
    std::optional<TaskId> task;  ///< the task that it is about, when there is one
    std::uint64_t gas = 0;       ///< GAS-1: the same whatever became of it
    /// TX-8: fee and nonce were taken, or it has answered a duty (DTY-3): either happens to a transaction at most once.
    bool is_charged = false;
    static constexpr auto fields() {
        return Fields<
            &Receipt::tx, &Receipt::code, &Receipt::action, &Receipt::sender, &Receipt::task, &Receipt::gas,
            &Receipt::is_charged>{};
    }
};

struct BlockOutcome {
    Changes changes;                     ///< against the view given
    std::vector<Receipt> receipts;       ///< one per transaction, in order
    std::vector<HistoryRecord> history;  ///< in order
    std::vector<DisputeId> disputes;     ///< opened or changed in this block
    std::vector<ValidatorUpdate> validator_updates;  ///< for the engine
    std::uint64_t referee_partials = 0;  ///< partials recomputed; the node measures their time itself
    std::uint64_t end_gas = 0;           ///< GAS-10: of the deadlines and draws at the end of the block
};

/// ENC-2: crypto::verify_signature, or what answers as it does and remembers the keys it has met.
using VerifySignature = std::function<bool(const AccountId&, ByteView, const Signature&)>;

/// Decodes and checks what needs no state: encoding, size, chain id, signature, ranges of the action's fields.
Result<Tx, TxError> check_stateless(
    ByteView tx_bytes, const std::string& chain_id, const Params& params,
    const VerifySignature& verify = crypto::verify_signature
) noexcept;

/// Whether the bytes are a transaction that carries its sender's signature (TX-1 to TX-3, whatever chain it names).
/// Depends on the bytes and the limit on their size alone, so it can be found out before the block, on any thread.
bool is_signed(
    ByteView tx_bytes, const Params& params, const VerifySignature& verify = crypto::verify_signature
) noexcept;

/// Whether `tx` could be executed on `view` right now, at the nonce the state asks for; for mempools. `params` are the
/// view's. `expected_nonce` lets a mempool check a transaction that follows others of the same sender. `height` is that of
/// the next block.
Result<void, TxError> check_tx(
    const StateView& view, const Params& params, const Tx& tx, std::size_t size_bytes, std::uint64_t expected_nonce,
    Height height
) noexcept;

/// Executes a whole block: fees and nonces of all transactions (FEE-3), then each action (checks, effects, invariants; a
/// failed one leaves no trace), then the deadlines that end with this block, then the draws. Total: any bytes give a receipt.
/// `known_signed` says of which transactions is_signed() has been found to hold; empty, or one for each. It saves
/// verifying their signatures and changes nothing else. `hashes` are the transactions', for who has them already; or empty.
BlockOutcome apply_block(
    const StateView& view, const std::string& chain_id, const BlockContext& context, const std::vector<Bytes>& txs,
    const std::vector<bool>& known_signed = {}, const std::vector<Hash256>& hashes = {}
) noexcept;

}  // namespace assay::contracts
