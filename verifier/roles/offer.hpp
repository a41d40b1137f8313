// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/integers.hpp>

namespace assay::roles {

/// What a solver knows of a task that it was drawn for, before it locks a bond for it. Times in microseconds.
struct OfferView {
    Amount reward;  ///< what reaches the solver
    Amount fees;    ///< of the transactions that the task takes
    std::uint64_t start_us = 0;   ///< until the first step: the initialisation
    std::uint64_t step_us = 0;    ///< of one step that was tried; 0 before
    std::uint64_t steps = 0;
    std::uint64_t queued_us = 0;  ///< what other accepted tasks still take
    std::uint64_t block_us = 0;   ///< between blocks, as it was lately
    std::uint32_t training_blocks = 0;
    std::uint64_t memory_bytes = 0;      ///< what training takes, and a dispute afterwards
    std::uint64_t memory_bytes_max = 0;  ///< what there is
    bool has_diverged = false;           ///< the step that was tried
    Amount cost_per_hour;                ///< of the machine
    std::uint32_t least_profit_percent = 0;  ///< of the cost
};

enum class Offer : std::uint8_t {
    kTake = 1,
    kTooLarge = 2,     ///< it takes more memory than there is
    kDiverges = 3,     ///< the first step leaves values that are not finite
    kTooLong = 4,      ///< it would take more than two thirds of the time until its deadline
    kTooLittle = 5,    ///< the reward does not cover the cost and the least profit
};
const char* to_string(Offer offer) noexcept;

/// How long the whole task would take; the greatest number when that is more than fits.
std::uint64_t estimated_us(const OfferView& view) noexcept;

/// Whether to accept. Asked before a step was tried too, for what can be known without one.
Offer decide_offer(const OfferView& view) noexcept;

}  // namespace assay::roles
