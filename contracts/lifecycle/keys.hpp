// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <core/base/integers.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/task.hpp>

/// Waiting for the keys of private tasks (PRV-3, PRV-4). Functions that take a `Task&` change it; the caller stores it.
namespace assay::contracts {

/// PRV-3: the account whose key opens what is shared with `account` now: its operator, or itself.
AccountId reader_of(const StateView& view, const AccountId& account);

/// Whether the task is private and its solver has to share keys with somebody.
bool owes_keys(const Task& task) noexcept;

/// PRV-4: from now on the solver has to share the keys with those of `readers` who cannot read them yet. Returns until
/// when the phase lasts that begins now, which is `blocks` long where nobody is waited for.
Height await_keys(Context& context, Task& task, std::span<const AccountId> readers, std::uint64_t blocks);

/// PRV-4: whoever has committed to a verdict can read, however it learned the keys.
void note_reader(Task& task, const AccountId& account);

/// PRV-3: a solver was drawn: the keys that others had are not shared with it, and the checkpoints get a new one.
/// Returns until when the submitter can share them.
Height renew_keys(Context& context, Task& task);

}  // namespace assay::contracts
