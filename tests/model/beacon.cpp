// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>

#include <contracts/beacon/rounds.hpp>

namespace assay::model {

using contracts::TaskState;
using contracts::TxError;

// --- seats ---------------------------------------------------------------------------------------------------

bool Model::owes(const Seat& seat) const {
    // BCN-5
    return world_.beacon.round && seat.since < world_.beacon.round->opened_at;
}

/// BCN-3: who gives way to `who_`.
std::optional<AccountId> Model::giving_way() const {
    const auto whole = [&](const AccountId& account) {
        const auto found = world_.stakes.find({Role::kVerifier, account});
        return found == world_.stakes.end() ? 0 : found->second.free + found->second.locked;
    };
    std::optional<AccountId> least;
    for (const auto& [account, seat] : world_.beacon.seats) {
        if (!owes(seat) && whole(account) < whole(who_) && (!least || whole(account) < whole(*least))) {
            least = account;
        }
    }
    return least;
}

void Model::vacate(const AccountId& account) {
    unlock(Role::kVerifier, account, world_.beacon.seats.at(account).bond);
    world_.beacon.seats.erase(account);
}

Model::Why Model::why(const contracts::JoinBeacon& /*a*/) const {
    Why out;
    if (world_.beacon.seats.contains(who_)) {
        out.insert(TxError::kAlreadySeated);
    }
    needs_stake(out, Role::kVerifier, params_.contributor_bond.grains);
    if (world_.beacon.seats.size() >= params_.contributors_max && !giving_way()) {
        out.insert(TxError::kSeatsTaken);
    }
    return out;
}

Model::Why Model::why(const contracts::Contribute& a) const {
    const auto seat = world_.beacon.seats.find(who_);
    if (seat == world_.beacon.seats.end()) {
        return {TxError::kNotSeated};
    }
    Why out;
    if (!owes(seat->second)) {
        out.insert(TxError::kNotDue);
    }
    if (contracts::beacon_commitment(who_, a.secret) != seat->second.commitment) {
        out.insert(TxError::kSecretMismatch);
    }
    return out;
}

Model::Why Model::why(const contracts::LeaveBeacon& /*a*/) const {
    const auto seat = world_.beacon.seats.find(who_);
    if (seat == world_.beacon.seats.end()) {
        return {TxError::kNotSeated};
    }
    return owes(seat->second) ? Why{TxError::kContributionDue} : Why{};
}

void Model::act(const contracts::JoinBeacon& a) {
    if (world_.beacon.seats.size() >= params_.contributors_max) {
        vacate(*giving_way());
    }
    lock(Role::kVerifier, who_, params_.contributor_bond.grains);
    world_.beacon.seats[who_] = {a.commitment, height_, params_.contributor_bond.grains};
}

void Model::act(const contracts::Contribute& a) {
    Seat& seat = world_.beacon.seats.at(who_);
    seat.commitment = a.next;
    seat.since = height_;
    world_.beacon.round->secrets[who_] = a.secret;
    arrivals_.push_back(who_);
}

void Model::act(const contracts::LeaveBeacon& /*a*/) { vacate(who_); }

// --- rounds --------------------------------------------------------------------------------------------------

/// BCN-4
bool Model::awaits_round(const TaskId& id) const {
    const Task& task = *find(id);
    const bool for_draw = task.state == TaskState::kProfiling || task.state == TaskState::kCompleted;
    return task.state == TaskState::kVerifying || (for_draw && task.draw_after < height_);
}

void Model::run_beacon() {
    Beacon& beacon = world_.beacon;
    const auto can_close = [&] {
        return height_ >= beacon.round->opened_at + params_.contribute_blocks ||
               std::none_of(beacon.seats.begin(), beacon.seats.end(), [&](const auto& e) { return owes(e.second); });
    };
    if (beacon.round) {
        if (can_close()) {
            close_round();
        }
        return;  // BCN-4
    }
    const auto& waiting = world_.waiting;
    if (std::none_of(waiting.begin(), waiting.end(), [&](const TaskId& id) { return awaits_round(id); })) {
        return;
    }
    beacon.round = Round{height_, block_hash_, {}};
    opening_ = {world_.stakes, world_.machines, {}, {}};
    for (const TaskId& id : world_.waiting) {
        if (awaits_round(id)) {
            const auto solver = at(id).solver.value_or(AccountId{});
            const auto machine = world_.machines.find({Role::kSolver, solver});
            opening_.tasks.push_back(id);
            opening_.solver_classes[id] = machine == world_.machines.end() ? 0 : machine->second.hardware_class;
        }
    }
    if (can_close()) {
        close_round();
    }
}

void Model::close_round() {
    Beacon& beacon = world_.beacon;
    beacon.withheld.clear();
    const auto seats = beacon.seats;
    for (const auto& [account, seat] : seats) {
        if (owes(seat)) {
            // BCN-8
            const std::uint64_t lost = flaw_ == Flaw::kForgives ? 0 : seat.bond / 10;
            vacate(account);
            world_.stakes[{Role::kVerifier, account}].free -= lost;
            world_.burned += lost;
            beacon.withheld.push_back(account);
        }
    }
    std::vector<contracts::Contribution> secrets;
    for (const auto& [account, secret] : beacon.round->secrets) {
        secrets.push_back({account, secret});
    }
    if (flaw_ == Flaw::kArrivalOrder) {
        secrets.clear();
        for (const AccountId& account : arrivals_) {
            secrets.push_back({account, beacon.round->secrets.at(account)});
        }
    }
    arrivals_.clear();
    beacon.seed = contracts::round_seed(beacon.seed, beacon.rounds, beacon.round->block_hash, secrets);  // BCN-7
    seed_ = beacon.seed;
    ++beacon.rounds;
    beacon.round.reset();
    const auto tasks = opening_.tasks;
    for (const TaskState state : {TaskState::kVerifying, TaskState::kProfiling, TaskState::kCompleted}) {
        for (const TaskId& id : tasks) {
            if (at(id).state != state) {
                continue;
            }
            if (state == TaskState::kVerifying) {
                draw_lottery(id);
            } else if (state == TaskState::kProfiling) {
                draw_profilers(id);
            } else {
                draw_verifiers(id, opening_.solver_classes.at(id));
            }
        }
    }
}

/// BCN-9: the deadline of a task that waits for a draw has passed.
void Model::lapse_drawing(const TaskId& id) {
    if (world_.beacon.round) {
        set_task_deadline(id, 0);
    } else {
        end_without_fraud(id, TaskState::kExpired);
    }
}

void Model::fail_draw(const TaskId& id) {
    const Task& task = at(id);
    if (task.deadline == 0 && !task.suspended) {
        end_without_fraud(id, TaskState::kExpired);
    }
}

}  // namespace assay::model
