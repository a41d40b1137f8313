// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/idle_watch.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

#include <core/base/amount.hpp>
#include <core/crypto/address.hpp>
#include <verifier/worker/worker_metrics.hpp>

namespace assay::worker {
namespace {

using roles::Idle;
using roles::Misfit;
using Clock = std::chrono::steady_clock;

std::uint64_t now_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

std::uint64_t ms_between(Clock::time_point before, Clock::time_point after) {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(after - before).count());
}

std::string in_words(std::uint64_t count, const char* one, const char* many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string bond_command(const std::string& role, Amount missing) {
    return "`assay stake bond " + role + " \"" + to_text(missing) + "\"` adds what is missing";
}

std::string listed(const std::set<std::uint32_t>& numbers) {
    std::string out;
    for (const std::uint32_t number : numbers) {
        out += (out.empty() ? "" : ", ") + std::to_string(number);
    }
    return out;
}

/// What the tasks with one misfit need, and how they can be had.
std::string explain_misfit(Misfit misfit, const roles::Idleness& idleness, const roles::IdleView& view) {
    const std::string role = contracts::to_string(view.role);
    switch (misfit) {
        case Misfit::kUnusable:
            return "program or data that do not match their commitments, or that cannot be used here (the log says "
                   "why)";
        case Misfit::kDeclined: {
            std::string why;
            for (const roles::Offer offer : idleness.offers) {
                why += (why.empty() ? "" : ", ") + std::string(roles::to_string(offer));
            }
            return "declined by this worker" + (why.empty() ? "" : " (" + why + ")");
        }
        case Misfit::kOwn:
            return "submitted or trained by this account";
        case Misfit::kClass:
            return "of hardware class " + listed(idleness.classes) + ", where class " +
                   std::to_string(view.terms.hardware_class) + " is registered; `assay-worker benchmark` says which " +
                   "class this machine has, `assay stake register " + role + " CLASS` registers it";
        case Misfit::kMemory:
            return "larger than this account agrees to replay, the smallest of " +
                   std::to_string(idleness.memory_least) + " bytes; `assay stake register verifier CLASS --memory " +
                   std::to_string(idleness.memory_least) + "` agrees to it";
        case Misfit::kTime:
            return "with segments that take longer to replay than this account agrees to";
        case Misfit::kPrice:
            return "with a verification fee below this account's price";
        case Misfit::kTerms:
            return "against several of the account's terms";
        case Misfit::kEnvironment:
            return "for another image or other labels than this worker runs in; `assay-worker run --image` starts one "
                   "in an "
                   "image";
        case Misfit::kResting:
            return "not offered before block " + std::to_string(view.declined_until) +
                   ", because this account has declined one";
        case Misfit::kStake:
            return "with a bond above the free stake, by " + to_text(idleness.stake_missing) + " or more; " +
                   bond_command(role, idleness.stake_missing);
    }
    return "";
}

std::string explain_misfits(const roles::Idleness& idleness, const roles::IdleView& view) {
    std::string out =
        in_words(idleness.tasks, "task is open that does", "tasks are open that do") + " not fit this worker: ";
    bool is_first = true;
    for (const auto& [misfit, count] : idleness.misfits) {
        out += (is_first ? "" : "; ") + std::to_string(count) + " " + explain_misfit(misfit, idleness, view);
        is_first = false;
    }
    return out;
}

}  // namespace

std::string explain_idle(const roles::Idleness& idleness, const roles::IdleView& view) {
    const std::string role = contracts::to_string(view.role);
    switch (idleness.reason) {
        case Idle::kNoNode:
            return "the node cannot be asked";
        case Idle::kCatchingUp:
            return "the node is catching up: its last block is old, and newer ones follow fast; work begins when it "
                   "has "
                   "caught up";
        case Idle::kNoBlocks:
            return "the node makes no blocks, and its last one is old: see its log (a chain that makes no empty blocks "
                   "waits for a transaction)";
        case Idle::kBreaker:
            return "the circuit breaker is open since stake was slashed: find out why, then start once with "
                   "--reset-breaker";
        case Idle::kNotOperator:
            return "the owner " + crypto::to_address(view.self) + " has not named this worker's key as its operator; " +
                   "`assay operator name " + crypto::to_address(view.signer) + "`, with the owner's key, does";
        case Idle::kInWork:
            return "nothing is due now of " + in_words(idleness.tasks, "task", "tasks") +
                   " in work: others are to move, or a deadline is to pass";
        case Idle::kNoStake:
            return "the free stake as " + role + " is " + to_text(view.free_stake) + ", " +
                   to_text(idleness.stake_missing) + " less than the least bond; " +
                   bond_command(role, idleness.stake_missing);
        case Idle::kUnlisted:
            return "the account let a task lapse and is not drawn until it registers again: `assay stake register "
                   "solver CLASS`, or any bond, does that";
        case Idle::kEnoughTasks:
            return "the worker has accepted " + std::to_string(view.accepted_tasks) +
                   " tasks, as many as --max-tasks allows";
        case Idle::kNoTask:
            return view.role == contracts::Role::kWhistleblower ? "no task is completed and can be disputed"
                                                                : "no task is open";
        case Idle::kNoneFits:
            return explain_misfits(idleness, view);
        case Idle::kNotDrawn:
            return view.role == contracts::Role::kWhistleblower
                       ? in_words(idleness.tasks, "task can be disputed", "tasks can be disputed") +
                             ", and nothing of it is left to check"
                       : in_words(idleness.tasks, "task is open", "tasks are open") +
                             ", and this worker was not drawn for any of them so far";
        case Idle::kClosed:
            return "its owner's limits admit no new work now";
        case Idle::kFull:
            return in_words(idleness.tasks, "task is", "tasks are") +
                   " in work, and another one is left to others until one of them has ended: this worker answers for "
                   "no " +
                   "more at once than its machine could play if all their segments were disputed, or for N with " +
                   "`--tasks-at-once N`";
    }
    return "";
}

roles::NodeState look_at_node(Chain& chain) {
    constexpr std::chrono::milliseconds kBetween{1'000};
    const auto began = Clock::now();
    const std::uint64_t before = chain.look().height;
    std::this_thread::sleep_for(kBetween);
    const Chain::Look look = chain.look();
    const std::uint64_t now = now_ms();
    return roles::judge_node(
        {.block_age_ms = now - std::min(now, look.time_ms),
         .height_before = before,
         .height = look.height,
         .elapsed_ms = ms_between(began, Clock::now()),
         .block_interval_ms = look.block_interval_ms}
    );
}

void IdleWatch::note_busy() {
    idle_since_.reset();
    looked_at_.reset();
    if (context_.metrics != nullptr) {
        context_.metrics->set_idle(std::nullopt);
    }
}

void IdleWatch::note_no_node(const std::string& why) {
    idle_since_.reset();
    looked_at_.reset();
    said_ = roles::Idleness{.reason = Idle::kNoNode, .stake_missing = {}};
    context_.reporter.trouble(why);
    if (context_.metrics != nullptr) {
        context_.metrics->set_idle(Idle::kNoNode);
    }
}

roles::IdleView IdleWatch::view_of(const Role& role) {
    Chain& chain = context_.chain;
    const contracts::Role staked = role_of(context_.options.mode);
    const Chain::Look look = chain.look();
    const Chain::Listing listing = chain.listing(staked);
    const auto now = Clock::now();
    const std::uint64_t wall_ms = now_ms();
    roles::IdleView view;
    view.self = chain.self();
    view.role = staked;
    view.node = roles::judge_node(
        {.block_age_ms = wall_ms - std::min(wall_ms, look.time_ms),
         .height_before = height_then_,
         .height = look.height,
         .elapsed_ms = ms_between(*looked_at_, now),
         .block_interval_ms = look.block_interval_ms}
    );
    height_then_ = look.height;
    looked_at_ = now;
    view.height = look.height;
    view.is_breaker_open = context_.journal.breaker().has_value();
    view.may_act = chain.may_act();
    view.signer = chain.signer();
    view.accepted_tasks = context_.journal.accepted_tasks();
    view.tasks_max = context_.options.tasks_max;
    view.bonds_itself = context_.options.mode == Mode::kWhistleblow && context_.options.join_grains != 0;
    view.is_closed = context_.closed().has_value();
    view.free_stake = listing.free;
    view.is_unlisted = listing.is_unlisted;
    view.declined_until = listing.declined_until;
    view.terms = listing.terms;
    view.tasks = chain.tasks();
    for (const auto& [task, why] : context_.unusable) {
        view.unusable.insert(task);
    }
    view.declined = role.declined();
    return view;
}

void IdleWatch::note_idle(const Role& role) {
    const auto now = Clock::now();
    if (!idle_since_) {
        idle_since_ = now;
        looked_at_ = now;
        height_then_ = context_.chain.height();
    }
    if (now - *looked_at_ < kPatience) {
        return;
    }
    const roles::IdleView view = view_of(role);
    const roles::Idleness idleness = roles::decide_idle(context_.chain.params(), view);
    if (context_.metrics != nullptr) {
        context_.metrics->set_idle(idleness.reason);
    }
    if (said_ && !idleness.differs_from(*said_)) {
        return;
    }
    said_ = idleness;
    nlohmann::ordered_json event = {{"event", "idle"}, {"reason", roles::to_string(idleness.reason)}};
    if (idleness.tasks != 0) {
        event["tasks"] = idleness.tasks;
    }
    if (idleness.stake_missing.grains != 0) {
        event["stake_missing"] = std::to_string(idleness.stake_missing.grains);
    }
    for (const auto& [misfit, count] : idleness.misfits) {
        event["misfits"][roles::to_string(misfit)] = count;
    }
    std::string text = explain_idle(idleness, view);
    if (!context_.exposure.empty()) {
        text += "; " + context_.exposure;
        event["exposure"] = context_.exposure;
    }
    event["text"] = text;
    context_.reporter.notice("idle: " + text, event);
}

}  // namespace assay::worker
