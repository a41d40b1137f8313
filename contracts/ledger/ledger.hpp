// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/result.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/transaction.hpp>
#include <contracts/state/tx_error.hpp>

/// Balances, the treasury, and what is burned (LED rules).
namespace assay::contracts {

Result<void, TxError> check_stateless(const Transfer& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const Transfer& action
) noexcept;
Result<void, TxError> execute(Context& context, const Transfer& action) noexcept;

/// Whether `account` has at least `amount`: kInsufficientBalance (LED-2).
Result<void, TxError> check_balance(const StateView& view, const AccountId& account, Amount amount) noexcept;

/// `a + b` where LED-1 rules out an overflow, `a - b` where the caller has checked: otherwise a bug of ours.
Amount add(Amount a, Amount b) noexcept;
Amount subtract(Amount a, Amount b) noexcept;

void credit(Overlay& state, const AccountId& account, Amount amount);
/// The caller has checked the balance.
void debit(Overlay& state, const AccountId& account, Amount amount);
void pay_treasury(Overlay& state, Amount amount);
/// The caller has checked that it is there.
void draw_on_treasury(Overlay& state, Amount amount);
void burn(Overlay& state, Amount amount);

}  // namespace assay::contracts
