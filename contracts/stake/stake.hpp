// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/chain/transaction.hpp>

namespace assay::contracts {

struct Unbonding {
    Amount amount;
    Height release_at;
    static constexpr auto fields() { return Fields<&Unbonding::amount, &Unbonding::release_at>{}; }
};

/// An account's stake in one role (STK rules). Free stake can be locked by duties or unbonded; locked stake can be
/// slashed; unbonding stake is paid back at its height.
struct Stake {
    Amount free;
    Amount locked;
    std::vector<Unbonding> unbonding;  ///< at most kMaxUnbondings
    static constexpr auto fields() { return Fields<&Stake::free, &Stake::locked, &Stake::unbonding>{}; }
};
inline constexpr std::size_t kMaxUnbondings = 16;

/// HW-2: the machine that an account says to have for a role.
struct Hardware {
    std::uint32_t hardware_class = 0;  ///< 0: none registered
    std::uint64_t score = 0;
    Height registered_at;
    static constexpr auto fields() {
        return Fields<&Hardware::hardware_class, &Hardware::score, &Hardware::registered_at>{};
    }
};

}  // namespace assay::contracts
