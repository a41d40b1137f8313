// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/integers.hpp>

namespace assay::roles {

/// What a solver knows about a task that it was drawn for, before it locks a bond. Times are in microseconds.
struct OfferView {
    Amount reward;               ///< paid to the solver, after tax
    Amount fees;                 ///< transaction fees that the task costs
    std::uint64_t start_us = 0;  ///< time until the first step: the initialisation
    std::uint64_t step_us = 0;   ///< measured time of one step; 0 before the trial
    std::uint64_t steps = 0;
    std::uint64_t queued_us = 0;  ///< remaining time of other accepted tasks
    std::uint64_t block_us = 0;   ///< recent time between blocks
    std::uint32_t training_blocks = 0;
    std::uint64_t memory_bytes = 0;          ///< needed for training and for a dispute afterwards
    std::uint64_t memory_bytes_max = 0;      ///< available
    bool has_diverged = false;               ///< whether the trial diverged
    bool is_misprofiled = false;             ///< PRV-13: the trial found a larger d_ref than the task's profilers did
    Amount cost_per_hour;                    ///< cost of the machine
    std::uint32_t least_profit_percent = 0;  ///< minimum profit in percent of the cost
    std::uint64_t work = 0;                  ///< WRK-1: multiply-adds of all steps
    std::uint64_t least_price = 0;           ///< least reward in grains for 10^9 of them; 0: any
};

enum class Offer : std::uint8_t {
    kTake = 1,
    kTooLarge = 2,     ///< it needs more memory than is available
    kDiverges = 3,     ///< the first step produces non-finite values
    kTooLong = 4,      ///< it and the queued tasks would take more than two thirds of the training window
    kTooLittle = 5,    ///< the reward does not cover the cost plus the minimum profit, or the least price
    kMisprofiled = 6,  ///< its threshold is smaller than it may be, so honest work would be rejected
    kTooMany = 7,      ///< may_take(): it would be one too many beside the tasks in work
};
const char* to_string(Offer offer) noexcept;

/// Returns the estimated duration of the whole task; the maximum of the type on overflow.
std::uint64_t estimated_us(const OfferView& view) noexcept;

/// Returns whether to accept, or the reason not to. Can also be called before the trial, to refuse what needs no trial.
Offer decide_offer(const OfferView& view) noexcept;

}  // namespace assay::roles
