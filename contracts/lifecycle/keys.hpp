// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <core/base/integers.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/task.hpp>

/// Waiting for the keys of private tasks (PRV-3, PRV-4, PRV-10). Functions that take a `Task&` change it; the caller
/// stores it.
namespace assay::contracts {

/// Whether the task is private and its keys have to be shared with somebody: by its submitter before a solver has
/// accepted, else by its solver.
bool owes_keys(const Task& task) noexcept;

/// PRV-3, PRV-4, PRV-10: the keys have to be shared with those of `drawn` who do not have them yet. Returns the
/// deadline of the phase that begins now, which is `blocks` long where nobody is waited for.
Height await_keys(Context& context, Task& task, std::span<const AccountId> drawn, std::uint64_t blocks);

/// PRV-4, PRV-10: whoever has committed to a verdict or a report can read, however it learned the keys.
void note_reader(Task& task, const AccountId& account);

}  // namespace assay::contracts
