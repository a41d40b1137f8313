// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/integers.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/state/transaction.hpp>

/// The lane of duties: what its answers cost whom, and how much it may promise (DTY-3 to DTY-8).
namespace assay::contracts {

/// DTY-3: the gas of the answers that an action makes somebody owe.
std::uint64_t imposed_gas(const Action& action, const Params& params) noexcept;
/// FEE-1: the least fee of a transaction with so much gas.
Amount least_fee(const Action& action, std::uint64_t gas, Amount base_fee, const Params& params) noexcept;
/// FEE-1: what of the fee goes to the treasury.
Amount treasury_fee(const Action& action, std::uint64_t gas, const Params& params) noexcept;

/// DTY-5: how much of the lane tasks may hold, and disputes without a place.
std::uint64_t lane_half(const Params& params) noexcept;
/// DTY-5: what an open dispute takes.
std::uint64_t dispute_weight(const Params& params) noexcept;
/// DTY-5: what a task takes in its present state.
std::uint64_t task_weight(const Params& params, const Task& task) noexcept;
/// PAR-12: the most that a task can take.
std::uint64_t task_weight_max(const Params& params) noexcept;

/// DTY-5: whether the task's next draw finds room for the duties that it makes.
bool has_room_for_draw(const StateView& view, const Params& params, const Task& task) noexcept;
/// DTY-5: whether one more dispute that has no place in its task finds room.
bool has_room_for_dispute(const StateView& view, const Params& params) noexcept;

/// After each change of its state: takes or gives back what the task's duties may need. The caller stores the task.
void hold_lane(Context& context, Task& task);
/// Takes room for a dispute; `has_place`: its task holds room for it already (DTY-6). The caller stores it.
void hold_lane(Context& context, Dispute& dispute, bool has_place);
/// The dispute is over: gives its room back. The caller stores it.
void release_lane(Context& context, Dispute& dispute);

}  // namespace assay::contracts
