// SPDX-License-Identifier: Apache-2.0
#include <contracts/ledger/ledger.hpp>

#include <contracts/state/slots.hpp>

namespace assay::contracts {

Amount add(Amount a, Amount b) noexcept { return checked_add(a, b).value(); }
Amount subtract(Amount a, Amount b) noexcept { return checked_sub(a, b).value(); }

void credit(Overlay& state, const AccountId& account, Amount amount) {
    Account record = get_account(state, account);
    record.balance = add(record.balance, amount);
    set_account(state, account, record);
}

void debit(Overlay& state, const AccountId& account, Amount amount) {
    Account record = get_account(state, account);
    record.balance = subtract(record.balance, amount);
    set_account(state, account, record);
}

void pay_treasury(Overlay& state, Amount amount) {
    Supply supply = get_supply(state);
    supply.treasury = add(supply.treasury, amount);
    set_supply(state, supply);
}

void draw_on_treasury(Overlay& state, Amount amount) {
    Supply supply = get_supply(state);
    supply.treasury = subtract(supply.treasury, amount);
    set_supply(state, supply);
}

void burn(Overlay& state, Amount amount) {
    Supply supply = get_supply(state);
    supply.burned = add(supply.burned, amount);
    set_supply(state, supply);
}

Result<void, TxError> check_balance(const StateView& view, const AccountId& account, Amount amount) noexcept {
    if (get_account(view, account).balance < amount) {
        return Unexpected{TxError::kInsufficientBalance};  // LED-2
    }
    return {};
}

Result<void, TxError> check_stateless(const Transfer& action) noexcept {
    if (action.amount.grains == 0) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const Transfer& action
) noexcept {
    TRY(check_balance(view, sender, action.amount));
    if (!(sender == action.to) && !checked_add(get_account(view, action.to).balance, action.amount)) {
        return Unexpected{TxError::kOverflow};  // LED-3
    }
    return {};
}

Result<void, TxError> execute(Context& context, const Transfer& action) noexcept {
    debit(context.state, context.actor, action.amount);
    credit(context.state, action.to, action.amount);
    return {};
}

}  // namespace assay::contracts
