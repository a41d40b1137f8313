// SPDX-License-Identifier: Apache-2.0
#include <contracts/chain/envelope.hpp>

#include <utility>
#include <variant>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <contracts/chain/router.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/ledger/ledger.hpp>

namespace assay::contracts {
Result<Tx, TxError> decode_tx(ByteView tx_bytes, const Params& params) noexcept {
    if (tx_bytes.size() > params.tx_size_max) {
        return Unexpected{TxError::kTooLarge};  // TX-2
    }
    auto tx = codec::decode<Tx>(tx_bytes);
    if (!tx) {
        return Unexpected{TxError::kUndecodable};  // TX-1
    }
    return *std::move(tx);
}

Result<void, TxError> check_chain(const Tx& tx, const std::string& chain_id) noexcept {
    if (tx.body.chain_id != chain_id) {
        return Unexpected{TxError::kWrongChain};
    }
    return {};
}

Result<void, TxError> check_signature(const Tx& tx, const VerifySignature& verify) noexcept {
    if (!verify(tx.body.sender, signing_hash(tx.body).view(), tx.signature)) {
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
    const Account& sender, const Tx& tx, std::uint64_t gas, Amount base_fee, const Params& params
) noexcept {
    // TX-7
    if (tx.body.fee < least_fee(tx.body.action, gas, base_fee, params)) {
        return Unexpected{TxError::kFeeTooLow};
    }
    if (sender.balance < tx.body.fee) {
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

Result<Tx, TxError> Envelopes::open(ByteView tx_bytes, bool known_signed, Receipt& receipt) {
    receipt.gas = gas_of_undecodable(tx_bytes.size());
    TRY_ASSIGN(Tx tx, decode_tx(tx_bytes, params_));
    receipt.gas = gas_of(tx, tx_bytes.size(), params_);
    receipt.action = action_name(tx.body.action);
    TRY(check_chain(tx, chain_id_));
    if (!known_signed) {
        TRY(check_signature(tx, crypto::verify_signature));
    }
    receipt.sender = tx.body.sender;
    opened_.reset();
    if (is_answer(tx.body)) {
        TRY(check_duty(tx, tx_bytes.size()));
        return tx;
    }
    const Account sender = find(tx.body.sender);
    TRY(check_nonce(tx.body.nonce, sender.nonce));
    TRY(check_fee(sender, tx, receipt.gas, base_fee_, params_));
    return tx;
}

Result<void, TxError> Envelopes::check_duty(const Tx& tx, std::size_t size_bytes) {
    // DTY-2
    TRY(check_action_stateless(tx.body));
    TRY_ASSIGN(const Duty duty, check_answer(before_, params_, tx.body, size_bytes, height_));
    if (answered_.contains(duty)) {
        return Unexpected{TxError::kAnswered};
    }
    opened_ = duty;
    return {};
}

void Envelopes::take(const Tx& tx, std::uint64_t gas) {
    if (opened_) {
        answered_.insert(*opened_);  // DTY-3
        return;
    }
    Account sender = find(tx.body.sender);
    sender.balance = subtract(sender.balance, tx.body.fee);
    ++sender.nonce;
    senders_[tx.body.sender] = sender;
    // FEE-1
    const Amount floor = treasury_fee(tx.body.action, gas, params_);
    to_treasury_ = add(to_treasury_, floor);
    burned_ = add(burned_, subtract(tx.body.fee, floor));
}

Result<BlockUse, TxError> Proposal::open(ByteView tx_bytes, bool known_signed) {
    // FEE-4
    opened_.reset();
    Receipt receipt;
    TRY_ASSIGN(Tx tx, envelopes_.open(tx_bytes, known_signed, receipt));
    TRY(check_action_stateless(tx.body));
    BlockUse use = use_;
    use.add(tx_bytes.size(), receipt.gas, is_answer(tx.body));
    opened_ = Opened{.tx = std::move(tx), .gas = receipt.gas, .use = use};
    return use;
}

void Proposal::take() {
    ASSERT(opened_.has_value());
    envelopes_.take(opened_->tx, opened_->gas);
    use_ = opened_->use;
    opened_.reset();
}

}  // namespace assay::contracts
