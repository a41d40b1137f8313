// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <core/base/result.hpp>
#include <contracts/state/context.hpp>
#include <contracts/stake/actions/stake_actions.hpp>
#include <contracts/state/tx_error.hpp>

/// Stake per role: free, locked by duties, and unbonding (STK rules).
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

/// STK-4: pays back the account's unbonding stake that is due at this height.
void release_unbonded(Context& context, Role role, const AccountId& account);

/// The smallest bond of any duty in `role`. Accounts with less are not in the registry that draws use (STK-5).
Amount least_bond(const Params& params, Role role) noexcept;

/// Fails with kInsufficientStake (STK-2) if the free stake is less than `amount`.
Result<void, TxError> check_free_stake(
    const StateView& view, Role role, const AccountId& account, Amount amount
) noexcept;
/// Stores a stake and updates the registry of its role (STK-5).
void put_stake(Context& context, Role role, const AccountId& account, const Stake& stake);
/// STK-3: moves stake from free to locked, and back. The caller must have checked that it is there.
void lock_stake(Context& context, Role role, const AccountId& account, Amount amount);
void unlock_stake(Context& context, Role role, const AccountId& account, Amount amount);

/// SET-10: maximum number of accounts that share the winners' part of a conviction; keeps the smallest share above the
/// cost of a dispute.
constexpr std::size_t kWinnersMax = 6;

/// A slash of locked stake.
struct Penalty {
    Role role = Role::kSolver;
    AccountId from;
    Amount amount;
    Reason reason = Reason::kLostDispute;
    /// SET-10: ordered by time of accusation, earliest first; if empty, everything is burned.
    std::vector<AccountId> winners{};
    Reason winner_reason = Reason::kWonDispute;
    std::optional<Amount> each{};  ///< AVL-6: fixed amount for each winner, instead of the shares of SET-10
};
struct PenaltyOutcome {
    Amount slashed;
    Amount paid;
    Amount burned;
};
/// SET-5, SET-10, AVL-6: slashes the stake, pays the winners, burns the rest, and records both in the history of
/// `task`.
PenaltyOutcome slash(Context& context, Task& task, const Penalty& penalty);

}  // namespace assay::contracts
