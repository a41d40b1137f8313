// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <contracts/state/context.hpp>
#include <contracts/state/slots.hpp>

/// Waiting for a draw, and what it costs (TASK-17, TASK-18, BCN-4).
namespace assay::contracts {

/// TASK-18, TASK-19, DTY-7: how long a task waits after a draw that failed: twice as long as the last time, or as short as the
/// first, also where the lane of duties had no room.
enum class Pause : std::uint8_t { kDoubled = 1, kShort = 2, kForRoom = 3 };

/// TASK-17: what a task of this shape deposits when it is submitted.
Amount waiting_deposit(const Params& params, const TaskSpec& spec) noexcept;

/// TASK-6: what the draw of a solver locks of its stake until it has answered: half of the draw's price, at most its bond.
Amount offer_bond(const Params& params, const TaskSpec& spec) noexcept;

/// BCN-4: the task waits for the next round but for the one that opens in this block.
void await_draw(Context& context, const Task& task);
/// TASK-18: its next draw is only after a pause, twice as long as the one before; TASK-19: or as short as the first. The caller
/// stores the task.
void pause_draw(Context& context, const Task& task, Pause pause = Pause::kDoubled);
/// TASK-18: the pause is over.
void queue_for_draw(Context& context, const TaskId& id);

/// TASK-17: takes the price of a draw out of the deposit. False, and nothing is taken, when an open task has no more than
/// what the draws of its verifiers cost. The caller stores the task.
bool pay_draw(Context& context, Task& task);
/// TASK-15: the drawn solver's part of a draw that came to nothing: what that draw locked goes into the deposit. The caller
/// stores the task, and the stake without it.
void refill_room(Context& context, Task& task);
/// TASK-17: the task waits for a solver no more: takes the price of its room until now. The caller stores the task.
void pay_room(Context& context, Task& task);
/// TASK-17: what is left goes back to the submitter. The caller stores the task.
void return_room(Context& context, Task& task);

/// VER-7: a task that is complete, or whose verdicts leave a segment open (AVL-1), waits for a draw. Stores it.
void await_verifiers(Context& context, Task& task);

/// PRF-1: a submitted task waits for its profilers. The caller stores the task.
void begin_profiling(Context& context, Task& task);

}  // namespace assay::contracts
