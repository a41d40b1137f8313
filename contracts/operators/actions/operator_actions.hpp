// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/params/answer.hpp>
#include <contracts/params/prices.hpp>

/// Actions on operators (OPR rules).
namespace assay::contracts {

struct NameOperator {  // names the account that may act for the sender, in place of the one named before
    static constexpr const char* kName = "name_operator";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = false;
    std::optional<AccountId> account;  ///< absent: the sender has no operator any more
    static constexpr auto fields() { return Fields<&NameOperator::account>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.slots(1); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

}  // namespace assay::contracts
