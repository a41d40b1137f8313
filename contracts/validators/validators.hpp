// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <core/base/result.hpp>
#include <contracts/state/context.hpp>
#include <contracts/validators/actions/validator_actions.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/state/validator.hpp>

/// The validator set, which follows stake (VAL rules).
namespace assay::contracts {

/// Stake per unit of voting power (VAL-3).
inline constexpr std::uint64_t kGrainsPerPower = 1'000'000'000;

Result<void, TxError> check_stateless(const RegisterValidator& action) noexcept;
/// VAL-1: checks that the key signed that `sender` may register it on this chain; fails with kKeyNotProven.
Result<void, TxError> check_bound(
    const std::string& chain_id, const AccountId& sender, const RegisterValidator& action
) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const RegisterValidator& action
) noexcept;
Result<void, TxError> execute(Context& context, const RegisterValidator& action) noexcept;

Result<void, TxError> check_stateless(const Unjail& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const Unjail& action
) noexcept;
Result<void, TxError> execute(Context& context, const Unjail& action) noexcept;

/// VAL-5: slashes and bans the validators named in the block's evidence.
void punish_misbehaviour(Context& context);
/// VAL-7: counts missed votes, and jails validators that missed too many in a row.
void note_absence(Context& context);
/// VAL-3, VAL-4: computes the set after this block, and adds the changes to the context.
void update_validators(Context& context);

/// The whole set as last reported to the engine, ordered by account.
std::vector<ValidatorUpdate> current_validators(const StateView& view);

}  // namespace assay::contracts
