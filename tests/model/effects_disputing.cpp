// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>
#include <set>

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

/// Disputes: how they are opened, what is moved in them, and the claims that they are about.
namespace assay::model {

using contracts::DisputeState;
using contracts::DueKind;
using contracts::Reason;

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

/// DSP-32: in how many disputes of the task `party` plays, `id` included, and over how many claims.
std::pair<std::uint64_t, std::uint64_t> Model::played_by(const AccountId& party, const Task& task, const DisputeId& id)
    const {
    std::vector<DisputeId> played{id};
    for (const DisputeId& other : task.disputes) {
        const Dispute& open = world_.disputes.at(other);
        if (other != id && (open.responder == party || open.challenger == party)) {
            played.push_back(other);
        }
    }
    std::set<Bytes> claims;
    for (const DisputeId& each : played) {
        claims.insert(codec::encode(games_.at(each).claim));
    }
    return {played.size(), claims.size()};
}

/// DSP-32: the time for what each party plays in the task, this dispute included; nobody has any while a verdict is not
/// disclosed.
void Model::start_clocks(const DisputeId& id, Dispute& dispute) const {
    const Task& task = world_.tasks.at(dispute.task);
    const auto time_of = [&](const AccountId& party, bool defends) {
        const auto [disputes, claims] = played_by(party, task, id);
        // ADR 125: it may have been misled
        const bool searches = defends && task.team && task.team->together && is_in_team(task, party);
        return clock_of(task.spec, disputes, claims, searches ? 4 : 2);
    };
    dispute.last_move_at = height_;
    dispute.responder_clock = time_of(dispute.responder, !dispute.blame);
    dispute.challenger_clock = time_of(dispute.challenger, dispute.blame.has_value());
}

/// What every dispute has. Without a claim of the model's own it takes the chain's: a distance program's (DSP-45).
void Model::open(
    const DisputeId& id, Dispute dispute, std::optional<dispute::Claim> claim, std::optional<std::uint64_t> secret
) {
    dispute.challenger = who_;
    dispute.lane = has_place(dispute) ? 0 : weight_of_dispute(params_);
    const bool shares = dispute.lane != 0 && is_kept_for(dispute);
    ++seen_
        [dispute.lane == 0 ? "dispute with a place"
         : shares          ? "dispute whose place is taken"
                           : "dispute without a place"];
    take_bond(dispute);
    dispute.opened_at = height_;
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
    if (dispute.state == DisputeState::kActive) {
        start_clocks(id, dispute);
    }
    const TaskId task = dispute.task;
    const std::uint64_t span = secret.value_or(dispute.responder_clock);
    world_.disputes[id] = std::move(dispute);
    set_deadline({DueKind::kDispute, Hash256{id.data}, {}}, world_.disputes.at(id).deadline, height_ + span);
    at(task).disputes.push_back(id);
}

void Model::act(const contracts::OpenDispute& a) {
    Dispute dispute;
    dispute.task = a.task;
    dispute.segment = a.segment;
    dispute.responder = who_answers(at(a.task), a.segment);
    dispute.role = a.role;
    open(contracts::dispute_id(a.task, a.segment, who_), dispute, claim_of(a.task, a.segment));
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
        waits ? std::optional(challenge_window(at(a.task).spec) / 2 + params_.disclose_blocks) : std::nullopt
    );
}

/// DSP-33
std::uint64_t Model::clock_left(const DisputeId& id, bool by_responder) const {
    const Dispute& dispute = world_.disputes.at(id);
    const std::uint64_t clock = by_responder ? dispute.responder_clock : dispute.challenger_clock;
    const std::uint64_t used = height_ - dispute.last_move_at;
    const Task& task = world_.tasks.at(dispute.task);
    const auto [disputes, claims] = played_by(by_responder ? dispute.responder : dispute.challenger, task, id);
    const std::uint64_t most = flaw_ == Flaw::kOneGame ? 1 : claims;
    const std::uint64_t least = params_.dispute_extension_blocks + most * (delay_of(task.spec) / 8);  // WRK-5
    return std::max<std::uint64_t>(clock > used ? clock - used : 0, least);
}

void Model::note_move(const DisputeId& id, Dispute& dispute, bool by_responder) {
    (by_responder ? dispute.responder_clock : dispute.challenger_clock) = clock_left(id, by_responder);
    dispute.bytes += size_;
    dispute.last_move_at = height_;
}

void Model::turn(const DisputeId& id, const dispute::Position& next, bool by_responder) {
    Dispute& dispute = world_.disputes.at(id);
    note_move(id, dispute, by_responder);
    games_.at(id).position = next;
    dispute.rounds = next.rounds;
    dispute.level = next.level();
    dispute.responders_turn = next.pending().empty();  // DSP-32
    set_deadline(
        {DueKind::kDispute, Hash256{id.data}, {}}, dispute.deadline,
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
    note_move(a.dispute, dispute, who_ == dispute.responder);
    rule(a.dispute, refuted, refuted ? Reason::kLostDispute : Reason::kFalseAccusation);
}

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
