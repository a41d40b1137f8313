// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>
#include <utility>

#include <core/crypto/keys.hpp>
#include <contracts/tasks/seats.hpp>
#include <tests/model/crowd.hpp>

/// Several accounts that train one task: how they agree, whose turn it is, and what is left when one is convicted (GRP
/// rules).
namespace assay::model {

using contracts::TaskState;
using contracts::TxError;
using contracts::VerdictStatus;

bool is_in_team(const Task& task, const AccountId& account) {
    return task.solver == account || (task.team && task.team->bonds.contains(account));
}

bool is_culprit(const Task& task, const AccountId& account) {
    return task.team && std::count(task.team->culprits.begin(), task.team->culprits.end(), account) != 0;
}

bool is_dropped(const Duty& duty) { return duty.status == VerdictStatus::kDropped; }

AccountId whose_turn(const Task& task) {
    // GRP-3
    const std::size_t next = task.checkpoints.size();
    const std::size_t segments = (task.spec.steps - 1) / task.spec.checkpoint_interval + 1;
    const bool is_leads = !task.team || task.team->together || next == 0 || next > segments;  // GRP-11
    return is_leads ? task.solver.value() : task.team->seats[(next - 1) % task.team->seats.size()];
}

AccountId who_answers(const Task& task, std::uint32_t segment) {
    // GRP-5
    const bool is_posted = task.team && !is_evaluation(task, segment);
    return is_posted ? task.team->posted_by.at(segment) : task.solver.value();
}

std::uint64_t& bond_in(Task& task, const AccountId& account) {
    return task.solver == account ? task.solver_bond : task.team.value().bonds.at(account);
}

/// GRP-4: whether the sender has something to lose by what it posts.
bool Model::may_post(const Task& task) const {
    const bool has_lost_already = task.team && task.solver != who_ && task.team->convicted.contains(who_);
    return is_in_team(task, who_) && !has_lost_already;
}

/// GRP-4: whether the sender has to leave the next checkpoint to another.
bool Model::is_too_early(const TaskId& id) const {
    const Task& task = world_.tasks.at(id);
    if (!task.team || whose_turn(task) == who_) {
        return false;
    }
    const std::uint64_t segments = (task.spec.steps - 1) / task.spec.checkpoint_interval + 1;
    const std::uint64_t seats = task.team->together ? 1 : task.team->seats.size();  // GRP-11
    const std::uint64_t doubled = std::uint64_t{task.spec.training_blocks} * seats;
    const std::uint64_t turn = (doubled + 2 * segments - 1) / (2 * segments);
    return height_ < turn_since_.at(id) + turn;
}

/// GRP-4
void Model::note_post(const TaskId& id, const Hash256& root, const std::optional<contracts::SealedFile>& sealed) {
    Task& task = at(id);
    if (task.team) {
        const std::size_t index = task.checkpoints.size();
        if (index != 0 && !task.team->together && flaw_ != Flaw::kKeepsSeats) {
            task.team->seats[(index - 1) % task.team->seats.size()] = who_;
        }
        if (whose_turn(task) != who_) {
            ++seen_[index == 0 ? "start taken over" : "turn taken over of who keeps it"];
        }
        task.team->posted_by.push_back(who_);
    }
    task.checkpoints.push_back(root);
    task.sealed.push_back(sealed);
    turn_since_[id] = height_;
}

// --- agreeing ------------------------------------------------------------------------------------------------

std::vector<AccountId> others_on(const std::vector<AccountId>& seats) {
    std::vector<AccountId> out;
    for (const AccountId& seat : seats) {
        if (seat != seats.front() && std::count(out.begin(), out.end(), seat) == 0) {
            out.push_back(seat);
        }
    }
    return out;
}

/// GRP-2: what is wrong with an acceptance, whatever the state.
void Model::add_why_seats(Why& why, const contracts::AcceptTask& a) const {
    if (a.seats.size() > 64 || a.signatures.size() > 64) {
        why.insert(TxError::kFieldOutOfRange);
    }
    if (a.seats.empty()) {
        if (!a.signatures.empty() || a.is_together) {
            why.insert(TxError::kSeatsInvalid);
        }
        return;
    }
    const std::vector<AccountId> others = others_on(a.seats);
    if (a.seats.front() != who_ || others.empty() || (a.is_together && others.size() > 15)) {
        why.insert(TxError::kSeatsInvalid);
    }
    if (!are_signed({.task = a.task, .seats = a.seats, .is_together = a.is_together}, a.signatures)) {
        why.insert(TxError::kSeatsNotSigned);
    }
}

bool are_signed(const contracts::SeatsTerms& terms, const std::vector<Signature>& signatures) {
    const std::vector<AccountId> others = others_on(terms.seats);
    bool is_signed = others.size() == signatures.size();
    const Hash256 claim = contracts::seats_claim(Crowd::kChainId, terms);
    for (std::size_t i = 0; is_signed && i < others.size(); ++i) {
        is_signed = crypto::verify_signature(others[i], claim.view(), signatures[i]);
    }
    return is_signed;
}

Model::Why Model::why(const contracts::AcceptTask& a) const {
    Why out;
    add_why_seats(out, a);
    if (a.environment && !is_environment(*a.environment)) {
        out.insert(TxError::kFieldOutOfRange);  // ENV-4
    }
    const Task* task = find(a.task);
    if (task == nullptr) {
        out.insert(TxError::kTaskUnknown);
        return out;
    }
    if (task->state != TaskState::kDrawn) {
        out.insert(TxError::kTaskState);
    }
    if (task->solver != who_) {
        out.insert(TxError::kNotSolver);
    }
    if (!is_in(a.environment, task->spec.environment)) {
        out.insert(TxError::kEnvironmentMismatch);  // ENV-4
    }
    if (owes_keys(*task)) {
        out.insert(TxError::kKeysMissing);  // PRV-3
    }
    const std::uint64_t bond = bond_of(Role::kSolver, *task) * (a.seats.empty() ? 4 : 5) / 4;  // GRP-5
    needs_stake(out, Role::kSolver, bond - std::min(bond, task->solver_bond));
    if (a.seats.size() > task->spec.members) {
        out.insert(TxError::kSeatsInvalid);
    }
    for (const AccountId& other : a.seats.empty() ? a.seats : others_on(a.seats)) {
        add_why_partner(out, *task, other);
    }
    return out;
}

/// GRP-2, GRP-5: why an account may not become a member.
void Model::add_why_partner(Why& why, const Task& task, const AccountId& account) const {
    const auto stake = world_.stakes.find({Role::kSolver, account});
    const auto machine = world_.machines.find({Role::kSolver, account});
    const contracts::Terms has = machine == world_.machines.end() ? contracts::Terms{} : machine->second.terms;
    if ((stake != world_.stakes.end() && stake->second.unlisted) ||
        (task.spec.hardware_class != 0 && has.hardware_class != task.spec.hardware_class) ||
        !offers(has.offers, task.spec.environment)) {
        why.insert(TxError::kSeatsInvalid);
    }
    if (stake == world_.stakes.end() || stake->second.free < bond_of(Role::kSolver, task) * 5 / 4) {
        why.insert(TxError::kInsufficientStake);
    }
}

void Model::act(const contracts::AcceptTask& a) {
    Task& task = at(a.task);
    const std::uint64_t bond = bond_of(Role::kSolver, task) * (a.seats.empty() ? 4 : 5) / 4;  // GRP-5
    lock(Role::kSolver, who_, bond - task.solver_bond);
    task.solver_bond = bond;
    if (!a.seats.empty()) {
        task.team = Team{};
        task.team->together = a.is_together;
        if (a.is_together) {
            task.team->rows.assign(
                (task.spec.steps - 1) / task.spec.checkpoint_interval + 1, {a.seats.begin(), a.seats.end()}
            );
        } else {
            task.team->seats = a.seats;
        }
        for (const AccountId& other : others_on(a.seats)) {
            lock(Role::kSolver, other, bond);  // GRP-5
            task.team->bonds[other] = bond;
        }
        ++seen_[a.is_together ? "group that computes together" : "group"];
    }
    turn_since_[a.task] = height_;
    const std::uint64_t waited = std::min<std::uint64_t>(height_ - task.submitted_at, params_.draw_blocks);
    burn_room(a.task, room_of(task.spec, waited));  // TASK-17
    enter(a.task, TaskState::kTraining, height_ + task.spec.training_blocks);
}

// --- endings -------------------------------------------------------------------------------------------------

/// SET-7, GRP-8, GRP-12: who earns how much of the reward.
std::map<AccountId, std::uint64_t> Model::earnings(const Task& task) const {
    const std::uint64_t reward = task.spec.reward.grains;
    std::map<AccountId, std::uint64_t> steps;
    if (!task.team) {
        const bool is_whole = !task.diverged_at;
        const std::uint64_t executed = last_of(task) == 0 ? 0 : task.diverged_at.value_or(0) + 1;
        return {{*task.solver, is_whole ? reward : part_of(reward, executed, task.spec.steps)}};
    }
    std::map<AccountId, std::uint64_t> out;
    for (std::uint32_t segment = 1; segment <= last_of(task); ++segment) {
        if (!task.team->together) {
            steps[task.team->posted_by.at(segment)] += steps_in(task, segment);
            continue;
        }
        const auto& row = task.team->rows.at(segment - 1);
        std::map<AccountId, std::uint64_t> seats;
        for (const auto& seat : row) {
            seats[seat.value_or(AccountId{})] += 1;
        }
        seats.erase(AccountId{});  // GRP-14: nobody's
        for (const auto& [account, count] : seats) {
            out[account] += part_of(reward, steps_in(task, segment) * count, task.spec.steps * row.size());
        }
    }
    for (const auto& [account, count] : steps) {
        out[account] = part_of(reward, count, task.spec.steps);
    }
    for (const AccountId& account : task.team->convicted) {
        if (flaw_ != Flaw::kPaysConvicted) {
            out.erase(account);
        }
    }
    return out;
}

bool Model::is_cut_by(const Task& task, const std::optional<std::uint32_t>& segment) const {
    // GRP-7
    return task.team && segment && *segment > 1 && task.redraws < params_.redraws_max;
}

/// GRP-7: what is from this segment on does not count any more.
void Model::cut(const TaskId& id, std::uint32_t from, const AccountId& culprit, bool waits) {
    Task& task = at(id);
    Team& team = task.team.value();
    ++seen_["cut"];
    if (!team.last && children_.contains(id)) {
        taints_.emplace_back(children_.at(id), id);  // GRP-9
    }
    std::vector<Duty> left;
    for (Duty& duty : task.duties) {
        unlock(Role::kVerifier, duty.verifier, std::exchange(duty.bond, 0) + std::exchange(duty.reserve, 0));
        if (earns_fee(id, duty, from)) {
            duty.status = VerdictStatus::kDropped;
            left.push_back(duty);
        }
    }
    team.convicted.insert(culprit);
    task.duties = left;
    past_.erase(id);
    drop_disputes_over(id, [&](const Dispute& dispute) { return dispute.verdict || dispute.segment >= from; });
    for (const DisputeId& other : task.disputes) {
        world_.disputes.at(other).lane = weight_of_dispute(params_);  // DTY-6
        ++seen_["dispute survives a cut"];
    }
    team.last = from - 1;
    task.evaluation.reset();
    task.diverged_at.reset();
    task.committee.reset();
    task.attested.clear();
    task.lottery = {};
    task.second_window = false;
    ++task.redraws;
    const bool is_collected = world_.beacon.round && std::erase(opening_.tasks, id) != 0;
    if (waits && !is_collected) {
        resume(id);
    } else {
        complete(id);
    }
}

}  // namespace assay::model
