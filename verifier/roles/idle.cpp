// SPDX-License-Identifier: Apache-2.0
#include <verifier/roles/idle.hpp>

#include <algorithm>
#include <limits>

#include <contracts/params/by_value.hpp>
#include <contracts/params/work.hpp>
#include <contracts/state/members.hpp>

namespace assay::roles {
namespace {

using contracts::Role;
using contracts::Task;
using contracts::TaskState;
using contracts::Terms;

/// A node that catches up executes blocks this many times as fast as they were made.
constexpr std::uint64_t kCatchingUpFactor = 3;

/// What being drawn for a task of this value locks, or what its dispute does.
Amount bond_of(const contracts::Params& params, Role role, Amount value) {
    switch (role) {
        case Role::kSolver:
            return contracts::solver_bond(params, value);
        case Role::kVerifier:
            return contracts::verifier_needs(params, value);
        default:
            return contracts::challenger_bond(params, value);
    }
}

/// Whether somebody may still be drawn for the task in the role. Whoever watches needs no draw.
bool is_open(const Task& task, Role role) {
    switch (role) {
        case Role::kSolver:
            return task.state == TaskState::kOpen;
        case Role::kVerifier:
            return task.state <= TaskState::kCompleted || task.state == TaskState::kProfiling;
        default:
            return task.state >= TaskState::kCompleted && task.state < TaskState::kJudged;
    }
}

/// TRM-2: which of the terms the task does not meet.
std::optional<Misfit> misfit_of_terms(const contracts::Params& params, const Task& task, const Terms& terms) {
    if (contracts::consents(params, task.spec, terms)) {
        return std::nullopt;
    }
    if (contracts::class_speed(params, terms.hardware_class) <
        contracts::class_speed(params, task.spec.hardware_class)) {
        return Misfit::kClass;
    }
    const auto would_with = [&](const auto& relax) {
        Terms relaxed = terms;
        relax(relaxed);
        return contracts::consents(params, task.spec, relaxed);
    };
    if (would_with([](Terms& t) { t.memory = std::numeric_limits<std::uint64_t>::max(); })) {
        return Misfit::kMemory;
    }
    if (would_with([](Terms& t) { t.replay_blocks = 0; })) {
        return Misfit::kTime;
    }
    return would_with([](Terms& t) { t.price = 0; }) ? Misfit::kPrice : Misfit::kTerms;
}

std::optional<Misfit> misfit_of(const contracts::Params& params, const IdleView& view, const Task& task) {
    if (view.unusable.contains(task.id)) {
        return Misfit::kUnusable;
    }
    if (view.declined.contains(task.id)) {
        return Misfit::kDeclined;
    }
    if (view.role == Role::kVerifier && (task.submitter == view.self || contracts::is_member(task, view.self))) {
        return Misfit::kOwn;
    }
    if (view.role == Role::kSolver && task.spec.hardware_class != 0 &&
        task.spec.hardware_class != view.terms.hardware_class) {
        return Misfit::kClass;  // HW-3
    }
    if (view.role == Role::kSolver &&
        !contracts::has_offers(view.terms.offers, contracts::fingerprints(task.spec.environment))) {
        return Misfit::kEnvironment;  // ENV-3
    }
    if (view.role == Role::kVerifier) {
        if (const auto misfit = misfit_of_terms(params, task, view.terms)) {
            return misfit;
        }
    }
    if (view.role == Role::kSolver && view.declined_until > view.height) {
        return Misfit::kResting;
    }
    const bool has_stake =
        view.bonds_itself || bond_of(params, view.role, contracts::task_value(task.spec)) <= view.free_stake;
    return has_stake ? std::nullopt : std::optional(Misfit::kStake);
}

/// Whether the account has left this task to others, or is about to, because its machine has enough to defend.
bool is_too_many(const IdleView& view, const Task& task) {
    const auto declined = view.declined.find(task.id);
    return declined != view.declined.end() && declined->second == Offer::kTooMany && task.state <= TaskState::kDrawn;
}

/// What the misfits of the open tasks are, and the least that would end them.
Idleness judge_tasks(const contracts::Params& params, const IdleView& view) {
    Idleness out{.reason = Idle::kNoTask, .stake_missing = {}};
    bool is_any_fit = false;
    for (const auto& [id, task] : view.tasks) {
        if (!is_open(task, view.role)) {
            continue;
        }
        ++out.tasks;
        const auto misfit = misfit_of(params, view, task);
        is_any_fit = is_any_fit || !misfit;
        if (!misfit) {
            continue;
        }
        ++out.misfits[*misfit];
        if (*misfit == Misfit::kClass) {
            out.classes.insert(task.spec.hardware_class);
        } else if (*misfit == Misfit::kMemory) {
            const std::uint64_t memory = task.spec.program.memory;
            out.memory_least = out.memory_least == 0 ? memory : std::min(out.memory_least, memory);
        } else if (*misfit == Misfit::kDeclined && view.declined.at(id)) {
            out.offers.insert(*view.declined.at(id));
        } else if (*misfit == Misfit::kStake) {
            const Amount bond = bond_of(params, view.role, contracts::task_value(task.spec));
            const Amount missing{bond.grains - view.free_stake.grains};
            out.stake_missing = out.stake_missing.grains == 0 ? missing : std::min(out.stake_missing, missing);
        }
    }
    if (is_any_fit) {
        return {.reason = Idle::kNotDrawn, .stake_missing = {}, .tasks = out.tasks};
    }
    out.reason = out.tasks == 0 ? Idle::kNoTask : Idle::kNoneFits;
    return out;
}

}  // namespace

const char* to_string(Idle reason) noexcept {
    switch (reason) {
        case Idle::kNoNode:
            return "no_node";
        case Idle::kCatchingUp:
            return "catching_up";
        case Idle::kNoBlocks:
            return "no_blocks";
        case Idle::kBreaker:
            return "breaker";
        case Idle::kNotOperator:
            return "not_operator";
        case Idle::kInWork:
            return "in_work";
        case Idle::kNoStake:
            return "no_stake";
        case Idle::kUnlisted:
            return "unlisted";
        case Idle::kEnoughTasks:
            return "enough_tasks";
        case Idle::kNoTask:
            return "no_task";
        case Idle::kNoneFits:
            return "none_fits";
        case Idle::kNotDrawn:
            return "not_drawn";
        case Idle::kClosed:
            return "closed";
        case Idle::kFull:
            return "full";
    }
    return "";
}

const char* to_string(Misfit misfit) noexcept {
    switch (misfit) {
        case Misfit::kUnusable:
            return "unusable";
        case Misfit::kDeclined:
            return "declined";
        case Misfit::kOwn:
            return "own";
        case Misfit::kClass:
            return "class";
        case Misfit::kMemory:
            return "memory";
        case Misfit::kTime:
            return "time";
        case Misfit::kPrice:
            return "price";
        case Misfit::kTerms:
            return "terms";
        case Misfit::kEnvironment:
            return "environment";
        case Misfit::kResting:
            return "resting";
        case Misfit::kStake:
            return "stake";
    }
    return "";
}

NodeState judge_node(const NodeView& view) noexcept {
    const std::uint64_t new_blocks = view.height - std::min(view.height, view.height_before);
    // A chain may be configured to be slow.
    const std::uint64_t age_max = std::max(kBlockAgeMaxMs, 3 * std::min(view.block_interval_ms, kBlockAgeMaxMs * 60));
    if (view.block_age_ms <= age_max) {
        return NodeState::kFollows;
    }
    if (new_blocks == 0) {
        return NodeState::kMakesNoBlocks;
    }
    // Else its blocks come as fast as they are made, and one of the two clocks is wrong.
    const std::uint64_t usual = view.elapsed_ms / std::max<std::uint64_t>(view.block_interval_ms, 1) + 1;
    return new_blocks > kCatchingUpFactor * usual ? NodeState::kCatchesUp : NodeState::kFollows;
}

bool Idleness::differs_from(const Idleness& other) const {
    const auto same_kind = [](const auto& a, const auto& b) { return a.first == b.first; };
    return reason != other.reason ||
           !std::equal(misfits.begin(), misfits.end(), other.misfits.begin(), other.misfits.end(), same_kind);
}

bool is_in_work(const Task& task, const AccountId& account, Role role) {
    if (role == Role::kSolver) {
        return contracts::is_member(task, account);
    }
    const auto is_of = [&](const contracts::Assignment& assignment) {
        const bool watches =
            std::find(assignment.watchers.begin(), assignment.watchers.end(), account) != assignment.watchers.end();
        return role == Role::kVerifier ? assignment.verifier == account : watches;
    };
    if (std::any_of(task.assignments.begin(), task.assignments.end(), is_of)) {
        return true;
    }
    if (role != Role::kVerifier) {
        return false;
    }
    const bool sits = contracts::is_sitting(task) &&
                      std::any_of(
                          task.committee->members.begin(), task.committee->members.end(),
                          [&](const contracts::CommitteeMember& member) { return member.account == account; }
                      );
    return sits || (task.state == TaskState::kProfiling && task.tolerance &&
                    std::any_of(
                        task.tolerance->profiles.begin(), task.tolerance->profiles.end(),
                        [&](const contracts::Profile& profile) { return profile.profiler == account; }
                    ));
}

Idleness decide_idle(const contracts::Params& params, const IdleView& view) {
    const auto because = [](Idle reason) { return Idleness{.reason = reason, .stake_missing = {}}; };
    switch (view.node) {
        case NodeState::kUnreachable:
            return because(Idle::kNoNode);
        case NodeState::kCatchesUp:
            return because(Idle::kCatchingUp);
        case NodeState::kMakesNoBlocks:
            return because(Idle::kNoBlocks);
        case NodeState::kFollows:
            break;
    }
    if (view.is_breaker_open) {
        return because(Idle::kBreaker);
    }
    if (!view.may_act) {
        return because(Idle::kNotOperator);
    }
    Idleness out = because(Idle::kInWork);
    for (const auto& [id, task] : view.tasks) {
        const bool is_left = is_too_many(view, task);
        out.reason = is_left ? Idle::kFull : out.reason;
        out.tasks += !is_left && is_in_work(task, view.self, view.role) ? 1U : 0U;
    }
    if (out.tasks != 0) {
        return out;
    }
    if (view.is_closed) {
        return because(Idle::kClosed);
    }
    const Amount least = bond_of(params, view.role, Amount{});
    if (view.free_stake < least && !view.bonds_itself) {
        out = because(Idle::kNoStake);
        out.stake_missing = Amount{least.grains - view.free_stake.grains};
        return out;
    }
    if (view.role == Role::kSolver && view.tasks_max != 0 && view.accepted_tasks >= view.tasks_max) {
        return because(Idle::kEnoughTasks);
    }
    if (view.role == Role::kSolver && view.is_unlisted) {
        return because(Idle::kUnlisted);
    }
    return judge_tasks(params, view);
}

}  // namespace assay::roles
