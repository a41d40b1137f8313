// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <contracts/arbitration/arbitration.hpp>

namespace assay::model {

using contracts::DisputeState;
using contracts::ProfileStatus;
using contracts::Reason;
using contracts::TaskState;
using contracts::VerdictStatus;

void Model::pay(const TaskId& id, const AccountId& to, std::uint64_t amount, Reason reason) {
    if (amount != 0) {
        at(id).escrow -= amount;
        world_.people[to].balance += amount;
        money_.push_back({id, false, to, amount, 0, reason});
    }
}

Model::Loss Model::slash(
    const TaskId& id, Role role, const AccountId& from, std::uint64_t amount, Reason reason,
    const std::vector<AccountId>& winners, Reason why_won
) {
    // SET-5
    if (amount == 0) {
        return {};
    }
    std::uint64_t share = winners.empty() ? 0 : part_of(amount, params_.slash_to_winner_bps, 10'000);
    if (!winners.empty() && flaw_ == Flaw::kWinnersShare) {
        share = std::min(amount, share + 1);
    }
    world_.stakes[{role, from}].locked -= amount;
    world_.burned += amount - share;
    money_.push_back({id, true, from, amount, amount - share, reason});
    // SET-10: six at most; the first has a half and what does not divide besides.
    const std::uint64_t sharers = std::min<std::uint64_t>(winners.size(), 6);
    std::uint64_t left = share;
    for (std::uint64_t i = sharers; i-- > 1;) {
        left -= share / 2 / sharers;
    }
    for (std::uint64_t i = 0; i < sharers; ++i) {
        const std::uint64_t part = i == 0 ? left : share / 2 / sharers;
        if (part != 0) {
            world_.people[winners[i]].balance += part;
            money_.push_back({id, false, winners[i], part, 0, why_won});
        }
    }
    return {amount, share, amount - share};
}

void Model::lock(Role role, const AccountId& account, std::uint64_t amount) {
    Stake& stake = world_.stakes[{role, account}];
    if (stake.free < amount) {
        fail("more stake is locked than there is");
        return;
    }
    stake.free -= amount;
    stake.locked += amount;
}

void Model::unlock(Role role, const AccountId& account, std::uint64_t amount) {
    Stake& stake = world_.stakes[{role, account}];
    stake.locked -= amount;
    stake.free += amount;
}

void Model::miss(const TaskId& id, const AccountId& account, std::uint64_t& bond) {
    // VER-5, PRF-4
    const std::uint64_t lost = bond / 10;
    slash(id, Role::kVerifier, account, lost, Reason::kMissedVerdict, {});
    unlock(Role::kVerifier, account, bond - lost);
    bond = 0;
}

// --- tasks ---------------------------------------------------------------------------------------------------

void Model::enter(const TaskId& id, TaskState state, std::uint64_t deadline) {
    Task& task = at(id);
    task.state = state;
    task.suspended = false;
    set_task_deadline(id, deadline);
}

/// TASK-11: a dispute has ended.
void Model::resume(const TaskId& id) {
    Task& task = at(id);
    if (task.suspended && task.disputes.empty()) {
        task.suspended = false;
        set_task_deadline(id, height_ + 1);
    }
}

void Model::return_bonds(const TaskId& id, std::uint64_t kept) {
    Task& task = at(id);
    for (const AccountId& culprit : task.team ? task.team->culprits : std::vector<AccountId>{}) {
        if (const std::uint64_t left = std::exchange(bond_in(task, culprit), 0); left != 0) {  // STM-12
            slash(id, Role::kSolver, culprit, left, Reason::kFalseStatement, {});
        }
    }
    if (task.solver) {
        unlock(Role::kSolver, *task.solver, task.solver_bond - kept);
        task.solver_bond = kept;
    }
    if (task.team) {
        for (auto& [account, bond] : task.team->bonds) {
            unlock(Role::kSolver, account, std::exchange(bond, 0));
        }
    }
    for (Duty& duty : task.duties) {
        unlock(Role::kVerifier, duty.verifier, duty.bond + duty.reserve);
        duty.bond = duty.reserve = 0;
    }
    if (task.profiling) {
        for (Profiler& profiler : task.profiling->profilers) {
            unlock(Role::kVerifier, profiler.account, profiler.bond);
            profiler.bond = 0;
        }
    }
}

void Model::finish(const TaskId& id, TaskState state) {
    // DSP-40, AVL-8: what is still open is moot, and all other bonds return.
    drop_disputes_over(id, [](const Dispute& /*dispute*/) { return true; });
    return_bonds(id);
    Task& task = at(id);
    if (task.room != 0) {
        world_.people[task.submitter].balance += task.room;
        money_.push_back({id, false, task.submitter, task.room, 0, Reason::kRoom});
        task.room = 0;
    }
    enter(id, state, 0);
    task.draws = 0;
    task.open_until = 0;
    task.stood_still = 0;
    task.disputes.clear();
}

void Model::end_without_fraud(const TaskId& id, TaskState state) {
    // SET-4
    pay_profilers(id, false, state == TaskState::kRefused ? 3 : 1);  // PRF-7
    pay(id, at(id).submitter, at(id).escrow, Reason::kRefund);
    finish(id, state);
}

Model::Loss Model::convict(const TaskId& id, const Conviction& conviction) {
    // SET-2
    Task& task = at(id);
    const bool withheld = conviction.reason == Reason::kUnavailable;                                   // AVL-5
    const bool unread = conviction.reason == Reason::kKeysWithheld && flaw_ != Flaw::kTakesWholeBond;  // PRV-4
    const AccountId answers = conviction.segment ? who_answers(task, *conviction.segment) : task.solver.value();
    const AccountId convicted =
        flaw_ == Flaw::kConvictsResponder ? answers : conviction.culprit.value_or(answers);  // STM-10
    std::uint64_t& bond = bond_in(task, convicted);
    const bool is_anothers = conviction.culprit && convicted != answers;  // STM-10
    const std::uint64_t lost = withheld || unread ? bond / 2 : is_anothers ? (bond + 1) / 2 : bond;
    bond -= lost;
    if (conviction.culprit && !is_culprit(task, convicted)) {
        task.team->culprits.push_back(convicted);
        task.team->convicted.insert(convicted);
    }
    const Loss loss = slash(id, Role::kSolver, convicted, lost, conviction.reason, conviction.winners);
    for (Duty& duty : task.duties) {
        // Nobody has shown it to be wrong.
        const bool unanswered =
            conviction.reason == Reason::kDisputeTimeout || (conviction.culprit && flaw_ != Flaw::kBlamesVerifiers);
        if (!unanswered && conviction.segment == duty.segment && duty.status == VerdictStatus::kAccepted) {
            slash(id, Role::kVerifier, duty.verifier, duty.bond, Reason::kWrongVerdict, conviction.winners);
            duty.bond = 0;
        }
    }
    if (is_cut_by(task, conviction.segment)) {
        cut(id, *conviction.segment, convicted, task.state == TaskState::kCompleted && !is_sitting(task) && !withheld);
        return loss;
    }
    pay_profilers(id, false);
    pay_verifiers(id, conviction.segment, false);
    pay(id, task.submitter, task.escrow, Reason::kRefund);
    finish(id, TaskState::kConvicted);
    if (children_.contains(id)) {
        taints_.emplace_back(children_.at(id), id);  // LIN-4
    }
    return loss;
}

std::uint64_t Model::pay_tax(const TaskId& id, std::uint64_t amount) {
    // SET-8
    const std::uint64_t tax = flaw_ == Flaw::kNoTax ? 0 : part_of(amount, params_.tax_bps, 10'000);
    if (tax != 0) {
        at(id).escrow -= tax;
        world_.treasury += tax;
        money_.push_back({id, false, AccountId{}, tax, 0, Reason::kTax});
    }
    return amount - tax;
}

namespace {

std::vector<AccountId> standing(const Task& task) {
    std::vector<AccountId> out;
    if (task.profiling) {
        for (const Profiler& profiler : task.profiling->profilers) {
            if (profiler.status == ProfileStatus::kStanding) {
                out.push_back(profiler.account);
            }
        }
    }
    return out;
}

}  // namespace

void Model::pay_profilers(const TaskId& id, bool taxed, std::uint64_t divisor) {
    // SET-9
    const std::vector<AccountId> earners = standing(at(id));
    const std::uint64_t fee = part_of(at(id).spec.verification_fee.grains, params_.profiling_fee_bps, 10'000) / divisor;
    if (earners.empty() || fee == 0) {
        return;
    }
    const std::uint64_t left = taxed ? pay_tax(id, fee) : fee;
    for (const AccountId& earner : earners) {
        pay(id, earner, left / earners.size(), Reason::kProfilingFee);
    }
}

bool Model::earns_fee(const TaskId& id, const Duty& duty, const std::optional<std::uint32_t>& refuted) const {
    // SET-6
    const auto own = world_.disputes.find(contracts::dispute_id(id, duty.segment, duty.verifier));
    const bool has_disputed = own != world_.disputes.end();
    const bool has_lost = has_disputed && own->second.state == DisputeState::kUpheld;
    switch (duty.status) {
        case VerdictStatus::kAccepted:
            return refuted != duty.segment;
        case VerdictStatus::kRejected:
            return !is_exact(world_.tasks.at(id), duty.segment) || (has_disputed && !has_lost);
        case VerdictStatus::kDropped:
            return has_disputed ? !has_lost : refuted != duty.segment;  // GRP-7
        default:
            return flaw_ == Flaw::kFeeToAll && duty.status == VerdictStatus::kRefuted;
    }
}

std::size_t Model::pay_verifiers(const TaskId& id, const std::optional<std::uint32_t>& refuted, bool taxed) {
    const Task& task = at(id);
    std::vector<AccountId> earners;
    for (const Duty& duty : task.duties) {
        if (earns_fee(id, duty, refuted)) {
            earners.push_back(duty.verifier);
        }
    }
    if (!earners.empty()) {
        const std::uint64_t whole = task.spec.verification_fee.grains;
        const std::uint64_t fee =
            whole - (standing(task).empty() ? 0 : part_of(whole, params_.profiling_fee_bps, 10'000));
        const std::uint64_t left = taxed ? pay_tax(id, fee) : fee;
        for (const AccountId& earner : earners) {
            pay(id, earner, left / earners.size(), Reason::kVerificationFee);
        }
    }
    return earners.size();
}

/// LIN-3: whether an ancestor keeps the task from being paid.
bool Model::is_early(const TaskId& id) {
    const Task& task = at(id);
    for (auto up = task.spec.parent; up; up = at(*up).spec.parent) {
        const Task& ancestor = at(*up);
        const bool is_over_now = is_paid_for(ancestor.state);
        const bool is_refuted =
            ancestor.state == TaskState::kConvicted || (ancestor.team && ancestor.team->last);  // GRP-9
        if (is_over_now && (!is_refuted || task.tainted_by)) {
            continue;
        }
        const bool dateless = !is_over_now && ancestor.deadline == 0;
        const std::uint64_t wait = dateless ? params_.challenge_blocks : 1;
        const std::uint64_t again = std::max(height_ + wait, ancestor.deadline + 1);
        if (task.state == TaskState::kJudged) {
            set_task_deadline(id, again);
        } else {
            enter(id, TaskState::kJudged, again);
        }
        return true;
    }
    return false;
}

void Model::settle(const TaskId& id) {
    // SET-1, SET-7, RET-3
    Task& task = at(id);
    const std::uint64_t fee = task.spec.retention ? task.spec.retention->fee.grains : 0;
    return_bonds(id, is_kept_after(task) ? std::min(fee, task.solver_bond) : 0);
    if (is_early(id)) {
        return;
    }
    const std::uint64_t held = is_kept_after(task) ? fee : 0;
    pay(id, task.submitter, fee - held, Reason::kRefund);
    const std::uint64_t reward = task.spec.reward.grains;
    std::uint64_t earned = 0;
    for (const auto& [account, share] : earnings(task)) {
        earned += share;
        pay(id, account, pay_tax(id, share), Reason::kReward);
    }
    pay(id, task.submitter, reward - earned, Reason::kRefund);
    pay_profilers(id, true);
    if (pay_verifiers(id, std::nullopt, true) == 0) {
        pay(id, task.submitter, task.escrow - held, Reason::kRefund);
    }
    world_.treasury += task.escrow - held;
    task.escrow = held;
    if (is_kept_after(task)) {
        start_keeping(id);
    } else {
        finish(id, TaskState::kSettled);
    }
}

/// Every verdict is disclosed.
void Model::conclude(const TaskId& id) {
    // VER-15
    Task& task = at(id);
    const bool forced = std::any_of(task.duties.begin(), task.duties.end(), [](const Duty& duty) {
        return is_published(duty) && duty.forced == true;
    });
    if (forced && !task.second_window) {
        task.second_window = true;
        enter(id, TaskState::kChallenge, height_ + window_over(task));
    } else {
        decide(id);
    }
}

/// VER-22: whether the windows of the draw that it is of are over, while the task waits for another or has one.
bool Model::is_past(const TaskId& id, const Duty& duty) const {
    const auto found = past_.find(id);
    const auto place = static_cast<std::size_t>(&duty - world_.tasks.at(id).duties.data());
    return found != past_.end() && place < found->second;
}

/// AVL-1: segments that somebody was drawn for, and nobody has accepted.
std::set<std::uint32_t> Model::unaccepted(const Task& task) {
    std::set<std::uint32_t> out;
    for (const Duty& duty : task.duties) {
        if (is_dropped(duty)) {
            continue;
        }
        const bool accepted = std::any_of(task.duties.begin(), task.duties.end(), [&](const Duty& other) {
            return other.segment == duty.segment && other.status == VerdictStatus::kAccepted;
        });
        if (!accepted) {
            out.insert(duty.segment);
        }
    }
    return out;
}

/// VER-21: whether the solver would be convicted of what all measured segments have together.
bool Model::drifts_add_up(const Task& task) const {
    std::map<std::uint32_t, dispute::Measurement> measured;
    for (const Duty& duty : task.duties) {
        if (is_published(duty) && !is_exact(task, duty.segment) && duty.verdict.measurement) {
            measured.emplace(duty.segment, *duty.verdict.measurement);
        }
    }
    std::vector<dispute::GroupMeasurement> parameters;
    std::vector<dispute::GroupMeasurement> other;
    for (const auto& [segment, measurement] : measured) {
        parameters.push_back(measurement.parameters);
        other.push_back(measurement.other);
    }
    return task.profiling && (dispute::growth(parameters) > params_.growth_max_thousandths ||
                              dispute::growth(other) > params_.growth_max_thousandths);
}

/// TASK-10, WRK-5: the window over verdicts that the solver has to check, or it is convicted by them.
std::uint64_t Model::window_over(const Task& task) {
    std::set<std::uint32_t> against;
    for (const Duty& duty : task.duties) {
        const bool is_measured = is_published(duty) && !is_exact(task, duty.segment);
        if (is_measured &&
            (duty.status == VerdictStatus::kRejected || (duty.verdict.measurement && drifts_add_up(task)))) {
            against.insert(duty.segment);
        }
    }
    const std::uint64_t more = against.size() > 1 && flaw_ != Flaw::kOneGame ? against.size() - 1 : 0;
    if (more != 0) {
        ++seen_["window for several replays"];
    }
    return challenge_window(task.spec) + more * 2 * delay_of(task.spec);
}

void Model::decide(const TaskId& id) {
    // VER-18 to VER-21
    Task& task = at(id);
    const auto counts = [&](const Duty& duty) { return is_published(duty) && !is_exact(task, duty.segment); };
    const auto says = [](const Duty& duty) {
        return std::tuple{duty.verdict.end_root, duty.verdict.diverged_after, duty.verdict.measurement.has_value()};
    };
    std::vector<Duty*> contradicted;
    for (Duty& one : task.duties) {
        for (const Duty& other : task.duties) {
            if (counts(one) && counts(other) && one.segment == other.segment &&
                (says(one) != says(other) || one.verdict.measurement != other.verdict.measurement)) {
                contradicted.push_back(&one);
                break;
            }
        }
    }
    for (Duty* duty : contradicted) {
        slash(id, Role::kVerifier, duty->verifier, duty->bond, Reason::kContradiction, {});
        duty->bond = 0;
        duty->status = VerdictStatus::kContradicted;
    }
    Conviction beyond{Reason::kBeyondTolerance, {}, {}};
    for (const Duty& duty : task.duties) {
        if (counts(duty) && duty.status == VerdictStatus::kRejected) {
            beyond.segment = beyond.segment.value_or(duty.segment);
            beyond.winners.push_back(duty.verifier);
        }
    }
    if (beyond.segment) {
        convict(id, beyond);
        return;
    }
    if (!unaccepted(task).empty()) {
        // AVL-1, AVL-7
        if (task.redraws == params_.redraws_max) {
            end_without_fraud(id, TaskState::kExpired);
            return;
        }
        past_[id] = task.duties.size();
        for (Duty& duty : task.duties) {
            if (is_published(duty) && flaw_ != Flaw::kKeepsBonds) {
                // VER-22
                unlock(Role::kVerifier, duty.verifier, std::exchange(duty.bond, 0) + std::exchange(duty.reserve, 0));
            }
        }
        task.second_window = false;
        task.lottery = {};
        complete(id);
        return;
    }
    if (drifts_add_up(task)) {
        convict(id, {Reason::kBeyondBudget, {}, std::nullopt});
        return;
    }
    settle(id);
}

void Model::pay_jackpots(const TaskId& id, const std::vector<AccountId>& winners) {
    // VER-16
    const Task& task = at(id);
    if (winners.empty()) {
        return;
    }
    std::set<std::uint32_t> segments;
    for (const Duty& duty : task.duties) {
        segments.insert(duty.segment);
    }
    const std::uint64_t places = segments.size() * verifiers_for(task);
    const std::uint64_t share = task.spec.verification_fee.grains / places;
    const std::uint64_t fair = part_of(share, 10'000, params_.forced_error_bps);
    const std::uint64_t most = params_.contributor_bond.grains / 10 / places;
    std::uint64_t each = std::min(world_.treasury / 3, flaw_ == Flaw::kAnyJackpot ? fair : std::min(fair, most));
    for (std::size_t i = 1; i < winners.size(); ++i) {
        each /= 2;
    }
    for (const AccountId& winner : winners) {
        if (each != 0) {
            world_.treasury -= each;
            world_.people[winner].balance += each;
            money_.push_back({id, false, winner, each, 0, Reason::kJackpot});
        }
    }
}

}  // namespace assay::model
