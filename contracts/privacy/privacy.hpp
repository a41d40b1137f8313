// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <core/base/result.hpp>
#include <contracts/privacy/actions/privacy_actions.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/task.hpp>
#include <contracts/state/tx_error.hpp>

/// Who reads a private task, and who answers for its keys (PRV rules).
namespace assay::contracts {

Result<void, TxError> check_stateless(const ShareKeys& action) noexcept;
/// PRV-3: fails with kShareInvalid unless each share was made for this chain, task and account by whoever knows its
/// ephemeral secret.
Result<void, TxError> check_bound(
    const std::string& chain_id, const AccountId& sender, const ShareKeys& action
) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ShareKeys& action
) noexcept;
/// PRV-3: only the solver owes shares; fails with kFeeTooLow for the submitter.
Result<void, TxError> check_owed(
    const StateView& view, const Params& params, const AccountId& sender, const ShareKeys& action, Height height
) noexcept;
Result<void, TxError> execute(Context& context, const ShareKeys& action) noexcept;

Result<void, TxError> check_stateless(const ReportWrongKeys& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ReportWrongKeys& action
) noexcept;
Result<void, TxError> execute(Context& context, const ReportWrongKeys& action) noexcept;

Result<void, TxError> check_stateless(const ReportWrongChunk& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ReportWrongChunk& action
) noexcept;
Result<void, TxError> execute(Context& context, const ReportWrongChunk& action) noexcept;

}  // namespace assay::contracts
