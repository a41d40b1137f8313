// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/params/answer.hpp>
#include <contracts/params/prices.hpp>
#include <contracts/state/ids.hpp>

/// Actions on the seats of a group that computes each step together, while it trains (GRP-13, GRP-14).
namespace assay::contracts {

struct Reseat {  // by the lead: members join, leave, or have more or fewer seats than before
    static constexpr const char* kName = "reseat";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = true;
    TaskId task;
    std::uint32_t from = 0;             ///< the first segment for which the list counts
    std::vector<AccountId> seats;       ///< the account of each seat; the first is the sender's
    std::vector<Signature> signatures;  ///< of seats_claim(...), by each other account, in order of first seats
    static constexpr auto fields() {
        return Fields<&Reseat::task, &Reseat::from, &Reseat::seats, &Reseat::signatures>{};
    }
    std::uint64_t gas(const Prices& prices) const { return prices.task(5) + prices.partners(signatures.size()); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct Demand {  // by a member: another one has not sent what it had to send
    static constexpr const char* kName = "demand";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = true;
    TaskId task;
    AccountId member;
    static constexpr auto fields() { return Fields<&Demand::task, &Demand::member>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.task(5); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

}  // namespace assay::contracts
