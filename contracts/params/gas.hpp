// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <core/base/integers.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/params/prices.hpp>
#include <contracts/state/params.hpp>

/// Gas of what happens at the end of a block, fees, and the limits of a block (GAS rules). One unit is about a
/// microsecond of one core (docs/benchmarks).
namespace assay::contracts {

/// GAS-10: gas of reading one entry of the agenda or of a queue.
inline constexpr std::uint64_t kGasPerEntry = 2 * kGasPerSlot;
/// GAS-10: gas of processing an expired deadline.
std::uint64_t deadline_gas(const Params& params) noexcept;
/// GAS-10: gas of reading a round's candidates, given their number.
std::uint64_t pool_gas(std::size_t candidates) noexcept;
/// GAS-10: gas of one draw from that many candidates.
std::uint64_t draw_gas(Queue queue, std::size_t candidates, const Params& params) noexcept;

/// FEE-2: maximum price of a unit of gas, so that the price of a transaction's gas cannot overflow.
inline constexpr Amount kGasPriceMax{1'000'000'000};
/// FEE-1: gas times base fee.
Amount fee_of(std::uint64_t gas, Amount base_fee) noexcept;
/// FEE-2: the base fee after a block that used `block_gas`.
Amount next_base_fee(Amount base_fee, std::uint64_t block_gas, const Params& params) noexcept;

/// Resources used by a block, compared with its limits.
class BlockUse {
  public:
    /// `is_answer`: the transaction answers a duty, and also uses the lane of duties (DTY-4).
    void add(std::size_t size_bytes, std::uint64_t gas, bool is_answer) noexcept {
        bytes_ += size_bytes;
        gas_ += gas;
        answer_bytes_ += is_answer ? size_bytes : 0;
        answer_gas_ += is_answer ? gas : 0;
    }
    bool fits_size(const Params& params) const noexcept { return bytes_ <= params.block_size_max; }  // BLK-17
    bool fits_gas(const Params& params) const noexcept { return gas_ <= params.block_gas_max; }      // GAS-7
    bool fits_lane(const Params& params) const noexcept {                                            // DTY-4
        return answer_gas_ <= params.duty_gas_max &&
               answer_bytes_ * params.block_gas_max <= std::uint64_t{params.block_size_max} * params.duty_gas_max;
    }
    std::uint64_t bytes() const noexcept { return bytes_; }
    std::uint64_t gas() const noexcept { return gas_; }

  private:
    // No overflow: with valid parameters (PAR-1) a transaction has less than 2^32 gas, and a block has fewer than 2^32
    // transactions.
    std::uint64_t bytes_ = 0;
    std::uint64_t gas_ = 0;
    std::uint64_t answer_bytes_ = 0;
    std::uint64_t answer_gas_ = 0;
};

}  // namespace assay::contracts
