// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/state/transaction.hpp>
#include <contracts/state/params.hpp>

/// What a transaction costs every validator at most (GAS rules). A unit is about a microsecond of one core
/// (docs/benchmarks).
namespace assay::contracts {

/// GAS-3: a slot of the state that changes.
inline constexpr std::uint64_t kGasPerSlot = 12;

/// GAS-1: from the transaction, its size and the parameters alone.
std::uint64_t gas_of(const Tx& tx, std::size_t size_bytes, const Params& params) noexcept;
/// GAS-6: of bytes that are no transaction; a block may hold any.
std::uint64_t gas_of_undecodable(std::size_t size_bytes) noexcept;
/// Of what a block holds.
std::uint64_t gas_of_bytes(ByteView tx_bytes, const Params& params) noexcept;
/// GAS-8: no transaction of at most `tx_size_max` bytes has more.
std::uint64_t gas_max(const Params& params) noexcept;

/// GAS-10: to look at an entry of the agenda or of a queue.
inline constexpr std::uint64_t kGasPerEntry = 2 * kGasPerSlot;
/// GAS-10: to end what has its deadline.
std::uint64_t deadline_gas(const Params& params) noexcept;
/// GAS-10: reading the accounts that a round draws from, of which there are so many.
std::uint64_t pool_gas(std::size_t candidates) noexcept;
/// GAS-10: one draw out of so many.
std::uint64_t draw_gas(Queue queue, std::size_t candidates, const Params& params) noexcept;

/// FEE-2: no unit of gas costs more, so that the price of a transaction's gas is a number.
inline constexpr Amount kGasPriceMax{1'000'000'000};
/// FEE-1: the least fee of so much gas.
Amount fee_of(std::uint64_t gas, Amount base_fee) noexcept;
/// FEE-2: the base fee after a block that had so much gas.
Amount next_base_fee(Amount base_fee, std::uint64_t block_gas, const Params& params) noexcept;

/// What a block has taken of its limits.
class BlockUse {
  public:
    /// `is_answer`: it answers a duty, and takes of their lane as well (DTY-4).
    void add(std::size_t size_bytes, std::uint64_t gas, bool is_answer) noexcept {
        bytes_ += size_bytes;
        gas_ += gas;
        answer_bytes_ += is_answer ? size_bytes : 0;
        answer_gas_ += is_answer ? gas : 0;
    }
    bool fits_size(const Params& params) const noexcept { return bytes_ <= params.block_size_max; }  // BLK-17
    bool fits_gas(const Params& params) const noexcept { return gas_ <= params.block_gas_max; }      // GAS-7
    bool fits_lane(const Params& params) const noexcept {  // DTY-4
        return answer_gas_ <= params.duty_gas_max &&
               answer_bytes_ * params.block_gas_max <= std::uint64_t{params.block_size_max} * params.duty_gas_max;
    }
    std::uint64_t bytes() const noexcept { return bytes_; }
    std::uint64_t gas() const noexcept { return gas_; }

  private:
    // Neither overflows: with parameters that PAR-1 allows a transaction has less than 2^32 gas, and no block has 2^32.
    std::uint64_t bytes_ = 0;
    std::uint64_t gas_ = 0;
    std::uint64_t answer_bytes_ = 0;
    std::uint64_t answer_gas_ = 0;
};

}  // namespace assay::contracts
