// SPDX-License-Identifier: Apache-2.0
#include <tests/simulation/quarrels.hpp>

#include <algorithm>

#include <contracts/params/by_value.hpp>
#include <tests/simulation/replica.hpp>

namespace assay::simulation {

namespace history = contracts::history;
using contracts::Reason;

namespace {

bool has_seat(const model::Task& task, const AccountId& account) {
    const std::size_t now = std::max<std::size_t>(task.checkpoints.size(), 1);
    const auto& rows = task.team->rows;
    return std::any_of(
        rows.begin() + static_cast<std::ptrdiff_t>(std::min(now - 1, rows.size())), rows.end(),
        [&](const auto& row) { return std::count(row.begin(), row.end(), std::optional(account)) != 0; }
    );
}

std::uint64_t bond_of(const model::Task& task, const AccountId& account) {
    return task.solver == account ? task.solver_bond : task.team->bonds.at(account);
}

}  // namespace

void Quarrels::note_end(const history::DisputeEnded& ended) {
    const auto accusation = accusations_.find(ended.dispute);
    if (accusation == accusations_.end()) {
        return;
    }
    const char* how = ended.reason == Reason::kMoot ? ", moot" : ended.claim_refuted ? ", refuted" : ", upheld";
    ++counts_[accusation->second + how];
}

void Quarrels::note(const contracts::HistoryRecord& entry) {
    if (const auto* accused = std::get_if<history::Accused>(&entry.event)) {
        const bool answers_another = accused->answers && accusations_.contains(*accused->answers);
        accusations_[accused->dispute] = !accused->answers ? "accusation in training"
                                         : answers_another ? "accusation that answers another"
                                                           : "accusation that answers a dispute";
    } else if (const auto* ended = std::get_if<history::DisputeEnded>(&entry.event)) {
        note_end(*ended);
    } else if (const auto* convicted = std::get_if<history::MemberConvicted>(&entry.event)) {
        ++counts_[kind_of_(convicted->member) + " convicted while the task went on"];
    } else if (const auto* accepted = std::get_if<history::Accepted>(&entry.event)) {
        seated_[entry.task] = {accepted->seats.begin(), accepted->seats.end()};
    } else if (const auto* reseated = std::get_if<history::Reseated>(&entry.event)) {
        const std::set<AccountId> now(reseated->seats.begin(), reseated->seats.end());
        std::set<AccountId>& before = seated_[entry.task];
        const bool joins = std::any_of(now.begin(), now.end(), [&](const auto& a) { return !before.contains(a); });
        const bool leaves = std::any_of(before.begin(), before.end(), [&](const auto& a) { return !now.contains(a); });
        counts_["lists with somebody new"] += joins ? 1 : 0;
        counts_["lists without somebody"] += leaves ? 1 : 0;
        before = now;
    } else if (const auto* demanded = std::get_if<history::Demanded>(&entry.event)) {
        demands_.push_back({entry.task, *demanded});
        ++demanded_of_[{entry.task, demanded->member}];
        ++counts_["demand of " + kind_of_(demanded->member) + (demanded->is_out ? ", which is out" : "")];
    } else if (const auto* slashed = std::get_if<history::Slashed>(&entry.event)) {
        if (slashed->reason == Reason::kDemand && !demands_.empty()) {
            demands_.back().paid.push_back(*slashed);
        }
    }
}

void Quarrels::end_block(const model::World& world, const contracts::Params& params) {
    for (const Demand& demand : demands_) {
        const model::Task& task = world.tasks.at(demand.task);
        const Amount cost = contracts::demand_cost(params, contracts::task_value(task.spec));
        const auto is_whole = [&](const history::Slashed& paid) {
            const bool has_nothing_left = paid.amount < cost && bond_of(task, paid.from) == 0;
            return paid.burned == paid.amount && (paid.amount == cost || has_nothing_left);
        };
        const bool is_paid = demand.paid.size() == 2 && demand.paid[0].from == demand.event.accuser &&
                             demand.paid[1].from == demand.event.member &&
                             std::all_of(demand.paid.begin(), demand.paid.end(), is_whole);
        if (!is_paid) {
            throw Broken("a demand has not cost both the same");
        }
        const bool is_second = task.team->demands.at(demand.event.member) == contracts::kDemandsToLeave;
        const bool is_out = task.solver != demand.event.member && is_second;
        if (demand.event.is_out && (!is_out || has_seat(task, demand.event.member))) {
            throw Broken("a member has a seat of which something was demanded twice");
        }
    }
    demands_.clear();
}

std::string Quarrels::fault_of_demands(const contracts::TaskId& task, const IsHonest& is_excused) const {
    for (const auto& [name, times] : demanded_of_) {
        if (name.first == task && times > contracts::kDemandsToLeave && !is_excused(name.second)) {
            return "more than two demands of one member";
        }
    }
    return "";
}

}  // namespace assay::simulation
