// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <contracts/chain/chain.hpp>
#include <contracts/params/gas.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/state/state.hpp>
#include <contracts/transaction/decoded.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/chain/duty.hpp>

/// Checks that precede a transaction's action: encoding, chain, signature, nonce and fee.
namespace assay::contracts {

/// TX-3: fail with kWrongChain and with kBadSignature.
Result<void, TxError> check_chain(const Tx& tx, const std::string& chain_id) noexcept;
Result<void, TxError> check_signature(const Tx& tx, const VerifySignature& verify) noexcept;
/// TX-5: fails with kNonceTooLow or kNonceTooHigh.
Result<void, TxError> check_nonce(std::uint64_t nonce, std::uint64_t expected) noexcept;
/// TX-7: fails with kFeeTooLow or kCannotPayFee.
Result<void, TxError> check_fee(
    const Account& sender, const DecodedTx& tx, Amount base_fee, const Params& params
) noexcept;
/// POOL-1: amount_out() plus the fee; the maximum amount, which no balance covers, on overflow.
Amount reserve_of(const TxBody& body, const Params& params) noexcept;

/// Checks the envelopes of a block's transactions one after another, against the state before the block. A block's fees
/// and nonces are taken before its first action (FEE-3), so actions do not affect the result.
class Envelopes {
  public:
    /// `before`, `chain_id` and `params` must outlive this object.
    Envelopes(const StateView& before, const std::string& chain_id, const Params& params, Height height)
        : before_(before),
          chain_id_(chain_id),
          params_(params),
          height_(height),
          base_fee_(get_base_fee(before, params)) {}

    /// Returns the entry's transaction if it passes TX-1 to TX-5 and TX-7 after those taken so far, or DTY-2 if it
    /// answers a duty; otherwise the first error. Fills in gas, action and sender of `receipt` as far as they are
    /// known.
    Result<DecodedTxPtr, TxError> open(const BlockEntry& entry, Receipt& receipt);
    /// Takes fee and nonce of the transaction that open() returned last. An answer to a duty has no fee or nonce: its
    /// duty is marked as answered.
    void take(const DecodedTx& tx);

    /// The accounts of the senders of taken transactions, after their fees and nonces.
    const std::map<AccountId, Account>& senders() const { return senders_; }
    Amount to_treasury() const { return to_treasury_; }
    Amount burned() const { return burned_; }

  private:
    Account find(const AccountId& sender) const;
    Result<void, TxError> check_duty(const DecodedTx& tx);

    const StateView& before_;
    const std::string& chain_id_;
    const Params& params_;
    const Height height_;  ///< of the block being checked
    const Amount base_fee_;
    std::map<AccountId, Account> senders_;
    std::set<Duty> answered_;
    std::optional<Duty> opened_;  ///< the duty that the transaction returned last by open() answers
    Amount to_treasury_;
    Amount burned_;
};

/// FEE-4: checks the transactions of a block proposal one by one.
class BlockProposal {
  public:
    /// `height` is that of the proposed block.
    BlockProposal(const StateView& before, const std::string& chain_id, const Params& params, Height height)
        : envelopes_(before, chain_id, params, height) {}

    /// Returns the block's resource use including this transaction, or its first violation of TX-1 to TX-7 or DTY-2 at
    /// this position.
    Result<BlockUse, TxError> open(const BlockEntry& entry);
    /// Adds the transaction that open() accepted last.
    void take();
    /// Resource use of the transactions taken so far.
    const BlockUse& use() const { return use_; }

  private:
    struct Opened {
        DecodedTxPtr tx;
        BlockUse use;
    };

    Envelopes envelopes_;
    BlockUse use_;
    std::optional<Opened> opened_;
};

}  // namespace assay::contracts
