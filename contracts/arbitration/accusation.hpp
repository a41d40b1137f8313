// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <core/base/result.hpp>
#include <contracts/arbitration/actions/accusation_actions.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/state/tx_error.hpp>

/// Members of a group that trains together hold each other to what they stated (STM-8 and later). The evidence and the
/// game are in core/dispute.
namespace assay::contracts {

Result<void, TxError> check_stateless(const Accuse& action) noexcept;
/// STM-2: fails with kNotStated unless the member signed the statement for this chain.
Result<void, TxError> check_bound(const std::string& chain_id, const AccountId& sender, const Accuse& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const Accuse& action
) noexcept;
Result<void, TxError> execute(Context& context, const Accuse& action) noexcept;

Result<void, TxError> check_stateless(const ReportEquivocation& action) noexcept;
Result<void, TxError> check_bound(
    const std::string& chain_id, const AccountId& sender, const ReportEquivocation& action
) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ReportEquivocation& action
) noexcept;
Result<void, TxError> execute(Context& context, const ReportEquivocation& action) noexcept;

}  // namespace assay::contracts
