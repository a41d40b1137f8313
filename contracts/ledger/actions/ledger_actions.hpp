// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/params/answer.hpp>
#include <contracts/params/prices.hpp>
#include <contracts/state/ids.hpp>

/// Actions of the ledger (LED rules).
namespace assay::contracts {

struct Transfer {
    static constexpr const char* kName = "transfer";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = false;
    AccountId to;
    Amount amount;
    static constexpr auto fields() { return Fields<&Transfer::to, &Transfer::amount>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.slots(1); }
    Amount amount_out(const Params& /*params*/) const { return amount; }
};

}  // namespace assay::contracts
