// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <contracts/state/context.hpp>
#include <contracts/state/slots.hpp>

/// Waiting for draws, and its price (TASK-17, TASK-18, BCN-4).
namespace assay::contracts {

/// TASK-18, TASK-19, DTY-7: the pause after a failed draw. kDoubled: twice as long after each one. kShort: always
/// `redraw_blocks`. kForRoom: likewise, because the lane of duties had no room.
enum class Pause : std::uint8_t { kDoubled = 1, kShort = 2, kForRoom = 3 };

/// TASK-17: the deposit that is taken when a task with this spec is submitted.
Amount waiting_deposit(const Params& params, const TaskSpec& spec) noexcept;

/// TASK-6: the solver stake that is locked from its draw until it accepts or declines: half the price of a draw, at
/// most its bond.
Amount offer_bond(const Params& params, const TaskSpec& spec) noexcept;

/// BCN-4: queues the task for the next round, but not for one that opens in this block.
void await_draw(Context& context, const Task& task);
/// Schedules the task's next draw after a pause, which is doubled after each failure (TASK-18) or short (TASK-19). The
/// caller stores the task.
void pause_draw(Context& context, const Task& task, Pause pause = Pause::kDoubled);
/// TASK-18: queues the task again after the pause.
void queue_for_draw(Context& context, const TaskId& id);

/// TASK-17: burns the price of a draw from the deposit. Returns false and takes nothing if the task is open or
/// profiling and the rest would not pay for the draws of its verifiers. The caller stores the task.
bool pay_draw(Context& context, Task& task);
/// TASK-15: adds the stake that the solver's draw locked to the deposit, because the solver did not accept. The caller
/// stores the task, and removes the amount from the stored stake.
void refill_room(Context& context, Task& task);
/// TASK-17: burns the price of the storage used up to now. Called when the task stops waiting for a solver. The caller
/// stores the task.
void pay_room(Context& context, Task& task);
/// TASK-17: refunds the rest of the deposit to the submitter. The caller stores the task.
void return_room(Context& context, Task& task);

/// VER-7: makes a completed task, or one whose verdicts leave a segment open (AVL-1), wait for a draw. Stores the task.
void await_verifiers(Context& context, Task& task);

/// PRF-1: makes a submitted task wait for its profilers. The caller stores the task.
void begin_profiling(Context& context, Task& task);

}  // namespace assay::contracts
