// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/fields.hpp>
#include <core/base/integers.hpp>

namespace assay::contracts {

struct Account {
    Amount balance;
    std::uint64_t nonce = 0;
    static constexpr auto fields() { return Fields<&Account::balance, &Account::nonce>{}; }
};

/// Money that belongs to no account. LED-1: genesis supply = sum of balances + stake + escrow + treasury + burned.
struct Supply {
    Amount genesis;
    Amount burned;
    Amount treasury;
    static constexpr auto fields() { return Fields<&Supply::genesis, &Supply::burned, &Supply::treasury>{}; }
};

}  // namespace assay::contracts
