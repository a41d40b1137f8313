// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/governance/params_rules.hpp>
#include <contracts/validators/validators.hpp>
#include <contracts/verification/lottery.hpp>
#include <core/codec/borsh.hpp>
#include <core/merkle/tree.hpp>
#include <core/dispute/commitment.hpp>
#include <core/dispute/evaluation.hpp>
#include <core/dispute/one_step_verifier.hpp>
#include <contracts/state/validator.hpp>

namespace assay::model {

using contracts::DisputeState;
using contracts::DueKind;
using contracts::ProfileStatus;
using contracts::ProfilingPhase;
using contracts::Reason;
using contracts::TaskState;
using contracts::VerdictStatus;

void Model::act(const contracts::Transfer& a) {
    world_.people[who_].balance -= a.amount.grains;
    world_.people[a.to].balance += a.amount.grains;
}

void Model::act(const contracts::Bond& a) {
    world_.people[who_].balance -= a.amount.grains;
    world_.stakes[{a.role, who_}].free += a.amount.grains;
    world_.stakes[{a.role, who_}].unlisted = false;  // TASK-6
}

void Model::act(const contracts::Unbond& a) {
    // STK-4
    const std::uint64_t release = height_ + params_.unbonding_blocks - (flaw_ == Flaw::kUnbondsEarly ? 1 : 0);
    Stake& stake = world_.stakes[{a.role, who_}];
    stake.free -= a.amount.grains;
    if (!stake.parts.empty() && stake.parts.back().height == release) {
        stake.parts.back().amount += a.amount.grains;
    } else {
        // VAL-9
        const std::uint64_t span = a.role == Role::kValidator ? params_.validator_unbonding_ms : 0;
        stake.parts.push_back({release, span == 0 ? 0 : time_ms_ + span, a.amount.grains});
        calendar_[release].push_back({DueKind::kUnbonding, Hash256{who_.data}, a.role});
    }
}

void Model::act(const contracts::SubmitTask& a) {
    const TaskId id = contracts::task_id(who_, nonce_);
    Task task;
    task.submitter = who_;
    task.spec = a.spec;
    task.escrow = a.spec.reward.grains + a.spec.verification_fee.grains;
    task.escrow += a.spec.retention ? a.spec.retention->fee.grains : 0;
    task.room = deposit_of(a.spec);
    task.submitted_at = height_;
    if (a.spec.privacy) {
        task.secret = Secret{};
    }
    world_.people[who_].balance -= task.escrow + task.room;
    if (a.spec.parent) {
        task.depth = find(*a.spec.parent)->depth + 1;
        children_[*a.spec.parent].push_back(id);
    }
    const bool profiled = a.spec.mode == contracts::Mode::kTolerance;
    if (profiled) {
        task.profiling = Profiling{};
    }
    world_.tasks[id] = task;
    if (profiled) {
        enter(id, TaskState::kProfiling, height_ + params_.draw_blocks);  // PRF-1
        await_draw(id);
    } else {
        open_task(id);
    }
}

void Model::act(const contracts::DeclineTask& a) { decline(a.task, who_); }

/// TASK-15
void Model::decline(const TaskId& id, const AccountId& solver) {
    Task& task = at(id);
    Stake& stake = world_.stakes[{Role::kSolver, solver}];
    const std::uint64_t value = task.spec.reward.grains + task.spec.verification_fee.grains;
    stake.declined_value = stake.declined_until > height_ ? std::max(stake.declined_value, value) : value;
    stake.declined_until = height_ + params_.decline_blocks;
    const std::uint64_t half = std::exchange(task.solver_bond, 0);
    if (flaw_ == Flaw::kDeclinesForNothing) {
        unlock(Role::kSolver, solver, half);
    } else if (half != 0) {
        stake.locked -= half;
        task.room += half;
        money_.push_back({id, true, solver, half, 0, contracts::Reason::kRoom});
    }
    task.solver.reset();
    enter(id, TaskState::kOpen, std::max(task.open_until, height_ + 1));
    pause_draw(id);
}

void Model::act(const contracts::PostCheckpoint& a) { note_post(a.task, a.state_root, a.sealed); }

void Model::complete(const TaskId& id) {
    at(id).draws = 0;
    enter(id, TaskState::kCompleted, height_ + params_.draw_blocks);  // VER-7
    await_draw(id);
}

void Model::act(const contracts::CompleteTask& a) {
    at(a.task).evaluation = a.evaluation;
    complete(a.task);
}

void Model::act(const contracts::DeclareDivergence& a) {
    // TASK-13
    note_post(a.task, a.state_root, a.sealed);
    at(a.task).diverged_at = a.step;
    complete(a.task);
}

void Model::act(const contracts::CancelTask& a) { end_without_fraud(a.task, TaskState::kCancelled); }

// --- verdicts ------------------------------------------------------------------------------------------------

/// VER-4, VER-10: whether the phase is over.
void Model::advance_verdicts(const TaskId& id, bool was_commit_phase) {
    Task& task = at(id);
    const auto any = [&](VerdictStatus status) {
        return std::any_of(task.duties.begin(), task.duties.end(), [&](const Duty& d) { return d.status == status; });
    };
    if (any(VerdictStatus::kDue)) {
        return;
    }
    if (!any(VerdictStatus::kCommitted) && owes_keys(task) && flaw_ != Flaw::kOpensUnread) {
        return;  // PRV-4
    }
    if (!any(VerdictStatus::kCommitted)) {
        const std::uint64_t off = flaw_ == Flaw::kDeadlineOff ? 1 : 0;
        enter(id, TaskState::kChallenge, height_ + window_over(task) + off);
    } else if (was_commit_phase) {
        task.suspended = false;
        set_task_deadline(id, 0);
        await_draw(id);
    }
}

void Model::act(const contracts::CommitVerdict& a) {
    Duty* duty = find_duty(at(a.task), a.segment, who_);
    duty->status = VerdictStatus::kCommitted;
    duty->commitment = a.commitment;
    if (auto& secret = at(a.task).secret; secret && secret->awaited.erase(who_) != 0 && secret->awaited.empty()) {
        ++seen_["committed without keys"];
        begin_to_judge(a.task);
    }
    advance_verdicts(a.task, true);
}

void Model::act(const contracts::PublishVerdict& a) {
    Task& task = at(a.task);
    Duty* duty = find_duty(task, a.segment, who_);
    const bool rejected = rejects(task, a.segment, a.verdict);
    duty->status = rejected ? VerdictStatus::kRejected : VerdictStatus::kAccepted;
    duty->verdict = a.verdict;
    const DisputeId id = contracts::dispute_id(a.task, a.segment, who_);
    if (rejected && is_exact(task, a.segment) && !world_.disputes.contains(id)) {
        Dispute dispute;  // VER-6
        dispute.task = a.task;
        dispute.segment = a.segment;
        dispute.responder = who_answers(task, a.segment);
        dispute.role = Role::kVerifier;
        open(id, dispute, claim_of(a.task, a.segment));
    }
    advance_verdicts(a.task, false);
}

std::vector<DisputeId> Model::awaiting_of(const Task& task, std::uint32_t segment, const AccountId& verifier) const {
    std::vector<DisputeId> out;
    for (const DisputeId& id : task.disputes) {
        const Dispute& dispute = world_.disputes.at(id);
        const bool awaits = dispute.state == DisputeState::kAwaiting;
        if (awaits && dispute.responder == verifier && dispute.segment == segment) {
            out.push_back(id);
        }
    }
    return out;
}

void Model::act(const contracts::DiscloseVerdict& a) {
    Task& task = at(a.task);
    Duty& duty = *find_duty(task, a.segment, who_);
    const contracts::VerdictOpening& opening = a.opening;
    const std::vector<DisputeId> awaiting = awaiting_of(task, a.segment, who_);
    contracts::Assignment ticket;
    ticket.segment = a.segment;
    ticket.verifier = who_;
    contracts::Task drawn;
    drawn.id = a.task;
    drawn.lottery = task.lottery;
    const bool forced = contracts::is_forced(drawn, ticket, opening, params_.forced_error_bps);  // VER-11
    const contracts::Verdict expected = published_of(task, duty, opening, forced);
    const contracts::Verdict found = published_of(task, duty, opening, false);
    const bool shows_decoy =
        std::find(opening.marks.begin(), opening.marks.end(), opening.decoy_root) != opening.marks.end();
    const bool kept = duty.commitment == contracts::verdict_commitment(a.task, a.segment, who_, opening) &&
                      duty.verdict == expected && !shows_decoy;  // VER-14
    if (!kept) {
        refute_verdict(
            a.task, duty, VerdictStatus::kBroken, Reason::kBrokenCommitment,
            awaiting.empty() ? std::nullopt : std::optional{awaiting.front()}
        );
    } else {
        duty.forced = forced;
        if (flaw_ != Flaw::kKeepsProbe) {
            duty.verdict.probe_root = found.probe_root;
        }
        const auto is_watcher = [&duty](const Dispute& dispute) {
            return std::find(duty.watchers.begin(), duty.watchers.end(), dispute.challenger) != duty.watchers.end();
        };
        std::vector<AccountId> winners;
        for (const DisputeId& id : awaiting) {
            // DSP-42
            Dispute& dispute = world_.disputes.at(id);
            if (!forced) {
                dispute.state = DisputeState::kActive;
                start_clocks(id, dispute);
                set_deadline(
                    {contracts::DueKind::kDispute, Hash256{id.data}, {}}, dispute.deadline,
                    height_ + dispute.responder_clock
                );
                continue;
            }
            close_dispute(id, DisputeState::kForced, Reason::kForcedError);
            return_bond(dispute);
            const bool sealed = dispute.seal == contracts::challenge_seal(id, found.probe_root.value());
            const std::uint64_t first = world_.disputes.at(awaiting.front()).opened_at;
            const bool early = dispute.opened_at < first + challenge_window(task.spec) / 2;
            if (is_watcher(dispute) && ((sealed && early) || flaw_ == Flaw::kPaysCopies)) {  // VER-16
                winners.push_back(dispute.challenger);
            }
        }
        pay_jackpots(a.task, winners);
        resume(a.task);
    }
    const bool secret = std::any_of(task.duties.begin(), task.duties.end(), is_secret);
    if (task.state == TaskState::kDisclosure && !secret) {
        conclude(a.task);
    }
}

// --- validators, machines ------------------------------------------------------------------------------------

void Model::act(const contracts::RegisterValidator& a) {
    // VAL-1
    if (world_.listed.size() >= contracts::kMaxRegistered) {
        std::erase(world_.listed, *giving_way_as_validator());
    }
    world_.validators[who_].key = a.key;
    world_.listed.push_back(who_);
    std::sort(world_.listed.begin(), world_.listed.end());
}
void Model::act(const contracts::Unjail& /*a*/) { world_.validators.at(who_).jailed_until = 0; }
void Model::act(const contracts::RegisterTerms& a) {
    const auto stake = world_.stakes.find({a.role, who_});
    if (stake != world_.stakes.end()) {
        stake->second.unlisted = false;  // TASK-6
    }
    if (a.terms == contracts::Terms{}) {
        world_.machines.erase({a.role, who_});
    } else {
        world_.machines[{a.role, who_}] = {a.terms, a.score, height_};
    }
}

// --- profiling -----------------------------------------------------------------------------------------------

void Model::advance_profiles(const TaskId& id) {
    // PRF-4
    Profiling& profiling = at(id).profiling.value();
    const auto any = [&](ProfileStatus status) {
        return std::any_of(profiling.profilers.begin(), profiling.profilers.end(), [&](const Profiler& profiler) {
            return profiler.status == status;
        });
    };
    if (profiling.phase == ProfilingPhase::kCommit && !any(ProfileStatus::kDue)) {
        profiling.phase = ProfilingPhase::kPublish;
        set_task_deadline(id, height_ + params_.publish_blocks);
    }
    if (profiling.phase == ProfilingPhase::kPublish && !any(ProfileStatus::kCommitted)) {
        profiling.phase = ProfilingPhase::kChallenge;
        set_task_deadline(id, height_ + report_challenge_window(at(id).spec));
    }
}

namespace {

Profiler& profiler_of(Task& task, const AccountId& account) {
    auto& all = task.profiling.value().profilers;
    return *std::find_if(all.begin(), all.end(), [&](const Profiler& p) { return p.account == account; });
}

}  // namespace

void Model::act(const contracts::CommitProfile& a) {
    Profiler& profiler = profiler_of(at(a.task), who_);
    profiler.status = ProfileStatus::kCommitted;
    profiler.commitment = a.commitment;
    if (auto& secret = at(a.task).secret; secret && secret->awaited.erase(who_) != 0 && secret->awaited.empty()) {
        ++seen_["profile committed without the key"];
        begin_to_profile(a.task);
    }
    advance_profiles(a.task);
}

void Model::act(const contracts::PublishProfile& a) {
    Profiler& profiler = profiler_of(at(a.task), who_);
    profiler.status = ProfileStatus::kStanding;
    profiler.report = a.report;
    advance_profiles(a.task);
}

void Model::act(const contracts::ChallengeProfile& a) {
    // PRF-5
    const Task& task = at(a.task);
    const contracts::ProfileReport& report = profiler_of(at(a.task), a.profiler).report.value();
    std::optional<dispute::Claim> claim;
    if (!contracts::is_measured(a.part)) {
        const bool start = a.part == contracts::ProfilePart::kStart;
        const std::uint32_t segment = start ? 0 : std::max(1U, a.segment);
        claim = dispute::Claim{};
        claim->program = task.spec.program;
        claim->dataset_root = task.spec.dataset_root;
        claim->seed = task.spec.seed;
        claim->initialisation = start;
        claim->first_step = steps_before(task.spec, segment);
        claim->step_count = steps_in(task, segment);
        claim->before = start          ? task.spec.program.initial_root
                        : segment == 1 ? report.start_root
                                       : report.segments[segment - 2].native_root;
        claim->after = start ? report.start_root : report.segments[segment - 1].replayed_root;
        if (a.part == contracts::ProfilePart::kReference) {
            claim->seed = task.profiling->reference_seed;
            claim->after = report.reference_root;
        }
    }
    Dispute dispute;
    dispute.task = a.task;
    dispute.segment = a.segment;
    dispute.responder = a.profiler;
    dispute.role = a.role;
    dispute.profile = contracts::DisputedProfile{a.profiler, a.part};
    open(contracts::dispute_id(a.task, a.segment, who_, *dispute.profile), dispute, claim);
}

}  // namespace assay::model
