// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/integers.hpp>
#include <core/base/result.hpp>
#include <contracts/state/params.hpp>
#include <contracts/state/spec.hpp>
#include <contracts/state/tx_error.hpp>

/// What follows from the parameters and a specification for a result that is kept after settlement (RET-1).
namespace assay::contracts {

/// RET-4: deposit, in grains, that pays for the draws of the tiles.
Amount show_draws_deposit(const Params& params) noexcept;
/// RET-1: least fee, in grains, for keeping the result of a task with this spec for `blocks` blocks; 2^64 - 1 on
/// overflow.
Amount retention_fee_min(const Params& params, const TaskSpec& spec, std::uint32_t blocks) noexcept;
/// RET-1: fails with kRetentionUnfit if the spec asks for something that no solver has to keep. Succeeds if it does not
/// ask for anything.
Result<void, TxError> check_retention(const Params& params, const TaskSpec& spec) noexcept;

}  // namespace assay::contracts
