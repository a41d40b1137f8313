// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <contracts/state/params.hpp>
#include <core/dispute/tolerance.hpp>

/// What grows with the value of a task, its reward plus its verification fee (PAR-2, PAR-3). Each is monotone in the
/// value and at least 1; none overflows.
namespace assay::contracts {

/// PAR-2: max(minimum, floor(value * bps / 10,000)), or 2^64 - 1 when that does not fit, which nobody can lock.
Amount solver_bond(const Params& params, Amount value) noexcept;
Amount verifier_bond(const Params& params, Amount value) noexcept;
Amount challenger_bond(const Params& params, Amount value) noexcept;
/// VER-1: what an assignment locks besides the verifier's bond, for the disputes that an honest verdict can need
/// (DSP-46): a challenger's bond for each verifier of the segment.
Amount verifier_reserve(const Params& params, Amount value) noexcept;
/// VER-1: what an assignment locks in all.
Amount verifier_needs(const Params& params, Amount value) noexcept;

/// PAR-3: how many of `segments` segments are checked (all when there are fewer), and by how many verifiers each.
std::uint32_t segments_checked(const Params& params, Amount value, std::uint32_t segments) noexcept;
std::uint32_t verifiers_per_segment(const Params& params, Amount value) noexcept;

/// TOL-8: how a task's threshold follows from the profiles that stand.
dispute::ThresholdRule threshold_rule(const Params& params) noexcept;

/// SET-3: a tenth of an amount, what a verifier loses who misses a phase.
Amount tenth_of(Amount amount) noexcept;

}  // namespace assay::contracts
