// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <contracts/params/by_value.hpp>
#include <contracts/tasks/seats.hpp>
#include <tests/model/crowd.hpp>
#include <tests/model/model.hpp>

/// How the seats of a group that computes each step together change while it trains: by a list that all on it have
/// signed, and by demands (GRP-13, GRP-14).
namespace assay::model {

using contracts::Reason;
using contracts::TaskState;
using contracts::TxError;

namespace {

/// The segment that is being trained; more than there are once all are.
std::size_t now_in(const Task& task) { return task.checkpoints.empty() ? 1 : task.checkpoints.size(); }

bool sits(const Task& task, const AccountId& account) {
    const auto& row = task.team->rows.at(now_in(task) - 1);
    return std::count(row.begin(), row.end(), std::optional(account)) != 0;
}

std::uint64_t demands_of(const Task& task, const AccountId& account) {
    const auto found = task.team->demands.find(account);
    return found == task.team->demands.end() ? 0 : found->second;
}

}  // namespace

Model::Why Model::why_not_in_training(const TaskId& id) const {
    const Task* task = find(id);
    if (task == nullptr) {
        return {TxError::kTaskUnknown};
    }
    Why out;
    if (task->state != TaskState::kTraining) {
        out.insert(TxError::kTaskState);
    }
    if (!is_in_team(*task, who_)) {
        out.insert(TxError::kNotSolver);
    }
    if (!task->team || !task->team->together) {
        out.insert(TxError::kNotTogether);
    } else if (now_in(*task) > task->team->rows.size()) {
        out.insert(TxError::kSegmentUnknown);
    }
    return out;
}

Model::Why Model::why(const contracts::Reseat& a) const {
    Why out = why_not_in_training(a.task);
    if (a.seats.size() > 64 || a.signatures.size() > 64) {
        out.insert(TxError::kFieldOutOfRange);
    }
    if (a.seats.empty() || a.seats.front() != who_) {
        out.insert(TxError::kSeatsInvalid);
        return out;
    }
    if (!are_signed({.task = a.task, .seats = a.seats, .is_together = true, .from = a.from}, a.signatures)) {
        out.insert(TxError::kSeatsNotSigned);
    }
    if (!out.empty()) {
        return out;
    }
    const Task& task = *find(a.task);
    if (task.solver != who_) {
        out.insert(TxError::kNotSolver);
    }
    const std::size_t now = now_in(task);
    const auto& row = task.team->rows.at(now - 1);
    const bool loses_one = std::any_of(row.begin(), row.end(), [&](const auto& seat) {
        return seat && std::count(a.seats.begin(), a.seats.end(), *seat) == 0;
    });
    const bool is_at_once = a.from == now && !loses_one;
    if ((!is_at_once && a.from != now + 1) || a.from > task.team->rows.size() || a.from < task.team->latest ||
        a.seats.size() > task.spec.members) {
        out.insert(TxError::kSeatsInvalid);
    }
    std::set<AccountId> members{*task.solver};
    for (const auto& [account, bond] : task.team->bonds) {
        members.insert(account);
    }
    for (const AccountId& other : others_on(a.seats)) {
        if (members.insert(other).second) {
            add_why_partner(out, task, other);
        } else if (task.team->convicted.contains(other) || demands_of(task, other) == 2) {
            out.insert(TxError::kSeatsInvalid);
        }
    }
    if (members.size() > 16) {
        out.insert(TxError::kSeatsInvalid);
    }
    return out;
}

void Model::act(const contracts::Reseat& a) {
    Task& task = at(a.task);
    const std::uint64_t bond = bond_of(Role::kSolver, task) * 5 / 4;  // GRP-5
    for (const AccountId& other : others_on(a.seats)) {
        if (!is_in_team(task, other)) {
            lock(Role::kSolver, other, bond);
            task.team->bonds[other] = bond;
            ++seen_["member joined"];
        }
    }
    ++seen_[a.from == now_in(task) ? "seats given at once" : "seats given from the next segment on"];
    for (std::size_t segment = a.from; segment <= task.team->rows.size(); ++segment) {
        task.team->rows[segment - 1] = {a.seats.begin(), a.seats.end()};
    }
    task.team->latest = a.from;
}

Model::Why Model::why(const contracts::Demand& a) const {
    Why out = why_not_in_training(a.task);
    if (!out.empty()) {
        return out;
    }
    const Task& task = *find(a.task);
    if (a.member == who_ || !sits(task, who_) || !sits(task, a.member) || task.team->convicted.contains(who_) ||
        demands_of(task, a.member) == 2) {
        out.insert(TxError::kNotTogether);
    }
    Task copy = task;
    if (is_in_team(task, who_) && bond_in(copy, who_) < demand_of(task)) {
        out.insert(TxError::kInsufficientStake);
    }
    return out;
}

/// GRP-14: what a demand costs each of the two.
std::uint64_t Model::demand_of(const Task& task) const { return (bond_of(Role::kSolver, task) * 5 / 4 + 255) / 256; }

void Model::act(const contracts::Demand& a) {
    Task& task = at(a.task);
    task.team->demands[a.member] += 1;
    const bool leaves = demands_of(task, a.member) == 2 && task.solver != a.member;
    ++seen_[leaves ? "member left out" : "demand"];
    if (leaves && flaw_ != Flaw::kKeepsOut) {
        for (std::size_t segment = now_in(task); segment <= task.team->rows.size(); ++segment) {
            auto& row = task.team->rows[segment - 1];
            std::replace(row.begin(), row.end(), std::optional(a.member), std::optional<AccountId>());
        }
        task.team->latest = std::max(task.team->latest, static_cast<std::uint32_t>(now_in(task)));
    }
    for (const AccountId& account : {who_, a.member}) {
        const std::uint64_t lost = std::min(bond_in(task, account), demand_of(task));
        bond_in(task, account) -= lost;
        slash(a.task, Role::kSolver, account, lost, Reason::kDemand, {});
    }
}

// --- the crowd -----------------------------------------------------------------------------------------------

void Crowd::add_reseats(const Actor& actor, const TaskId& id, const Task& task, const World& world, Actions& out) {
    if (task.state != TaskState::kTraining || !task.team || !task.team->together || !is_in_team(task, actor.id)) {
        return;
    }
    if (chance(talks_ ? 12 : 4)) {
        out.push_back(contracts::Demand{id, chance(5) ? actor.id : any_member(task).id});
    }
    if (!chance(talks_ ? 15 : 5) || (task.solver != actor.id && !chance(5))) {
        return;
    }
    contracts::Reseat next{.task = id, .from = static_cast<std::uint32_t>(now_in(task)), .seats = {}, .signatures = {}};
    next.seats.push_back(chance(97) ? actor.id : any_member(task).id);
    const bool keeps_all = chance(60);
    for (const auto& seat : task.team->rows.at(std::min(now_in(task), task.team->rows.size()) - 1)) {
        if (seat && seat != actor.id && (keeps_all || chance(50))) {
            next.seats.push_back(*seat);
        }
    }
    const Actor& other = actors_[below(actors_.size())];
    const auto stake = world.stakes.find({Role::kSolver, other.id});
    const bool is_rich = stake != world.stakes.end() &&
                         stake->second.free >= contracts::member_bond(params_, contracts::task_value(task.spec)).grains;
    if (is_in_team(task, other.id) || is_rich || chance(5)) {
        next.seats.push_back(other.id);
    }
    if (next.seats.size() > task.spec.members && chance(90)) {
        next.seats.resize(task.spec.members);
    }
    next.from += keeps_all && chance(50) ? 0 : chance(90) ? 1 : static_cast<std::uint32_t>(below(3));
    const Hash256 claim = contracts::seats_claim(
        kChainId, {.task = id, .seats = next.seats, .is_together = !chance(2), .from = next.from}
    );
    for (const AccountId& partner : contracts::partners_of(next.seats)) {
        next.signatures.push_back(actor_of(partner).key.sign(claim.view()));
    }
    if (chance(3) && !next.signatures.empty()) {
        next.signatures.pop_back();
    }
    out.push_back(next);
}

}  // namespace assay::model
