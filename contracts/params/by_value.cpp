// SPDX-License-Identifier: Apache-2.0
#include <contracts/params/by_value.hpp>

#include <algorithm>
#include <limits>

#include <contracts/state/task.hpp>

namespace assay::contracts {
namespace {

Amount bond_for(Amount minimum, std::uint32_t bps, Amount value) {
    // PAR-2
    const auto share = checked_mul_div(value.grains, bps, kBasisPoints);
    return std::max(minimum, Amount{share ? *share : kMaxU64});
}

/// PAR-3: one more than `least` per `step` grains, at most `most`.
std::uint32_t count_for(std::uint32_t least, Amount step, std::uint32_t most, Amount value) {
    const std::uint64_t more = step.grains == 0 ? 0 : value.grains / step.grains;
    return least + static_cast<std::uint32_t>(std::min<std::uint64_t>(more, most - std::min(least, most)));
}

}  // namespace

Amount solver_bond(const Params& params, Amount value) noexcept {
    return bond_for(params.solver_bond, params.solver_bond_bps, value);
}

Amount member_bond(const Params& params, Amount value) noexcept {
    const auto bond = checked_mul_div(solver_bond(params, value).grains, 5, 4);
    return Amount{bond ? *bond : kMaxU64};
}

Amount demand_cost(const Params& params, Amount value) noexcept {
    return Amount{div_ceil<std::uint64_t>(member_bond(params, value).grains, 256)};
}

Amount verifier_bond(const Params& params, Amount value) noexcept {
    return bond_for(params.verifier_bond, params.verifier_bond_bps, value);
}

Amount challenger_bond(const Params& params, Amount value) noexcept {
    return bond_for(params.challenger_bond, params.challenger_bond_bps, value);
}

Amount verifier_reserve(const Params& params, Amount value) noexcept {
    const auto sum =
        checked_mul<std::uint64_t>(challenger_bond(params, value).grains, verifiers_per_segment(params, value));
    return Amount{sum ? *sum : kMaxU64};
}

Amount verifier_needs(const Params& params, Amount value) noexcept {
    const auto sum = checked_add(verifier_bond(params, value), verifier_reserve(params, value));
    return sum ? *sum : Amount{kMaxU64};
}

Amount attestation_fee(const Params& params, Amount value) noexcept {
    // AVL-6; by PAR-10 it is at most a tenth of the bond, so it fits.
    const std::uint64_t bond = verifier_bond(params, value).grains;
    return Amount{checked_mul_div(params.attest_fee.grains, bond, params.verifier_bond.grains).value()};
}

std::uint32_t segments_checked(const Params& params, Amount value, std::uint32_t segments) noexcept {
    const std::uint32_t wanted =
        count_for(params.segments_checked, params.value_per_check, params.segments_checked_max, value);
    return std::min(wanted, segments);
}

std::uint32_t segments_checked(const Params& params, const TaskSpec& spec, std::uint32_t segments) noexcept {
    return spec.privacy ? std::min(segments, params.segments_checked_max)
                        : segments_checked(params, task_value(spec), segments);
}

std::uint32_t verifiers_per_segment(const Params& params, Amount value) noexcept {
    return count_for(params.verifiers_per_segment, params.value_per_verifier, params.verifiers_per_segment_max, value);
}

dispute::ThresholdRule threshold_rule(const Params& params) noexcept {
    return {
        .quantile_ppm = params.threshold_quantile_ppm,
        .confidence_ppm = params.threshold_confidence_ppm,
        .margin = {params.threshold_margin_thousandths, 1'000},
        .separation = params.threshold_separation};
}

Amount tenth_of(Amount amount) noexcept { return Amount{amount.grains / 10}; }

}  // namespace assay::contracts
