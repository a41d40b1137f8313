// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <core/base/result.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/transaction.hpp>
#include <contracts/state/tx_error.hpp>

/// Bonds per role: free, locked by duties, unbonding (STK rules).
namespace assay::contracts {

Result<void, TxError> check_stateless(const Bond& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const Bond& action
) noexcept;
Result<void, TxError> execute(Context& context, const Bond& action) noexcept;

Result<void, TxError> check_stateless(const Unbond& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const Unbond& action
) noexcept;
Result<void, TxError> execute(Context& context, const Unbond& action) noexcept;

/// STK-4: pays back what of an account's unbonding stake is due at this height.
void release_unbonded(Context& context, Role role, const AccountId& account);

/// The least that a duty in `role` locks; below it, an account is not in the registry that draws use (STK-5).
Amount least_bond(const Params& params, Role role) noexcept;

/// Whether the free stake covers `amount`: kInsufficientStake (STK-2).
Result<void, TxError> check_free_stake(
    const StateView& view, Role role, const AccountId& account, Amount amount
) noexcept;
/// Stores a stake and keeps the registry of its role (STK-5).
void put_stake(Context& context, Role role, const AccountId& account, const Stake& stake);
/// STK-3: free to locked, and back. The caller has checked.
void lock_stake(Context& context, Role role, const AccountId& account, Amount amount);
void unlock_stake(Context& context, Role role, const AccountId& account, Amount amount);

/// SET-10: so many share what a conviction pays, so that the least of the shares pays for a dispute.
constexpr std::size_t kWinnersMax = 6;

/// A penalty on locked stake.
struct Penalty {
    Role role = Role::kSolver;
    AccountId from;
    Amount amount;
    Reason reason = Reason::kLostDispute;
    std::vector<AccountId> winners{};  ///< SET-10: whoever accused first comes first; with nobody all of it is burned
    Reason winner_reason = Reason::kWonDispute;
    std::optional<Amount> each{};  ///< AVL-6: what every winner gets, in the place of the shares of SET-10
};
struct PenaltyOutcome {
    Amount slashed;
    Amount paid;
    Amount burned;
};
/// SET-5, SET-10, AVL-6: takes the penalty, pays the winners' share, burns the rest, and records both in the history of `task`.
PenaltyOutcome slash(Context& context, Task& task, const Penalty& penalty);

}  // namespace assay::contracts
