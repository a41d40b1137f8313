// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <contracts/beacon/rounds.hpp>
#include <contracts/params/gas.hpp>
#include <core/codec/borsh.hpp>
#include <contracts/tasks/tasks.hpp>

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

/// TASK-17
std::uint64_t Model::room_of(const contracts::TaskSpec& spec, std::uint64_t blocks) const {
    return part_of((codec::encode(spec).size() + 512) * blocks, params_.room_price.grains, 1'000);
}

std::uint64_t Model::deposit_of(const contracts::TaskSpec& spec) const {
    return room_of(spec, params_.draw_blocks) + params_.draw_price.grains * (params_.draws_max + 2);
}

void Model::burn_room(const TaskId& id, std::uint64_t amount) {
    Task& task = at(id);
    const std::uint64_t taken = std::min(amount, task.room);
    if (taken != 0) {
        task.room -= taken;
        world_.burned += taken;
        money_.push_back({id, false, AccountId{}, taken, 0, contracts::Reason::kRoom});
    }
}

void Model::open_task(const TaskId& id) {
    at(id).open_until = height_ + params_.draw_blocks;
    enter(id, TaskState::kOpen, height_ + params_.draw_blocks);
    await_draw(id);
}

std::optional<contracts::Queue> Model::queue_of(const Task& task) const {
    using contracts::Queue;
    if (task.state == TaskState::kProfiling) {
        const bool waits = task.profiling->phase == contracts::ProfilingPhase::kDraw;
        return waits ? std::optional{Queue::kProfilers} : std::nullopt;
    }
    if (is_sitting(task)) {
        return std::nullopt;
    }
    if (task.state == TaskState::kKept) {
        return task.kept->waits ? std::optional{Queue::kShow} : std::nullopt;
    }
    const std::map<TaskState, Queue> queues{
        {TaskState::kOpen, Queue::kSolver},
        {TaskState::kCompleted, Queue::kVerifiers},
        {TaskState::kVerifying, Queue::kLottery}};
    const auto found = queues.find(task.state);
    return found == queues.end() ? std::nullopt : std::optional{found->second};
}

void Model::await_draw(const TaskId& id) {
    if (const auto queue = queue_of(at(id))) {
        world_.queues[*queue].push_back({id, height_});
    }
}

/// TASK-18
void Model::pause_draw(const TaskId& id, bool is_short) {
    std::uint64_t pause = params_.redraw_blocks;
    for (std::uint32_t i = 0; !is_short && i < std::min(at(id).draws, 8U); ++i) {
        pause *= 2;
    }
    at(id).draws += is_short ? 0 : 1;
    calendar_[height_ + pause].push_back({contracts::DueKind::kDraw, Hash256{id.data}, {}});
}

/// BCN-4, GAS-10: moves the first of a queue into the round that opens, if it may be in it.
bool Model::take_front(contracts::Queue queue, std::uint64_t& gas, std::uint64_t& passed_over) {
    using contracts::Queue;
    const auto found = world_.queues.find(queue);
    if (found == world_.queues.end()) {
        return false;
    }
    const Waiting front = found->second.front();
    if (queue != Queue::kLottery && front.since == height_) {
        return false;
    }
    const Role role = queue == Queue::kLottery  ? Role::kWhistleblower
                      : queue == Queue::kSolver ? Role::kSolver
                                                : Role::kVerifier;
    const std::size_t consenting = queue == Queue::kSolver ? pool(Role::kVerifier).size() : 0;  // TRM-3
    const std::uint64_t price = contracts::draw_gas(queue, pool(role).size() + consenting, params_);
    const std::uint64_t taken = opening_.tasks.empty() ? passed_over : gas + price;
    if (taken + contracts::kGasPerEntry > params_.end_block_gas_max / 2) {
        return false;
    }
    found->second.erase(found->second.begin());
    if (found->second.empty()) {
        world_.queues.erase(found);
    }
    gas += contracts::kGasPerEntry;
    const Task& task = at(front.task);
    if (queue_of(task) == queue) {
        opening_.tasks.push_back(front.task);
        gas += price;
    } else {
        passed_over += contracts::kGasPerEntry;
    }
    return true;
}

void Model::run_beacon() {
    using contracts::Queue;
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
    opening_ = {world_.stakes, world_.machines, {}};
    const auto is_ready = [&](Queue queue) {
        const auto found = world_.queues.find(queue);
        return found != world_.queues.end() && (queue == Queue::kLottery || found->second.front().since < height_);
    };
    std::uint64_t gas = 0;
    std::uint64_t passed_over = 0;
    const auto read = [&](Role role, bool is_needed) { gas += is_needed ? contracts::pool_gas(pool(role).size()) : 0; };
    read(Role::kVerifier, is_ready(Queue::kVerifiers) || is_ready(Queue::kProfilers) || is_ready(Queue::kSolver));
    read(Role::kWhistleblower, is_ready(Queue::kLottery));
    read(Role::kSolver, is_ready(Queue::kSolver));
    for (const Queue queue : contracts::kQueues) {
        while (take_front(queue, gas, passed_over)) {
        }
    }
    if (opening_.tasks.empty()) {
        return;
    }
    beacon.round = Round{height_, block_hash_, {}};
    if (can_close()) {
        close_round();
    }
}

void Model::make_draw(contracts::Queue queue, const TaskId& id) {
    using contracts::Queue;
    Task& task = at(id);
    if (queue_of(task) != queue) {
        return;
    }
    if (!has_room_for_draw(queue, task)) {
        put_off_draw(id);
        return;
    }
    // TASK-17
    const bool before_training = queue == Queue::kSolver || queue == Queue::kProfilers;
    if (before_training && task.room < 3 * params_.draw_price.grains) {
        end_without_fraud(id, TaskState::kExpired);
        return;
    }
    burn_room(id, params_.draw_price.grains);
    switch (queue) {
        case Queue::kLottery:
            draw_lottery(id);
            break;
        case Queue::kVerifiers:
            draw_verifiers(id);
            break;
        case Queue::kProfilers:
            draw_profilers(id);
            break;
        case Queue::kSolver:
            draw_solver(id);
            break;
        case Queue::kShow:
            draw_show(id);
            break;
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
    using contracts::Queue;
    for (const Queue queue : contracts::kQueues) {
        for (const TaskId& id : tasks) {
            make_draw(queue, id);
        }
    }
}

/// BCN-9: the deadline of a task that waits for a draw has passed.
void Model::lapse_drawing(const TaskId& id) {
    if (world_.beacon.round || at(id).state == TaskState::kCompleted) {
        set_task_deadline(id, 0);
    } else {
        end_without_fraud(id, TaskState::kExpired);
    }
}

/// VER-7: whether members or verifiers would be found for a task, were they not busy with others.
bool Model::is_crowded_out(const Task& task) const {
    if (task.state != TaskState::kCompleted) {
        return false;
    }
    const std::uint64_t needed = bond_of(Role::kVerifier, task) + verifiers_for(task) * challenge_bond(task);
    const std::set<std::uint32_t> open = unaccepted(task);
    const std::uint64_t wanted = std::all_of(task.duties.begin(), task.duties.end(), is_dropped)
                                     ? checked_of(task) + (task.evaluation ? 1 : 0)
                                     : open.size();
    std::uint64_t members = 0;
    std::uint64_t places = 0;
    std::map<std::uint32_t, std::uint64_t> barred;  // of each segment, places of those who were drawn for it before
    for (const auto& [key, stake] : world_.stakes) {
        const auto& [role, account] = key;
        const auto seat = world_.beacon.seats.find(account);
        const std::uint64_t seated = seat == world_.beacon.seats.end() ? 0 : seat->second.bond;
        if (role != Role::kVerifier || account == task.submitter || is_in_team(task, account)) {
            continue;
        }
        const std::uint64_t whole = stake.free + stake.locked - seated;
        members += whole == 0 ? 0 : 1;
        if (agrees(world_.machines, account, task.spec)) {
            places += whole / needed;
            for (const Duty& duty : task.duties) {
                barred[duty.segment] += duty.verifier == account ? whole / needed : 0;
            }
        }
    }
    if (needs_committee(task)) {
        return members != 0;
    }
    std::uint64_t most = 0;
    for (const std::uint32_t segment : open) {
        most = std::max(most, barred[segment]);
    }
    return places - most >= wanted;
}

void Model::wait_longer(const TaskId& id) {
    // VER-7, AVL-8
    for (Duty& duty : at(id).duties) {
        if (duty.status == contracts::VerdictStatus::kMissed) {
            unlock(Role::kVerifier, duty.verifier, std::exchange(duty.bond, 0));
        }
    }
    set_task_deadline(id, height_ + params_.draw_blocks);
}

void Model::fail_draw(const TaskId& id, bool is_short) {
    const Task& task = at(id);
    if (task.deadline == 0 && !task.suspended && task.disputes.empty()) {
        if (!is_crowded_out(task)) {
            end_without_fraud(id, TaskState::kExpired);
            return;
        }
        wait_longer(id);
    }
    pause_draw(id, is_short);  // TASK-18, TASK-19
}

/// DTY-7
void Model::put_off_draw(const TaskId& id) {
    const Task& task = at(id);
    ++seen_[std::string("no room for the draw of a task ") + to_string(task.state)];
    if (task.state != TaskState::kKept && task.deadline == 0 && !task.suspended && task.disputes.empty()) {
        if (task.state != TaskState::kCompleted) {
            end_without_fraud(id, TaskState::kExpired);  // BCN-9
            return;
        }
        wait_longer(id);
    }
    pause_draw(id, true);
}

}  // namespace assay::model
