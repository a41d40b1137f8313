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
#include <contracts/state/transaction.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/chain/duty.hpp>

/// What a transaction needs before its action matters: encoding, chain, signature, nonce and fee.
namespace assay::contracts {

/// TX-1, TX-2.
Result<Tx, TxError> decode_tx(ByteView tx_bytes, const Params& params) noexcept;
/// TX-3.
Result<void, TxError> check_chain(const Tx& tx, const std::string& chain_id) noexcept;
Result<void, TxError> check_signature(const Tx& tx, const VerifySignature& verify) noexcept;
/// TX-5.
Result<void, TxError> check_nonce(std::uint64_t nonce, std::uint64_t expected) noexcept;
/// TX-7.
Result<void, TxError> check_fee(
    const Account& sender, const Tx& tx, std::uint64_t gas, Amount base_fee, const Params& params
) noexcept;
/// POOL-1: what the action takes from its sender's balance beside the fee, when it succeeds.
Amount amount_out(const Action& action, const Params& params) noexcept;
/// POOL-1: that and the fee; the greatest amount, which nobody has, when it does not fit.
Amount reserve_of(const TxBody& body, const Params& params) noexcept;

/// The envelopes of one block's transactions, checked one after the other against the state before the block. The fees
/// and nonces of a block are taken before its first action (FEE-3), so no action changes what is found here.
class Envelopes {
  public:
    /// All three outlive this object.
    Envelopes(const StateView& before, const std::string& chain_id, const Params& params, Height height)
        : before_(before), chain_id_(chain_id), params_(params), height_(height), base_fee_(get_base_fee(before, params)) {}

    /// The transaction, when it passes TX-1 to TX-5 and TX-7 after those taken so far, or DTY-2 where it answers a duty; else the
    /// first rule it breaks. Fills in gas, action and sender of `receipt` as far as they can be known.
    Result<Tx, TxError> open(ByteView tx_bytes, bool known_signed, Receipt& receipt);
    /// Takes fee and nonce of a transaction that open() returned last, with the gas of its receipt. An answer to a duty has
    /// neither; its duty has an answer from here on.
    void take(const Tx& tx, std::uint64_t gas);

    /// The senders whose transactions were taken, with what is left to them.
    const std::map<AccountId, Account>& senders() const { return senders_; }
    Amount to_treasury() const { return to_treasury_; }
    Amount burned() const { return burned_; }

  private:
    Account find(const AccountId& sender) const;
    Result<void, TxError> check_duty(const Tx& tx, std::size_t size_bytes);

    const StateView& before_;
    const std::string& chain_id_;
    const Params& params_;
    const Height height_;  ///< of the block
    const Amount base_fee_;
    std::map<AccountId, Account> senders_;
    std::set<Duty> answered_;
    std::optional<Duty> opened_;  ///< what the transaction that open() returned last answers
    Amount to_treasury_;
    Amount burned_;
};

/// FEE-4: what a proposal may hold, transaction by transaction.
class Proposal {
  public:
    /// `height` is that of the block to be.
    Proposal(const StateView& before, const std::string& chain_id, const Params& params, Height height)
        : envelopes_(before, chain_id, params, height) {}

    /// What the block would use with this transaction; or which of TX-1 to TX-7 and DTY-2 it breaks where it would stand.
    Result<BlockUse, TxError> open(ByteView tx_bytes, bool known_signed);
    /// Adds the transaction that open() returned for last.
    void take();
    /// What has been taken.
    const BlockUse& use() const { return use_; }

  private:
    struct Opened {
        Tx tx;
        std::uint64_t gas;
        BlockUse use;
    };

    Envelopes envelopes_;
    BlockUse use_;
    std::optional<Opened> opened_;
};

}  // namespace assay::contracts
