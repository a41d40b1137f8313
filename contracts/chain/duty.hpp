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
#include <contracts/state/transaction.hpp>
#include <contracts/state/tx_error.hpp>

/// Duties: what the rules make an account do within a time, and punish it for when it does not. Their answers cost nothing and
/// have a lane of their own in every block (docs/protocol/duties.md).
namespace assay::contracts {

/// What somebody owes. Nobody owes the same twice.
struct Duty {
    AccountId debtor;
    Hash256 subject;            ///< the task or the dispute; zero: the beacon's open round
    std::uint32_t segment = 0;  ///< of a verdict, else 0
    Height due;                 ///< 0: it waits for disputes of its task to end, and has no deadline meanwhile (TASK-11)
    auto operator<=>(const Duty&) const = default;
};

/// DTY-1: whether a transaction says that it answers a duty: it has no fee.
bool is_answer(const TxBody& body) noexcept;
/// What `sender` owes that `action` would answer, as `view` has it; nullopt: nothing.
std::optional<Duty> find_duty(
    const StateView& view, const Params& params, const AccountId& sender, const Action& action
) noexcept;
/// DTY-2: the duty that this transaction of `size_bytes` answers on the state before the block at `height`; or why it
/// answers none.
Result<Duty, TxError> check_answer(
    const StateView& view, const Params& params, const TxBody& body, std::size_t size_bytes, Height height
) noexcept;

}  // namespace assay::contracts
