// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <contracts/state/params.hpp>
#include <contracts/state/spec.hpp>
#include <core/dispute/tolerance.hpp>

/// Quantities that scale with a task's value, which is reward plus verification fee (PAR-2, PAR-3). Each is monotone in
/// the value and at least 1; none overflows.
namespace assay::contracts {

/// PAR-2: max(minimum, floor(value * bps / 10,000)); if that does not fit, 2^64 - 1, which nobody can lock.
Amount solver_bond(const Params& params, Amount value) noexcept;
/// GRP-5: the bond of each member of a group, five quarters of a solver's, rounded down.
Amount member_bond(const Params& params, Amount value) noexcept;
/// GRP-14: what a demand takes from the member that makes it, and from the one of whom it is made: a part of 256 of
/// member_bond(), rounded up.
Amount demand_cost(const Params& params, Amount value) noexcept;
Amount verifier_bond(const Params& params, Amount value) noexcept;
Amount challenger_bond(const Params& params, Amount value) noexcept;
/// VER-1: the reserve that an assignment locks in addition to the verifier's bond, for disputes that an honest verdict
/// may need (DSP-46): one challenger's bond per verifier of the segment.
Amount verifier_reserve(const Params& params, Amount value) noexcept;
/// VER-1: the total that an assignment locks: bond plus reserve.
Amount verifier_needs(const Params& params, Amount value) noexcept;

/// AVL-6: what a committee member is paid for attesting: `attest_fee` where the verifier's bond is the minimum, else as
/// much more as the bond is more, rounded down. All seats together are at most a tenth of the bond (PAR-10).
Amount attestation_fee(const Params& params, Amount value) noexcept;

/// PAR-3: how many of `segments` segments are checked (all of them if there are fewer), and by how many verifiers each.
std::uint32_t segments_checked(const Params& params, Amount value, std::uint32_t segments) noexcept;
/// PRV-9: the same for a task with this spec: of a private one as many as of the most valuable task.
std::uint32_t segments_checked(const Params& params, const TaskSpec& spec, std::uint32_t segments) noexcept;
std::uint32_t verifiers_per_segment(const Params& params, Amount value) noexcept;

/// TOL-8: the parameters for deriving a task's threshold from the unrefuted profiles.
dispute::ThresholdRule threshold_rule(const Params& params) noexcept;

/// SET-3: a tenth of an amount: what a verifier loses for missing a phase.
Amount tenth_of(Amount amount) noexcept;

}  // namespace assay::contracts
