// SPDX-License-Identifier: Apache-2.0
#include <contracts/chain/chain.hpp>

#include <algorithm>
#include <utility>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/chain/envelope.hpp>
#include <contracts/chain/router.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/governance/governance.hpp>
#include <contracts/governance/params_rules.hpp>
#include <contracts/validators/validators.hpp>

namespace assay::contracts {
namespace {

constexpr std::size_t kMaxChainIdBytes = 48;

bool is_chain_id(const std::string& id) {
    return !id.empty() && id.size() <= kMaxChainIdBytes && std::all_of(id.begin(), id.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
}

/// One block in the making.
struct Run {
    Overlay& state;
    const Params& params;
    const std::string& chain_id;
    const BlockContext& block;
    BlockOutcome& outcome;
    // FEE-2: of the transactions that have paid a fee.
    std::uint64_t paid_gas = 0;
    std::uint64_t paid_bytes = 0;
};

void keep(BlockOutcome& outcome, Traces traces) {
    std::move(traces.history.begin(), traces.history.end(), std::back_inserter(outcome.history));
    outcome.judged_proofs += traces.judged_proofs;
    outcome.end_gas += traces.end_gas;
    std::move(
        traces.validator_updates.begin(), traces.validator_updates.end(), std::back_inserter(outcome.validator_updates)
    );
}

/// Checks and effects of a transaction that has paid.
Result<Traces, TxError> apply_action(Run& run, const DecodedTx& decoded, const Cause& cause) {
    TRY(check_action_stateless(decoded));
    const Tx& tx = decoded.tx;
    // The checks read through the overlay of the effects, which then need not look for the same slots again.
    return run_guarded(run.state, run.params, run.block, cause, [&](Context& context) -> Result<void, TxError> {
        TRY(check_authority(context.state, tx.body));
        TRY(check_action_stateful(context.state, run.params, tx.body.actor(), tx.body.action));
        return execute_action(context, tx.body.action);
    });
}

/// FEE-3: checks the block's envelopes and takes fees and nonces. Returns what is to be executed; null: has not paid.
std::vector<DecodedTxPtr> charge_all(Run& run, const std::vector<BlockEntry>& entries) {
    Envelopes envelopes(run.state, run.chain_id, run.params, run.block.height);
    std::vector<DecodedTxPtr> paid(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        Receipt& receipt = run.outcome.receipts[i];
        auto tx = envelopes.open(entries[i], receipt);
        if (!tx) {
            receipt.code = static_cast<std::uint8_t>(tx.error());
            continue;
        }
        receipt.is_charged = !is_answer((*tx)->tx.body);  // TX-8, DTY-3
        run.paid_gas += receipt.is_charged ? receipt.gas : 0;
        run.paid_bytes += receipt.is_charged ? entries[i].size_bytes : 0;
        envelopes.take(**tx);
        paid[i] = *std::move(tx);
    }
    for (const auto& [sender, account] : envelopes.senders()) {
        set_account(run.state, sender, account);
    }
    if (envelopes.to_treasury().grains != 0) {
        pay_treasury(run.state, envelopes.to_treasury());
        burn(run.state, envelopes.burned());
    }
    return paid;
}

Result<void, TxError> apply_tx(Run& run, const DecodedTx& decoded, Receipt& receipt) {
    const Tx& tx = decoded.tx;
    const Cause cause{
        .tx = decoded.hash, .actor = tx.body.actor(), .nonce = tx.body.nonce, .tx_size_bytes = decoded.size_bytes};
    // OPR-6: nobody else writes into an owner's history.
    const bool acts_for_owner = is_by_operator(tx.body.action) && check_authority(run.state, tx.body);
    receipt.owner = acts_for_owner ? tx.body.owner : std::nullopt;
    auto traces = apply_action(run, decoded, cause);
    receipt.task = task_of(run.state, tx.body.actor(), tx.body.nonce, tx.body.action);
    if (!traces) {
        return Unexpected{traces.error()};
    }
    receipt.is_charged = true;  // DTY-3: an answer counts once it has an effect
    keep(run.outcome, *std::move(traces));
    return {};
}

/// VAL-2: the first set, each with its stake. False when it is not sound.
bool add_validators(Overlay& state, const Genesis& genesis, Supply& supply) {
    if (genesis.validators.size() > genesis.params.validators_max) {
        return false;
    }
    std::vector<AccountId> stakers;
    for (const GenesisValidator& validator : genesis.validators) {
        const auto sum = checked_add(supply.genesis, validator.stake);
        const bool known =
            find_validator(state, validator.account) || find_consensus_account(state, address_of(validator.key));
        const std::uint64_t power = validator.stake.grains / kGrainsPerPower;
        if (!sum || known || validator.key.is_zero() || validator.stake < genesis.params.validator_stake_min ||
            power == 0) {
            return false;
        }
        supply.genesis = *sum;
        register_validator(state, validator.account, validator.key);
        Validator record = find_validator(state, validator.account).value();
        record.power = power;
        set_validator(state, validator.account, record);
        set_stake(
            state, Role::kValidator, validator.account, Stake{.free = validator.stake, .locked = {}, .unbonding = {}}
        );
        stakers.push_back(validator.account);
    }
    std::sort(stakers.begin(), stakers.end());
    set_stakers(state, Role::kValidator, stakers);
    return true;
}

/// FEE-2: a block is as full as the scarcer of its gas and its bytes.
std::uint64_t used_of(const Run& run) {
    return std::max(run.paid_gas, run.paid_bytes * run.params.block_gas_max / run.params.block_size_max);
}

std::vector<DisputeId> disputes_in(const Changes& changes) {
    std::vector<DisputeId> disputes;
    const Bytes first = keys::dispute(DisputeId{});
    for (auto it = changes.lower_bound(first); it != changes.end() && it->first.front() == first.front(); ++it) {
        DisputeId id;
        std::copy(it->first.begin() + 1, it->first.end(), id.data.begin());
        disputes.push_back(id);
    }
    return disputes;
}

}  // namespace

Result<Changes, GenesisError> make_genesis(const Genesis& genesis) {
    // BLK-1
    struct Nothing final : StateView {
        std::optional<Bytes> get(const Bytes& /*key*/) const override { return std::nullopt; }
    };
    if (!is_chain_id(genesis.chain_id)) {
        return Unexpected{GenesisError::kChainId};
    }
    if (genesis.params.protocol_version != kProtocolVersion || !are_valid(genesis.params)) {  // PAR-13, PAR-1
        return Unexpected{GenesisError::kParams};
    }
    const Nothing nothing;
    Overlay state = Overlay::over(nothing);
    Supply supply;
    for (const auto& [account, balance] : genesis.balances) {
        const auto sum = checked_add(supply.genesis, balance);
        if (!sum) {
            return Unexpected{GenesisError::kSupplyOverflow};
        }
        supply.genesis = *sum;
        set_account(state, account, Account{.balance = balance});
    }
    set_params(state, genesis.params);
    if (!add_validators(state, genesis, supply)) {
        return Unexpected{GenesisError::kValidators};
    }
    set_supply(state, supply);
    return state.changes();
}

Result<void, TxError> check_stateless(
    const DecodedTx& tx, const std::string& chain_id, const VerifySignature& verify
) noexcept {
    TRY(check_chain(tx.tx, chain_id));
    if (!tx.is_signed) {
        TRY(check_signature(tx.tx, verify));
    }
    TRY(check_action_stateless(tx));
    return {};
}

Result<void, TxError> check_tx(
    const StateView& view, const Params& params, const DecodedTx& tx, std::uint64_t expected_nonce, Height height
) noexcept {
    // TX-9
    const TxBody& body = tx.tx.body;
    if (is_answer(body)) {
        TRY(check_answer(view, params, body, tx.size_bytes, height));
        return {};
    }
    const Account sender = get_account(view, body.sender);
    TRY(check_nonce(body.nonce, expected_nonce));
    TRY(check_fee(sender, tx, get_base_fee(view, params), params));
    if (expected_nonce != sender.nonce) {
        return {};  // what comes before it decides the rest
    }
    Overlay state = Overlay::over(view);
    set_account(state, body.sender, Account{.balance = subtract(sender.balance, body.fee), .nonce = sender.nonce + 1});
    TRY(check_authority(state, body));
    TRY(check_action_stateful(state, params, body.actor(), body.action));
    return check_action_costly(state, body.action);
}

BlockOutcome apply_block(
    const StateView& view, const std::string& chain_id, const BlockContext& context, const std::vector<Bytes>& txs
) noexcept {
    return apply_block(view, chain_id, context, make_entries(txs, get_params(view)));
}

BlockOutcome apply_block(
    const StateView& view, const std::string& chain_id, const BlockContext& context,
    const std::vector<BlockEntry>& entries
) noexcept {
    // BLK-2
    BlockOutcome outcome;
    Overlay state = Overlay::over(view);
    outcome.protocol_version = begin_planned(state, context.height);
    const Params params = get_params(state);
    Run run{.state = state, .params = params, .chain_id = chain_id, .block = context, .outcome = outcome};
    outcome.receipts.resize(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        outcome.receipts[i].tx = entries[i].hash;
    }
    const auto paid = charge_all(run, entries);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (paid[i] != nullptr) {
            const auto applied = apply_tx(run, *paid[i], outcome.receipts[i]);
            outcome.receipts[i].code = applied ? std::uint8_t{0} : static_cast<std::uint8_t>(applied.error());
        }
    }
    auto ended = run_guarded(state, params, context, Cause{}, [](Context& end) -> Result<void, TxError> {
        end_block(end);
        return {};
    });
    ASSERT(ended.has_value());  // INV-7
    keep(outcome, *std::move(ended));
    set_base_fee(state, params, next_base_fee(get_base_fee(view, params), used_of(run), params));
    outcome.changes = state.net_changes();
    outcome.disputes = disputes_in(outcome.changes);
    return outcome;
}

}  // namespace assay::contracts
