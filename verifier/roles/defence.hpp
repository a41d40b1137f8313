// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/integers.hpp>
#include <contracts/state/params.hpp>
#include <contracts/state/task.hpp>
#include <contracts/tasks/seats.hpp>

/// Whether one machine can play disputes in all tasks in which its account answers for segments. The clocks of
/// different tasks do not lengthen each other (DSP-32). The condition is derived in
/// docs/adr/120-no-more-than-a-machine-can-defend.md.
namespace assay::roles {

/// Measured on this machine, in microseconds; 0: not measured.
struct Measured {
    std::uint64_t segment_us = 0;  ///< the training steps of a full segment
    std::uint64_t start_us = 0;    ///< the initialisation
};

/// The most that disputes of one task take, and what its clocks give for it.
struct Burden {
    std::uint64_t claims = 0;     ///< that can be disputed and that the account plays
    std::uint64_t replay_us = 0;  ///< one replay and one hashing of a step's outputs, on this machine
    std::uint64_t clock_us = 0;   ///< what each claim adds to the clock (WRK-5)
};

/// Whether the account can still be convicted in the task: from the acceptance to the end of the last window of
/// challenges.
bool is_answerable(const contracts::Task& task, const AccountId& account);

/// How many claims of the task the account may have to play: segments with the initialisation, and the evaluation. Of a
/// group whose segments take turns a partner answers for those of its seats, rounded up; the lead may take every turn
/// over. In tolerance mode there is a verdict to challenge beside each. The task has a solver.
std::uint64_t claims_of(const contracts::Task& task, const AccountId& account);
/// The same for a task that the account would accept alone, or as the lead of a group.
std::uint64_t claims_alone(const contracts::TaskSpec& spec);
/// The same with these seats.
std::uint64_t claims_of(const contracts::TaskSpec& spec, const contracts::SeatsTerms& terms, const AccountId& account);

/// `block_us` is the time between blocks in microseconds. What was not measured is taken to run at the speed of the
/// task's class, and so is a replay that takes less than a block at that speed.
Burden burden_of(
    const contracts::Params& params, const contracts::TaskSpec& spec, std::uint64_t claims, const Measured& measured,
    std::uint64_t block_us
);

/// Whether a machine that plays whatever is due first can play disputes of all claims at once. `fixed_us` is the part
/// of each clock that does not depend on the task (dispute_clock_blocks). A task that is alone always counts as played:
/// its clocks give what the class asks for, however many claims are disputed, and the account has registered the class.
bool can_defend(std::uint64_t fixed_us, const std::vector<Burden>& burdens);

/// What decides whether a solver takes another task.
struct DefenceView {
    std::uint64_t fixed_us = 0;
    std::vector<Burden> held{};  ///< of the tasks in which it is answerable
    Burden offered{};
    std::uint32_t tasks_at_once = 0;  ///< as many whatever the machine can play; 0: as many as it can play
};
bool may_take(const DefenceView& view);

}  // namespace assay::roles
