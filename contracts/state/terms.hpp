// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/fields.hpp>

/// Terms on which machines work (HW-2, TRM-1).
namespace assay::contracts {

/// A staker's hardware, and the limits of the work that it agrees to verify (HW-2, TRM-1). In each field 0 means the
/// default that also applies without a registration.
struct Terms {
    std::uint32_t hardware_class = 0;  ///< 0: no class
    // Verifiers only.
    std::uint64_t price = 0;   ///< lowest accepted price, in grains per 10^9 multiply-adds; 0: the chain's
    std::uint64_t memory = 0;  ///< largest accepted memory need of a program, in bytes; 0: the chain's default
    std::uint32_t replay_blocks =
        0;  ///< longest accepted replay time of a segment on its class; 0: whatever the chain allows
    // Solvers only.
    std::vector<std::uint64_t> offers = {};  ///< ENV-3: fingerprints of its environment, in ascending order
    bool operator==(const Terms&) const = default;
    static constexpr auto fields() {
        return Fields<&Terms::hardware_class, &Terms::price, &Terms::memory, &Terms::replay_blocks, &Terms::offers>{};
    }
};

}  // namespace assay::contracts
