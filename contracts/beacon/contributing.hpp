// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <core/base/result.hpp>
#include <contracts/beacon/actions/beacon_actions.hpp>
#include <contracts/state/beacon.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/state/history.hpp>
#include <contracts/state/task.hpp>

/// Beacon seats, and the actions of their holders (BCN-1 to BCN-3, BCN-6).
namespace assay::contracts {

Result<void, TxError> check_stateless(const JoinBeacon& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const JoinBeacon& action
) noexcept;
Result<void, TxError> execute(Context& context, const JoinBeacon& action) noexcept;

Result<void, TxError> check_stateless(const Contribute& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const Contribute& action
) noexcept;
Result<void, TxError> execute(Context& context, const Contribute& action) noexcept;

Result<void, TxError> check_stateless(const LeaveBeacon& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const LeaveBeacon& action
) noexcept;
Result<void, TxError> execute(Context& context, const LeaveBeacon& action) noexcept;

/// BCN-5: whether the open round waits for this seat's secret; false if no round is open.
bool is_due(const Beacon& beacon, const Seat& seat) noexcept;
/// The seat of `account`; nullptr if it has none.
const Seat* find_seat(const Beacon& beacon, const AccountId& account) noexcept;

/// BCN-8: each contributor that owes a secret loses a tenth of its bond and its seat. Returns what each lost. The
/// caller stores the beacon.
std::vector<history::Withheld> dismiss_withholders(Context& context, Beacon& beacon);

/// BCN-5: whether the open round can be closed: nobody owes a secret any more, or the time for secrets is over.
bool can_close(const Context& context, const Beacon& beacon);

}  // namespace assay::contracts
