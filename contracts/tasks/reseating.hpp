// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <core/base/result.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/tasks/actions/seat_actions.hpp>

/// How the seats of a group that computes each step together change while it trains (GRP-13, GRP-14).
namespace assay::contracts {

Result<void, TxError> check_stateless(const Reseat& action) noexcept;
/// GRP-13: fails with kSeatsInvalid if the first seat is not the sender's, and with kSeatsNotSigned if somebody else on
/// the list has not signed it.
Result<void, TxError> check_bound(const std::string& chain_id, const AccountId& sender, const Reseat& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const Reseat& action
) noexcept;
Result<void, TxError> execute(Context& context, const Reseat& action) noexcept;

Result<void, TxError> check_stateless(const Demand& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const Demand& action
) noexcept;
Result<void, TxError> execute(Context& context, const Demand& action) noexcept;

}  // namespace assay::contracts
