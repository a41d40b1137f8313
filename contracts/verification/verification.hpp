// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/result.hpp>
#include <contracts/chain/context.hpp>
#include <contracts/chain/transaction.hpp>
#include <contracts/chain/tx_error.hpp>

/// Drawing verifiers after completion; verdicts committed, then revealed (VER rules).
namespace assay::contracts {

Result<void, TxError> check_stateless(const CommitVerdict& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const CommitVerdict& action
) noexcept;
Result<void, TxError> execute(Context& context, const CommitVerdict& action) noexcept;

Result<void, TxError> check_stateless(const RevealVerdict& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const RevealVerdict& action
) noexcept;
Result<void, TxError> execute(Context& context, const RevealVerdict& action) noexcept;

/// VER-1: draws segments and verifiers for each completed task that waits.
void draw_verifiers(Context& context);

/// VER-3, VER-4: the deadline of the commit or the reveal phase has passed.
void lapse_phase(Context& context, Task& task);

}  // namespace assay::contracts
