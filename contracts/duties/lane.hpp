// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/integers.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/transaction/transaction.hpp>

/// The lane of duties: capacity reserved in blocks for answers to duties, and who pays for them (DTY-3 to DTY-8).
namespace assay::contracts {

/// DTY-3: gas of the answers that the action obliges others to send.
std::uint64_t imposed_gas(const Action& action, const Params& params) noexcept;
/// FEE-1: the minimum fee of a transaction with this action and gas.
Amount least_fee(const Action& action, std::uint64_t gas, Amount base_fee, const Params& params) noexcept;
/// FEE-1: the part of the fee that goes to the treasury.
Amount treasury_fee(const Action& action, std::uint64_t gas, const Params& params) noexcept;

/// DTY-5: half of the lane's capacity: the limit for tasks, and for disputes that have no place in a task.
std::uint64_t lane_half(const Params& params) noexcept;
/// DTY-5: capacity that an open dispute takes.
std::uint64_t dispute_weight(const Params& params) noexcept;
/// DTY-5: capacity that a task takes in its current state.
std::uint64_t task_weight(const Params& params, const Task& task) noexcept;
/// PAR-12: the maximum capacity that any task can take.
std::uint64_t task_weight_max(const Params& params) noexcept;

/// DTY-5: whether the lane has room for the duties that result from the task's next draw.
bool has_room_for_draw(const StateView& view, const Params& params, const Task& task) noexcept;
/// DTY-5: whether the lane has room for another dispute that has no place in its task.
bool has_room_for_dispute(const StateView& view, const Params& params) noexcept;

/// Reserves or releases capacity for the duties that the task may need; call after each change of its state. The caller
/// stores the task.
void hold_lane(Context& context, Task& task);
/// Reserves capacity for a dispute, unless `has_place`: its task has reserved it already (DTY-6). The caller stores the
/// dispute.
void hold_lane(Context& context, Dispute& dispute, bool has_place);
/// Releases the capacity of a dispute that ends. The caller stores the dispute.
void release_lane(Context& context, Dispute& dispute);

}  // namespace assay::contracts
