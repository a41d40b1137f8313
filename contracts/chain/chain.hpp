// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <core/base/result.hpp>
#include <core/crypto/keys.hpp>
#include <contracts/state/state.hpp>
#include <contracts/transaction/decoded.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/state/context.hpp>

/// The replicated state machine: takes blocks, returns state changes and receipts. Pure (BLK rules).
namespace assay::contracts {

/// A validator of the initial set (VAL-2).
struct GenesisValidator {
    AccountId account;
    ConsensusKey key;
    Amount stake;  ///< in addition to the account's balance
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

enum class [[nodiscard]] GenesisError : std::uint8_t{
    kChainId = 1, kSupplyOverflow = 2, kParams = 3,
    kValidators = 4,  ///< VAL-2: duplicate account, duplicate or zero key, too little stake, or too many validators
};

/// Returns the changes that create the genesis state (height 0) from an empty state, or which part of `genesis` is
/// invalid.
Result<Changes, GenesisError> make_genesis(const Genesis& genesis);

struct Receipt {
    Hash256 tx;
    /// 0: executed. Otherwise a TxError: nothing changed except that fee and nonce were taken, if the sender could pay.
    std::uint8_t code = 0;
    std::string action;  ///< action_name; empty if the bytes did not decode
    AccountId sender;
    std::optional<AccountId> owner = std::nullopt;  ///< OPR-6: for whom the sender acted, as its operator
    std::optional<TaskId> task = std::nullopt;      ///< the task that the action concerns, if any
    std::uint64_t gas = 0;                          ///< GAS-1: independent of the outcome
    /// TX-8: fee and nonce were taken, or the transaction answered a duty (DTY-3). Happens at most once per
    /// transaction.
    bool is_charged = false;
    static constexpr auto fields() {
        return Fields<
            &Receipt::tx, &Receipt::code, &Receipt::action, &Receipt::sender, &Receipt::owner, &Receipt::task,
            &Receipt::gas, &Receipt::is_charged>{};
    }
};

struct BlockOutcome {
    Changes changes;                                 ///< relative to the given view
    std::vector<Receipt> receipts;                   ///< one per transaction, in order
    std::vector<HistoryRecord> history;              ///< in order
    std::vector<DisputeId> disputes;                 ///< opened or changed in this block
    std::vector<ValidatorUpdate> validator_updates;  ///< for the engine
    std::uint64_t judged_proofs = 0;                 ///< number of proofs that were judged, for timing by the node
    std::optional<std::uint32_t> protocol_version;   ///< GOV-8: if the block changed it
    std::uint64_t end_gas = 0;                       ///< GAS-10: gas of the deadlines and draws at the end of the block
};

/// Makes the checks of a decoded transaction that need no state: chain id, signature and ranges of the action's fields.
/// The signature is not verified if it is known to be valid.
Result<void, TxError> check_stateless(
    const DecodedTx& tx, const std::string& chain_id, const VerifySignature& verify = crypto::verify_signature
) noexcept;

/// Checks whether `tx` could be executed on `view` now, for mempools; returns the first error. `params` must be the
/// view's, and `height` is that of the next block. `expected_nonce` allows checking a transaction that follows others
/// of the same sender.
Result<void, TxError> check_tx(
    const StateView& view, const Params& params, const DecodedTx& tx, std::uint64_t expected_nonce, Height height
) noexcept;

/// Executes a block: first fees and nonces of all transactions (FEE-3), then each action (checks, effects, invariants;
/// a failed action is rolled back), then the deadlines that end with this block, then draws. Any bytes get a receipt.
/// The outcome does not depend on which entries are known to be signed.
BlockOutcome apply_block(
    const StateView& view, const std::string& chain_id, const BlockContext& context,
    const std::vector<BlockEntry>& entries
) noexcept;
/// The same for bytes that are not decoded yet.
BlockOutcome apply_block(
    const StateView& view, const std::string& chain_id, const BlockContext& context, const std::vector<Bytes>& txs
) noexcept;

}  // namespace assay::contracts
