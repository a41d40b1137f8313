// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/params/answer.hpp>
#include <contracts/params/prices.hpp>
#include <contracts/state/ids.hpp>

/// Actions of contributors to the beacon (BCN rules).
namespace assay::contracts {

struct JoinBeacon {  // takes a contributor's seat
    static constexpr const char* kName = "join_beacon";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = true;
    Hash256 commitment;  ///< beacon_commitment(...) to the secret for the next round
    static constexpr auto fields() { return Fields<&JoinBeacon::commitment>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.seats(3) + prices.seat_reads(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct Contribute {
    static constexpr const char* kName = "contribute";
    static constexpr Answer kAnswer{.owed = Owed::kRound, .bytes_max = kPlainAnswer};
    static constexpr bool kByOperator = true;
    Hash256 secret;  ///< the preimage of the seat's current commitment
    Hash256 next;    ///< the commitment to the secret for the following round
    static constexpr auto fields() { return Fields<&Contribute::secret, &Contribute::next>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.seats(1); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct LeaveBeacon {  // by a contributor that owes no secret at the moment; returns its bond
    static constexpr const char* kName = "leave_beacon";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = true;
    static constexpr auto fields() { return Fields<>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.seats(2); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

}  // namespace assay::contracts
