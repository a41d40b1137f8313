// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <core/base/result.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/transaction.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/state/validator.hpp>

/// The set of validators follows stake (VAL rules).
namespace assay::contracts {

/// One unit of power (VAL-3).
inline constexpr std::uint64_t kGrainsPerPower = 1'000'000'000;

Result<void, TxError> check_stateless(const RegisterValidator& action) noexcept;
/// VAL-1: whether the key has signed that `sender` may register it on this chain: kKeyNotProven.
Result<void, TxError> check_key_proof(
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

/// VAL-5: slashes and bans who the block's evidence is against.
void punish_misbehaviour(Context& context);
/// VAL-7: counts who did not vote, and jails who has not for long.
void note_absence(Context& context);
/// VAL-3, VAL-4: makes the set of this block's end and notes in the context what changed.
void update_validators(Context& context);

/// The whole set as it was last given to the engine, in the order of accounts.
std::vector<ValidatorUpdate> current_validators(const StateView& view);

}  // namespace assay::contracts
