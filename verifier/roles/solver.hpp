// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <core/base/integers.hpp>
#include <contracts/state/task.hpp>
#include <verifier/roles/intent.hpp>

namespace assay::roles {

/// What a solver knows about one task: the chain's record and its own data.
struct SolverView {
    AccountId self;
    contracts::Task task;
    std::uint32_t stored_checkpoints = 0;  ///< checkpoints 0 .. n-1 are computed and stored on our disk
    Amount free_stake;                     ///< in the solver role
    Amount solver_bond;                    ///< the bond that accepting locks
    bool is_breaker_open = false;
    bool is_unusable = false;   ///< its program or data do not match their commitments
    bool awaits_keys = false;   ///< PRV-3: the task is private, and its keys are not here or not right
    bool is_elsewhere = false;  ///< ENV-2: it asks for another environment than the one in which we run
    /// The next checkpoint to post is being written to stores, where it has to lie before it is posted.
    bool is_publishing = false;
    bool is_stopped = false;    ///< training cannot continue: a checkpoint does not match the one posted
    bool is_turn_over = false;  ///< of a group: GRP-4, others than the owner may post the next checkpoint
    /// Of a group: a later segment of ours that can be trained before the checkpoint before it is posted.
    std::optional<std::uint32_t> segment_ahead{};
    std::uint32_t accepted_tasks = 0;
    std::uint32_t tasks_max = 0;  ///< 0: no limit
};

/// Returns the next action for the task, of which `self` is the solver or in the group. Posts stored checkpoints before
/// it trains on, and posts only stored ones. A sole solver trains on while a checkpoint is written to stores.
Intent decide_solver(const SolverView& view);

/// What a solver knows about its registration while nothing is due.
struct ListingView {
    bool is_unlisted = false;  ///< TASK-6: excluded from draws after it let a task lapse
    bool is_breaker_open = false;
    std::uint32_t accepted_tasks = 0;
    std::uint32_t tasks_max = 0;  ///< 0: no limit
    bool offers_another = false;  ///< ENV-3: another environment is registered than the one in which we run
};

/// Whether to register the machine again: so that it can be drawn, only if it would not decline every task; or so that
/// it is drawn for what its environment suits.
bool registers_again(const ListingView& view);

}  // namespace assay::roles
