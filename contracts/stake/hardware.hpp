// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/result.hpp>
#include <contracts/chain/context.hpp>
#include <contracts/chain/transaction.hpp>
#include <contracts/chain/tx_error.hpp>
#include <contracts/tasks/draw.hpp>

/// Classes of machines, and who says to have one (HW rules).
namespace assay::contracts {

Result<void, TxError> check_stateless(const RegisterHardware& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const RegisterHardware& action
) noexcept;
Result<void, TxError> execute(Context& context, const RegisterHardware& action) noexcept;

/// HW-1: whether the table has the class `number`, 0 included: kHardwareUnknown.
Result<void, TxError> check_class(const Params& params, std::uint32_t number) noexcept;

/// HW-3: of `candidates`, those registered for the class `number`; all of them for class 0.
std::vector<Candidate> of_class(std::uint32_t number, const std::vector<Candidate>& candidates);

/// HW-4: the share of the eligible stake from which a class is preferred, in basis points.
inline constexpr std::uint32_t kPreferredShareBps = 5'000;
/// HW-4: sets to 0 the weights of candidates that are not of the class `number`, if those that are hold enough of the
/// total weight; for class 0 nothing changes.
void prefer_class(std::uint32_t number, std::vector<Candidate>& candidates);

}  // namespace assay::contracts
