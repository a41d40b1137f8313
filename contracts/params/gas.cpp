// SPDX-License-Identifier: Apache-2.0
#include <contracts/params/gas.hpp>

#include <algorithm>

#include <contracts/params/prices.hpp>

namespace assay::contracts {
namespace {

// FEE-2: a full block raises the base fee by an eighth.
constexpr std::uint64_t kBaseFeeSlowness = 8;

}  // namespace

std::uint64_t deadline_gas(const Params& params) noexcept { return Prices(params, 0).deadline(); }

std::uint64_t pool_gas(std::size_t candidates) noexcept { return Prices::pool(candidates); }

std::uint64_t draw_gas(Queue queue, std::size_t candidates, const Params& params) noexcept {
    return Prices(params, 0).draw(queue, candidates);
}

Amount fee_of(std::uint64_t gas, Amount base_fee) noexcept {
    // GAS-8, PAR-1: gas is below 2^32 and the base fee at most 2^30, so this cannot fail.
    return Amount{checked_mul(gas, base_fee.grains).value()};
}

Amount next_base_fee(Amount base_fee, std::uint64_t block_gas, const Params& params) noexcept {
    // FEE-2
    const std::uint64_t target = params.block_gas_max / 2;
    const std::uint64_t used = std::min<std::uint64_t>(block_gas, params.block_gas_max);
    const std::uint64_t distance = used > target ? used - target : target - used;
    const std::uint64_t part = base_fee.grains * distance / (kBaseFeeSlowness * target);
    const std::uint64_t change = distance == 0 ? 0 : std::max<std::uint64_t>(part, 1);
    const std::uint64_t moved =
        used > target ? base_fee.grains + change : base_fee.grains - std::min(base_fee.grains, change);
    return Amount{std::clamp(moved, params.gas_price_min.grains, kGasPriceMax.grains)};
}

}  // namespace assay::contracts
