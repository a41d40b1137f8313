// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/result.hpp>
#include <contracts/state/context.hpp>
#include <contracts/ledger/actions/ledger_actions.hpp>
#include <contracts/state/tx_error.hpp>

/// Balances, treasury and burned money (LED rules).
namespace assay::contracts {

Result<void, TxError> check_stateless(const Transfer& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const Transfer& action
) noexcept;
Result<void, TxError> execute(Context& context, const Transfer& action) noexcept;

/// Fails with kInsufficientBalance (LED-2) if `account` has less than `amount`.
Result<void, TxError> check_balance(const StateView& view, const AccountId& account, Amount amount) noexcept;

/// Sums that LED-1 keeps from overflowing, and differences that the caller has checked. Abort on overflow.
Amount add(Amount a, Amount b) noexcept;
Amount subtract(Amount a, Amount b) noexcept;

void credit(Overlay& state, const AccountId& account, Amount amount);
/// The caller must have checked the balance.
void debit(Overlay& state, const AccountId& account, Amount amount);
void pay_treasury(Overlay& state, Amount amount);
/// The caller must have checked that the treasury has `amount`.
void draw_on_treasury(Overlay& state, Amount amount);
void burn(Overlay& state, Amount amount);

}  // namespace assay::contracts
