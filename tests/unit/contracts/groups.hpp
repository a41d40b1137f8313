// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <contracts/tasks/actions/seat_actions.hpp>
#include <tests/unit/contracts/toy.hpp>

/// Tasks that a group trains, for tests.
namespace assay::contracts::test {

/// A new account with money and so much solver stake. The chain keeps it in `others`; its index there.
std::size_t add_partner(Chain& chain, Amount stake = {100 * kCoin});

/// GRP-5: what a member locks for a task whose value asks for the least bond.
inline std::uint64_t members_bond(const Chain& chain) { return chain.params.solver_bond.grains / 4 * 5; }

/// An acceptance of this task by the first account, signed by each other one.
AcceptTask make_acceptance(const TaskId& id, const std::vector<const Actor*>& seats, bool is_together = false);

/// A list of seats that counts from this segment on, by the first account, signed by each other one.
Reseat make_reseat(const TaskId& id, std::uint32_t from, const std::vector<const Actor*>& seats);

/// Submits the task and waits for its lead, who is the chain's solver.
TaskId drawn_group_task(Chain& chain, const TaskSpec& spec);

/// A task in training by the chain's solver and so many partners, which become the last of `others`, with a seat each.
TaskId start_group(Chain& chain, TaskSpec spec, std::size_t partners, bool is_together = false);

/// Posts the checkpoints from the next one on, each by whose turn it is.
void post_by_turns(Chain& chain, const TaskId& id, const std::vector<Hash256>& roots);

/// A completed toy task of `run` by the chain's solver and so many partners.
TaskId complete_group_task(Chain& chain, const ToyRun& run, std::size_t partners, bool is_together = false);

/// Empty blocks until the task is in `state`.
void await_state(Chain& chain, const TaskId& id, TaskState state);

}  // namespace assay::contracts::test
