// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/result.hpp>
#include <contracts/state/context.hpp>
#include <contracts/stake/actions/stake_actions.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/state/beacon.hpp>
#include <contracts/state/spec.hpp>

/// Hardware classes, and the terms on which stakers accept work (HW and TRM rules).
namespace assay::contracts {

Result<void, TxError> check_stateless(const RegisterTerms& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const RegisterTerms& action
) noexcept;
Result<void, TxError> execute(Context& context, const RegisterTerms& action) noexcept;

/// HW-1: fails with kClassUnknown unless `number` is 0 or a class of the table.
Result<void, TxError> check_class(const Params& params, std::uint32_t number) noexcept;

/// HW-3, ENV-3: whether a solver with these terms may be drawn for a task with this spec: it is registered for the
/// task's class, if that is not 0, and offers the environment that the task asks for.
bool is_suited(const Terms& terms, const TaskSpec& spec) noexcept;
/// The candidates that are suited.
std::vector<Candidate> suited(const TaskSpec& spec, const std::vector<Candidate>& candidates);

}  // namespace assay::contracts
