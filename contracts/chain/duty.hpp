// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <core/base/result.hpp>
#include <contracts/state/state.hpp>
#include <contracts/transaction/transaction.hpp>
#include <contracts/state/tx_error.hpp>

/// Duties: actions that an account must take within a deadline, or be penalised. Transactions that answer duties are
/// free and have reserved capacity (a lane) in every block (docs/protocol/duties.md).
namespace assay::contracts {

/// Something that an account owes. Each duty is unique.
struct Duty {
    AccountId debtor;
    Hash256 subject;            ///< the task or dispute; zero: the beacon's open round
    std::uint32_t segment = 0;  ///< for a verdict; otherwise 0
    Height due;                 ///< 0: suspended without a deadline until disputes of its task end (TASK-11)
    auto operator<=>(const Duty&) const = default;
};

/// DTY-1: whether the transaction claims to answer a duty, which it does by having a fee of zero.
bool is_answer(const TxBody& body) noexcept;
/// The duty of `sender` in `view` that `action` would answer; nullopt if there is none. Does not check the action
/// itself, so `sender` may in fact owe nothing: check_answer() decides.
std::optional<Duty> find_duty(
    const StateView& view, const Params& params, const AccountId& sender, const Action& action
) noexcept;
/// DTY-2: returns the duty that this transaction of `size_bytes` answers in the state before the block at `height`.
/// Fails with kFeeTooLow or kTooLarge (DTY-1), with kNotOwed, or with the error of the action's own checks.
Result<Duty, TxError> check_answer(
    const StateView& view, const Params& params, const TxBody& body, std::size_t size_bytes, Height height
) noexcept;

}  // namespace assay::contracts
