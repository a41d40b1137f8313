// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <contracts/state/environment.hpp>
#include <contracts/state/params.hpp>
#include <contracts/state/terms.hpp>
#include <contracts/transaction/transaction.hpp>

namespace assay::roles {

/// What the owner of a machine admits (TRM-1).
struct OwnerView {
    bool is_closed = false;            ///< no new work is taken
    std::uint64_t least_price = 0;     ///< in grains for 10^9 multiply-adds; 0: any
    std::uint64_t memory = 0;          ///< most memory of a program's outputs, in bytes; 0: the chain's default
    std::uint32_t hardware_class = 0;  ///< that was measured; 0: none
    std::optional<contracts::Environment> environment{};  ///< ENV-3: in which a solver runs
};

/// Returns the terms that such a machine registers for a role (HW-2, TRM-1). A verifier that takes nothing new names a
/// byte of memory, and so consents to no task (TRM-2): it cannot decline a draw.
contracts::Terms terms_for(const contracts::Params& params, contracts::Role role, const OwnerView& owner);

}  // namespace assay::roles
