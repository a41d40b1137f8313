// SPDX-License-Identifier: Apache-2.0
#include <contracts/chain/envelope.hpp>

#include <utility>
#include <variant>

#include <core/base/assert.hpp>
#include <contracts/chain/router.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/ledger/ledger.hpp>

namespace assay::contracts {
Result<void, TxError> check_chain(const Tx& tx, const std::string& chain_id) noexcept {
    if (tx.body.chain_id != chain_id) {
        return Unexpected{TxError::kWrongChain};
    }
    return {};
}

Result<void, TxError> check_signature(const Tx& tx, const VerifySignature& verify) noexcept {
    if (!verify_tx(tx, verify)) {
        return Unexpected{TxError::kBadSignature};
    }
    return {};
}

Result<void, TxError> check_nonce(std::uint64_t nonce, std::uint64_t expected) noexcept {
    // TX-5
    if (nonce != expected) {
        return Unexpected{nonce < expected ? TxError::kNonceTooLow : TxError::kNonceTooHigh};
    }
    return {};
}

Result<void, TxError> check_fee(
    const Account& sender, const DecodedTx& tx, Amount base_fee, const Params& params
) noexcept {
    // TX-7
    if (tx.tx.body.fee < least_fee(tx.tx.body.action, tx.gas, base_fee, params)) {
        return Unexpected{TxError::kFeeTooLow};
    }
    if (sender.balance < tx.tx.body.fee) {
        return Unexpected{TxError::kCannotPayFee};
    }
    return {};
}

Amount reserve_of(const TxBody& body, const Params& params) noexcept {
    return checked_add(body.fee, amount_out(body.action, params)).value_or(Amount{~std::uint64_t{0}});
}

Account Envelopes::find(const AccountId& sender) const {
    const auto found = senders_.find(sender);
    return found == senders_.end() ? get_account(before_, sender) : found->second;
}

Result<DecodedTxPtr, TxError> Envelopes::open(const BlockEntry& entry, Receipt& receipt) {
    receipt.gas = gas_of_undecodable(entry.size_bytes);
    TRY_ASSIGN(DecodedTxPtr decoded, entry.decoded);
    const Tx& tx = decoded->tx;
    receipt.gas = decoded->gas;
    receipt.action = action_name(tx.body.action);
    TRY(check_chain(tx, chain_id_));
    if (!decoded->is_signed) {
        TRY(check_signature(tx, crypto::verify_signature));
    }
    receipt.sender = tx.body.sender;
    opened_.reset();
    if (is_answer(tx.body)) {
        TRY(check_duty(*decoded));
        return decoded;
    }
    const Account sender = find(tx.body.sender);
    TRY(check_nonce(tx.body.nonce, sender.nonce));
    TRY(check_fee(sender, *decoded, base_fee_, params_));
    return decoded;
}

Result<void, TxError> Envelopes::check_duty(const DecodedTx& tx) {
    // DTY-2
    TRY(check_action_stateless(tx));
    TRY_ASSIGN(const Duty duty, check_answer(before_, params_, tx.tx.body, tx.size_bytes, height_));
    if (answered_.contains(duty)) {
        return Unexpected{TxError::kAnswered};
    }
    opened_ = duty;
    return {};
}

void Envelopes::take(const DecodedTx& tx) {
    if (opened_) {
        answered_.insert(*opened_);  // DTY-3
        return;
    }
    const TxBody& body = tx.tx.body;
    Account sender = find(body.sender);
    sender.balance = subtract(sender.balance, body.fee);
    ++sender.nonce;
    senders_[body.sender] = sender;
    // FEE-1
    const Amount floor = treasury_fee(body.action, tx.gas, params_);
    to_treasury_ = add(to_treasury_, floor);
    burned_ = add(burned_, subtract(body.fee, floor));
}

Result<BlockUse, TxError> BlockProposal::open(const BlockEntry& entry) {
    // FEE-4
    opened_.reset();
    Receipt receipt;
    TRY_ASSIGN(DecodedTxPtr tx, envelopes_.open(entry, receipt));
    TRY(check_action_stateless(*tx));
    BlockUse use = use_;
    use.add(tx->size_bytes, tx->gas, is_answer(tx->tx.body));
    opened_ = Opened{.tx = std::move(tx), .use = use};
    return use;
}

void BlockProposal::take() {
    ASSERT(opened_.has_value());
    envelopes_.take(*opened_->tx);
    use_ = opened_->use;
    opened_.reset();
}

}  // namespace assay::contracts
