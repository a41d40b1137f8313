// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/chain/params_rules.hpp>
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
    task.room = deposit_of(a.spec);
    task.submitted_at = height_;
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

void Model::act(const contracts::AcceptTask& a) {
    Task& task = at(a.task);
    const std::uint64_t bond = bond_of(Role::kSolver, task);
    lock(Role::kSolver, who_, bond - task.solver_bond);
    task.solver_bond = bond;
    const std::uint64_t waited = std::min<std::uint64_t>(height_ - task.submitted_at, params_.draw_blocks);
    burn_room(a.task, room_of(task.spec, waited));  // TASK-17
    enter(a.task, TaskState::kTraining, height_ + task.spec.training_blocks);
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

void Model::act(const contracts::PostCheckpoint& a) { at(a.task).checkpoints.push_back(a.state_root); }

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
    at(a.task).checkpoints.push_back(a.state_root);
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
    if (!any(VerdictStatus::kCommitted)) {
        const std::uint64_t off = flaw_ == Flaw::kDeadlineOff ? 1 : 0;
        enter(id, TaskState::kChallenge, height_ + challenge_window(task.spec) + off);
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
        dispute.responder = task.solver.value();
        dispute.role = Role::kVerifier;
        open(id, dispute, claim_of(a.task, a.segment), clock_of(task.spec));
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
                start_clocks(dispute);
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

// --- disputes ------------------------------------------------------------------------------------------------

/// DSP-46: who has a bond in the task answers with that.
void Model::take_bond(Dispute& dispute) {
    if (is_solvers(dispute)) {
        return;
    }
    Task& task = at(dispute.task);
    dispute.bond = challenge_bond(task);
    const Duty* accused = dispute.verdict ? find_duty(task, dispute.segment, dispute.verdict->verifier) : nullptr;
    if (dispute.role == Role::kVerifier && !dispute.profile && answers(task, dispute.segment, accused) != nullptr) {
        find_duty(task, dispute.segment, who_)->reserve -= dispute.bond;
    } else {
        lock(dispute.role, who_, dispute.bond);
    }
}

/// Both parties have the same time; nobody has while a verdict is not disclosed.
void Model::start_clocks(Dispute& dispute) const {
    dispute.last_move_at = height_;
    dispute.responder_clock = clock_of(world_.tasks.at(dispute.task).spec);
    dispute.challenger_clock = dispute.responder_clock;
}

/// What every dispute has. Without a claim of the model's own it takes the chain's: a distance program's (DSP-45).
void Model::open(const DisputeId& id, Dispute dispute, std::optional<dispute::Claim> claim, std::uint64_t span) {
    dispute.challenger = who_;
    dispute.lane = has_place(dispute) ? 0 : weight_of_dispute(params_);
    const bool shares = dispute.lane != 0 && is_kept_for(dispute);
    ++seen_
        [dispute.lane == 0 ? "dispute with a place"
         : shares          ? "dispute whose place is taken"
                           : "dispute without a place"];
    take_bond(dispute);
    dispute.opened_at = height_;
    if (dispute.state == DisputeState::kActive) {
        start_clocks(dispute);
    }
    dispute.bytes = size_;
    const auto chains = chain_->games.find(id);
    if (chains == chain_->games.end()) {
        fail("the chain has not opened a dispute");
        return;
    }
    if (claim && codec::encode(*claim) != codec::encode(chains->second.claim)) {
        fail("a dispute is over another claim than it should be");
    }
    const dispute::Claim& played = chains->second.claim;
    games_[id] = {played, dispute::start_position(played)};
    dispute.level = games_[id].position.level();
    const TaskId task = dispute.task;
    world_.disputes[id] = std::move(dispute);
    set_deadline({contracts::DueKind::kDispute, Hash256{id.data}, {}}, world_.disputes.at(id).deadline, height_ + span);
    at(task).disputes.push_back(id);
}

void Model::act(const contracts::OpenDispute& a) {
    Dispute dispute;
    dispute.task = a.task;
    dispute.segment = a.segment;
    dispute.responder = at(a.task).solver.value();
    dispute.role = a.role;
    open(
        contracts::dispute_id(a.task, a.segment, who_), dispute, claim_of(a.task, a.segment), clock_of(at(a.task).spec)
    );
}

void Model::act(const contracts::ChallengeVerdict& a) {
    const Duty& duty = *find_duty(at(a.task), a.segment, a.verifier);
    const bool probe = a.part == contracts::VerdictPart::kProbe;
    Dispute dispute;
    dispute.task = a.task;
    dispute.segment = a.segment;
    dispute.responder = a.verifier;
    dispute.role = a.role;
    dispute.verdict = contracts::DisputedVerdict{a.verifier, probe && duty.forced == true, a.part};
    const bool waits = probe && !duty.forced;  // DSP-42
    dispute.state = waits ? DisputeState::kAwaiting : DisputeState::kActive;
    dispute.seal = a.seal;
    open(
        contracts::dispute_id(a.task, a.segment, who_, dispute.verdict), dispute, verdict_claim(a.task, duty, a.part),
        waits ? challenge_window(at(a.task).spec) / 2 + params_.disclose_blocks : clock_of(at(a.task).spec)
    );
}

/// DSP-33
void Model::note_move(Dispute& dispute, bool by_responder) {
    std::uint64_t& clock = by_responder ? dispute.responder_clock : dispute.challenger_clock;
    const std::uint64_t used = height_ - dispute.last_move_at;
    const std::uint64_t least = params_.dispute_extension_blocks + delay_of(at(dispute.task).spec) / 8;  // WRK-5
    clock = std::max<std::uint64_t>(clock > used ? clock - used : 0, least);
    dispute.bytes += size_;
    dispute.last_move_at = height_;
}

void Model::turn(const DisputeId& id, const dispute::Position& next, bool by_responder) {
    Dispute& dispute = world_.disputes.at(id);
    note_move(dispute, by_responder);
    games_.at(id).position = next;
    dispute.rounds = next.rounds;
    dispute.level = next.level();
    dispute.responders_turn = next.pending().empty();  // DSP-32
    set_deadline(
        {contracts::DueKind::kDispute, Hash256{id.data}, {}}, dispute.deadline,
        height_ + (dispute.responders_turn ? dispute.responder_clock : dispute.challenger_clock)
    );
}

void Model::act(const contracts::RevealMove& a) {
    const Game& game = games_.at(a.dispute);
    turn(a.dispute, dispute::reveal(game.claim, game.position, a.children).value(), true);
}

void Model::act(const contracts::SelectMove& a) {
    const Game& game = games_.at(a.dispute);
    turn(a.dispute, dispute::select(game.claim, game.position, a.selection).value(), false);
}

void Model::act(const contracts::ProveMove& a) {
    const Game& game = games_.at(a.dispute);
    const bool refuted = dispute::judge(game.claim, game.position, a.proof).value() == dispute::Ruling::kClaimRefuted;
    Dispute& dispute = world_.disputes.at(a.dispute);
    note_move(dispute, who_ == dispute.responder);
    rule(a.dispute, refuted, refuted ? Reason::kLostDispute : Reason::kFalseAccusation);
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
    open(contracts::dispute_id(a.task, a.segment, who_, *dispute.profile), dispute, claim, clock_of(at(a.task).spec));
}

// --- claims --------------------------------------------------------------------------------------------------

namespace {

/// EVL-2, EVL-5: the hold-out set stands at the next power of two, with nothing between it and the state.
dispute::Claim evaluation_claim(const Task& task) {
    const contracts::EvaluationCommitment& committed = task.spec.evaluation.value();
    std::uint32_t place = 1;
    Hash256 right = committed.holdout;
    for (std::uint32_t height = 0; place < task.spec.program.state_tensors; ++height, place *= 2) {
        right = merkle::hash_children(right, merkle::empty_root(height));
    }
    dispute::Claim claim;
    claim.program = task.spec.program;
    claim.program.state_tensors = 1;
    claim.program.init_root = committed.graph_root;
    claim.program.init_nodes = committed.nodes;
    claim.program.initial_tensors = place + 1;
    claim.program.initial_root =
        dispute::state_root_from(place + 1, merkle::hash_children(task.evaluation.value().tensors_root, right));
    claim.dataset_root = task.spec.dataset_root;
    claim.seed = task.spec.seed;
    claim.initialisation = true;
    claim.before = claim.program.initial_root;
    claim.after = dispute::score_root(task.evaluation->score);
    return claim;
}

}  // namespace

std::optional<dispute::Claim> Model::claim_of(const TaskId& id, std::uint32_t segment) const {
    // DSP-37
    const Task& task = world_.tasks.at(id);
    if (is_evaluation(task, segment)) {
        return evaluation_claim(task);
    }
    dispute::Claim claim;
    claim.program = task.spec.program;
    claim.dataset_root = task.spec.dataset_root;
    claim.seed = task.spec.seed;
    claim.initialisation = segment == 0;
    claim.first_step = steps_before(task.spec, segment);
    claim.step_count = steps_in(task, segment);
    claim.before = segment == 0 ? task.spec.program.initial_root : task.checkpoints.at(segment - 1);
    claim.after = task.checkpoints.at(segment);
    claim.diverges = task.diverged_at && segment == last_of(task);
    return claim;
}

std::optional<dispute::Claim> Model::verdict_claim(const TaskId& id, const Duty& duty, contracts::VerdictPart part)
    const {
    // DSP-41, DSP-45
    if (part == contracts::VerdictPart::kMeasurement) {
        return std::nullopt;
    }
    auto claim = claim_of(id, duty.segment);
    claim->diverges = false;
    if (part == contracts::VerdictPart::kProbe) {
        claim->step_count = duty.probe;
        claim->after = duty.verdict.probe_root.value();
    } else {
        claim->step_count = duty.verdict.diverged_after.value_or(claim->step_count);
        claim->diverges = duty.verdict.diverged_after.has_value();
        claim->after = duty.verdict.end_root;
    }
    return claim;
}

}  // namespace assay::model
