// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/result.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/transaction.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/state/beacon.hpp>

/// Classes of machines, who says to have one, and what verifiers consent to (HW and TRM rules).
namespace assay::contracts {

Result<void, TxError> check_stateless(const RegisterTerms& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const RegisterTerms& action
) noexcept;
Result<void, TxError> execute(Context& context, const RegisterTerms& action) noexcept;

/// HW-1: whether the table has the class `number`, 0 included: kClassUnknown.
Result<void, TxError> check_class(const Params& params, std::uint32_t number) noexcept;

/// HW-3: of `candidates`, those registered for the class `number`; all of them for class 0.
std::vector<Candidate> of_class(std::uint32_t number, const std::vector<Candidate>& candidates);

}  // namespace assay::contracts
