// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/params/answer.hpp>
#include <contracts/params/prices.hpp>
#include <contracts/state/ids.hpp>
#include <contracts/state/terms.hpp>

/// Actions on stake (STK rules) and terms (TRM rules).
namespace assay::contracts {

struct Bond {
    static constexpr const char* kName = "bond";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = false;
    Role role = Role::kSolver;
    Amount amount;
    static constexpr auto fields() { return Fields<&Bond::role, &Bond::amount>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.slots(2); }
    Amount amount_out(const Params& /*params*/) const { return amount; }
};

struct Unbond {
    static constexpr const char* kName = "unbond";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = false;
    Role role = Role::kSolver;
    Amount amount;
    static constexpr auto fields() { return Fields<&Unbond::role, &Unbond::amount>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.slots(3); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

/// Stake: registers the sender's terms for a role. The score is self-reported.
struct RegisterTerms {
    static constexpr const char* kName = "register_terms";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = true;
    Role role = Role::kSolver;
    Terms terms;
    std::uint64_t score = 0;
    static constexpr auto fields() {
        return Fields<&RegisterTerms::role, &RegisterTerms::terms, &RegisterTerms::score>{};
    }
    std::uint64_t gas(const Prices& prices) const { return prices.slots(1); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

}  // namespace assay::contracts
