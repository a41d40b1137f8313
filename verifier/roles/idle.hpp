// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include <core/base/integers.hpp>
#include <contracts/state/params.hpp>
#include <contracts/state/task.hpp>
#include <contracts/state/terms.hpp>
#include <contracts/transaction/transaction.hpp>
#include <verifier/roles/offer.hpp>

/// Why a worker has nothing to do. Decided here for all roles, for whoever asks: the log, the metrics.
namespace assay::roles {

/// The reasons, in the order in which they are looked for: the first that applies is the one to do something about.
enum class Idle : std::uint8_t {
    kNoNode = 1,        ///< the node cannot be reached, or answers with errors
    kCatchingUp = 2,    ///< the node's last block is old and newer ones follow fast
    kNoBlocks = 3,      ///< the node's last block is old and none follows
    kBreaker = 4,       ///< the circuit breaker is open
    kNotOperator = 12,  ///< OPR-5: the owner has not named this worker's key, or has named another one since
    kInWork = 5,        ///< tasks are in work, and others are to move in them
    kNoStake = 6,       ///< the free stake is less than the least bond of the role
    kUnlisted = 7,      ///< TASK-6: it let a task lapse and has not registered again
    kEnoughTasks = 8,   ///< a solver has accepted as many tasks as it was told to
    kNoTask = 9,        ///< no task is open to the role
    kNoneFits = 10,     ///< tasks are open, and each has a Misfit
    kNotDrawn = 11,     ///< a task is open that this worker can be drawn for
    kClosed = 13,       ///< looked for after kInWork: the owner's limits admit no new work now
    /// In the place of kInWork: a solver leaves an open task to others, since it answers for no more at once
    /// (Offer::kTooMany).
    kFull = 14,
};
const char* to_string(Idle reason) noexcept;

/// Why an open task is not for this worker. The order is that of the search.
enum class Misfit : std::uint8_t {
    kUnusable = 1,  ///< its program or data do not match their commitments
    kDeclined = 2,  ///< this worker has looked at it and declined it
    kOwn = 3,       ///< a verifier's own task: who submits or solves does not verify
    kClass = 4,     ///< it asks for another hardware class than is registered
    kMemory = 5,    ///< TRM-2: its program is larger than the terms admit
    kTime = 6,      ///< TRM-2: its segments take longer than the terms admit
    kPrice = 7,     ///< TRM-2: its verification fee is below the price of the terms
    kTerms = 8,     ///< TRM-2: several of these
    kResting = 9,   ///< TASK-15: the account has declined a task, and is not drawn for one of this value for a while
    kStake = 10,    ///< its bond is more than the free stake
    kEnvironment = 11,  ///< ENV-3: it asks for another environment than is registered
};
const char* to_string(Misfit misfit) noexcept;

/// What is known of the node that a worker asks.
enum class NodeState : std::uint8_t { kFollows = 1, kUnreachable = 2, kCatchesUp = 3, kMakesNoBlocks = 4 };

struct NodeView {
    std::uint64_t block_age_ms = 0;   ///< by this machine's clock; 0 if the block is from its future
    std::uint64_t height_before = 0;  ///< at an earlier look
    std::uint64_t height = 0;
    std::uint64_t elapsed_ms = 0;         ///< between the two looks
    std::uint64_t block_interval_ms = 0;  ///< as the node is configured
};
/// A block may be so old before the node counts as behind: a quiet chain under CometBFT makes blocks as late.
inline constexpr std::uint64_t kBlockAgeMaxMs = 60'000;
/// Returns whether the node follows its chain. A clock that is wrong by a constant is not taken for a node that is
/// behind, unless it is wrong by more than kBlockAgeMaxMs and the node makes no block between the two looks.
NodeState judge_node(const NodeView& view) noexcept;

struct IdleView {
    AccountId self;
    AccountId signer;  ///< the account of the worker's key
    contracts::Role role = contracts::Role::kSolver;
    NodeState node = NodeState::kFollows;
    std::uint64_t height = 0;
    bool is_breaker_open = false;
    bool may_act = true;  ///< OPR-5
    std::uint32_t accepted_tasks = 0;
    std::uint32_t tasks_max = 0;  ///< 0: no limit
    bool is_closed = false;       ///< the owner's limits admit no new work now
    bool bonds_itself = false;    ///< a whistleblower that bonds and withdraws by itself
    // Of the account in the role.
    Amount free_stake;
    bool is_unlisted = false;
    std::uint64_t declined_until = 0;  ///< height; 0: it has declined nothing of late
    contracts::Terms terms;
    // Of the tasks that have not ended.
    std::map<contracts::TaskId, contracts::Task> tasks;
    std::set<contracts::TaskId> unusable;
    std::map<contracts::TaskId, std::optional<Offer>> declined;  ///< nullopt: its first step could not be run
};

/// A reason with what it takes to end it. Members that do not belong to the reason are empty.
struct Idleness {
    Idle reason = Idle::kNotDrawn;
    Amount stake_missing;                       ///< kNoStake: to the least bond; kNoneFits: to the least bond of a task
    std::uint32_t tasks = 0;                    ///< how many are in work, or open
    std::map<Misfit, std::uint32_t> misfits{};  ///< kNoneFits: how many tasks have each
    std::set<std::uint32_t> classes{};          ///< kNoneFits: hardware classes that tasks ask for
    std::uint64_t memory_least = 0;             ///< kNoneFits: of the tasks that are too large, what the smallest needs
    std::set<Offer> offers{};                   ///< kNoneFits: why tasks were declined
    /// Whether to say it anew after `other`: another reason, or other kinds of misfits.
    bool differs_from(const Idleness& other) const;
};

/// Whether the account has a duty in the task, or a stake that waits for its end.
bool is_in_work(const contracts::Task& task, const AccountId& account, contracts::Role role);

/// Returns why a worker that has nothing to do now has nothing to do.
Idleness decide_idle(const contracts::Params& params, const IdleView& view);

}  // namespace assay::roles
