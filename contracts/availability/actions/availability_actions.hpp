// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/params/answer.hpp>
#include <contracts/params/prices.hpp>
#include <contracts/state/ids.hpp>
#include <contracts/state/drawn_opening.hpp>

/// Actions of committees that attest availability (AVL rules).
namespace assay::contracts {

/// Availability: states that the sender has all data needed to replay the committee's segments and will replay them if
/// drawn.
struct AttestAvailability {
    static constexpr const char* kName = "attest_availability";
    static constexpr Answer kAnswer{.owed = Owed::kTask, .bytes_max = kOpeningAnswer};
    static constexpr bool kByOperator = true;
    TaskId task;
    DrawnOpening opening;  ///< AVL-3: of what was drawn for the sender
    static constexpr auto fields() { return Fields<&AttestAvailability::task, &AttestAvailability::opening>{}; }
    /// AVL-6: the last attestation that is needed pays the committee.
    std::uint64_t gas(const Prices& prices) const { return prices.attestation() + prices.hashed(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

}  // namespace assay::contracts
