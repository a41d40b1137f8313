// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <core/base/result.hpp>
#include <contracts/operators/actions/operator_actions.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/tx_error.hpp>

/// Owners name operators: accounts that answer duties and do daily work for them (OPR rules).
namespace assay::contracts {

Result<void, TxError> check_stateless(const NameOperator& action) noexcept;
/// OPR-1: an account is not its own operator.
Result<void, TxError> check_bound(
    const std::string& chain_id, const AccountId& sender, const NameOperator& action
) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const NameOperator& action
) noexcept;
Result<void, TxError> execute(Context& context, const NameOperator& action) noexcept;

}  // namespace assay::contracts
