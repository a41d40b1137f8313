// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/integers.hpp>
#include <contracts/state/task.hpp>
#include <verifier/roles/intent.hpp>

namespace assay::roles {

/// What a solver knows of one task: the chain's record and its own memory.
struct SolverView {
    AccountId self;
    contracts::Task task;
    std::uint32_t stored_checkpoints = 0;  ///< checkpoints 0 .. n-1 are computed and on our disk
    Amount free_stake;                     ///< as solver
    Amount solver_bond;                    ///< what accepting locks
    bool is_breaker_open = false;
    bool is_unusable = false;              ///< its program or data are not what they should be
    bool is_stopped = false;               ///< training cannot go on: what it gives now is not what was posted
    std::uint32_t accepted_tasks = 0;
    std::uint32_t tasks_max = 0;           ///< 0: no limit
};

/// The next thing to do for the task. Posts what is stored before it trains on; never posts what is not stored.
Intent decide_solver(const SolverView& view);

/// What it knows of itself while nothing is due.
struct ListingView {
    bool is_unlisted = false;  ///< TASK-6: it let a task lapse
    bool is_breaker_open = false;
    std::uint32_t accepted_tasks = 0;
    std::uint32_t tasks_max = 0;  ///< 0: no limit
};

/// Whether to register the machine again, so that draws fall on it: not for tasks that it would decline.
bool registers_again(const ListingView& view);

}  // namespace assay::roles
