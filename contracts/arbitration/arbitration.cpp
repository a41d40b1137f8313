// SPDX-License-Identifier: Apache-2.0
#include <contracts/arbitration/arbitration.hpp>

#include <algorithm>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/params/work.hpp>
#include <contracts/arbitration/ending.hpp>
#include <core/dispute/evaluation.hpp>

namespace assay::contracts {
namespace {

enum class Party : std::uint8_t { kResponder, kChallenger, kEither };

/// The dispute, when it is still on and `sender` is the party that may make this move.
Result<Dispute, TxError> require_dispute(
    const StateView& view, const DisputeId& id, const AccountId& sender, Party party
) {
    auto dispute = find_dispute(view, id);
    if (!dispute) {
        return Unexpected{TxError::kDisputeUnknown};  // DSP-30
    }
    if (dispute->end()) {
        return Unexpected{TxError::kDisputeOver};  // DSP-30
    }
    if (!dispute->game() || is_answered(view, *dispute)) {
        return Unexpected{TxError::kPhase};  // DSP-42, STM-9
    }
    const bool allowed = (party != Party::kChallenger && sender == dispute->responder) ||
                         (party != Party::kResponder && sender == dispute->challenger);
    if (!allowed) {
        return Unexpected{TxError::kNotParty};  // DSP-31
    }
    return *std::move(dispute);
}

Result<void, TxError> require_round(const Dispute& dispute, std::uint32_t round) {
    if (dispute.position.rounds != round) {
        return Unexpected{TxError::kWrongRound};  // DSP-34
    }
    return {};
}

Result<dispute::Position, TxError> next_position(const Dispute& dispute, const RevealMove& action) {
    auto next = dispute::reveal(dispute.claim, dispute.position, action.children);
    if (!next) {
        return Unexpected{TxError::kIllegalMove};  // DSP-35
    }
    return *std::move(next);
}

Result<dispute::Position, TxError> next_position(const Dispute& dispute, const SelectMove& action) {
    auto next = dispute::select(dispute.claim, dispute.position, action.selection);
    if (!next) {
        return Unexpected{TxError::kIllegalMove};  // DSP-35
    }
    return *std::move(next);
}

/// What every move leaves: its record, its bytes, the mover's clock.
void note_move(Context& context, Task& task, Dispute& dispute, bool by_responder) {
    const dispute::Position& position = dispute.position;
    record(context, task, history::DisputeMoved{dispute.id, position.rounds, position.level(), by_responder});
    const std::uint32_t left = clock_left(context, task, dispute, by_responder);
    auto& game = std::get<DisputeGame>(dispute.phase);
    (by_responder ? game.responder_clock : game.challenger_clock) = left;
    game.last_move_at = context.height();
    dispute.onchain_bytes += context.tx_size_bytes;
}

void advance(Context& context, Dispute& dispute, const dispute::Position& next, bool by_responder) {
    Task task = find_task(context.state, dispute.task).value();
    note_move(context, task, dispute, by_responder);
    dispute.position = next;
    const auto& game = std::get<DisputeGame>(dispute.phase);
    const std::uint32_t clock = is_responders_turn(dispute) ? game.responder_clock : game.challenger_clock;
    set_dispute_deadline(context, dispute, context.height_after(clock));
    set_dispute(context.state, dispute);
    set_task(context.state, task);
}

}  // namespace

bool is_responders_turn(const Dispute& dispute) noexcept { return dispute.position.pending().empty(); }

dispute::Claim base_claim(const TaskSpec& spec, std::uint32_t segment) {
    dispute::Claim claim;
    claim.program = spec.program;
    claim.dataset_root = spec.dataset_root;
    claim.seed = spec.seed;
    claim.initialisation = segment == 0;
    claim.before = spec.program.initial_root;
    claim.first_step = first_step(spec, segment);
    claim.step_count = step_count(spec, segment);
    return claim;
}

Hash256 claimed_root(const StateView& view, const Task& task, std::uint32_t segment) {
    return segment == evaluation_segment(task) ? dispute::score_root(task.evaluation.value().score)
                                               : find_checkpoint(view, task.id, segment).value().state_root;
}

dispute::Claim make_evaluation_claim(const TaskSpec& spec, const Evaluation& evaluation) {
    // EVL-5
    const EvaluationCommitment& committed = spec.evaluation.value();
    const std::uint32_t tensors = spec.program.state_tensors;
    dispute::Claim claim = base_claim(spec, 0);
    claim.program.state_tensors = 1;
    claim.program.init_root = committed.graph_root;
    claim.program.init_nodes = committed.nodes;
    claim.program.initial_tensors = dispute::evaluated_tensors(tensors);
    claim.program.initial_root = dispute::evaluated_root(tensors, evaluation.tensors_root, committed.holdout);
    claim.before = claim.program.initial_root;
    claim.after = dispute::score_root(evaluation.score);
    return claim;
}

dispute::Claim make_claim(const StateView& view, const Task& task, std::uint32_t segment) {
    // DSP-37
    if (segment == evaluation_segment(task)) {
        return make_evaluation_claim(task.spec, task.evaluation.value());
    }
    dispute::Claim claim = base_claim(task.spec, segment);
    claim.after = claimed_root(view, task, segment);
    claim.step_count = step_count(task, segment);
    if (segment != 0) {
        claim.before = find_checkpoint(view, task.id, segment - 1).value().state_root;
    }
    claim.diverges = task.diverged_at && segment == segment_count(task);
    return claim;
}

void enter_dispute(Context& context, Task& task, Dispute dispute, std::optional<Height> disclosure) {
    dispute.challenger = context.actor;
    hold_lane(context, dispute, has_place(context.state, task, dispute));
    take_bond(context, task, dispute);
    Height deadline = disclosure.value_or(Height{});
    if (dispute.game()) {
        const DisputeGame game = fresh_game(context, task, dispute);
        dispute.phase = game;
        deadline = context.height_after(game.responder_clock);
    }
    store_opened(context, task, std::move(dispute), deadline);
}

void store_opened(Context& context, Task& task, Dispute dispute, Height deadline) {
    dispute.task = task.id;
    dispute.position = dispute::start_position(dispute.claim);
    dispute.opened_at = context.height();
    dispute.onchain_bytes = context.tx_size_bytes;
    set_dispute_deadline(context, dispute, deadline);
    set_dispute(context.state, dispute);
    ++task.open_disputes;
    TaskBookkeeping bookkeeping = get_bookkeeping(context.state, task.id);
    bookkeeping.disputes.push_back(note_of(dispute));
    set_bookkeeping(context.state, task.id, bookkeeping);
}

void open_dispute(Context& context, Task& task, std::uint32_t segment, Role role) {
    Dispute dispute;
    dispute.id = dispute_id(task.id, segment, context.actor);
    dispute.segment = segment;
    dispute.responder = responder_of(task, segment);
    dispute.challenger_role = role;
    dispute.claim = make_claim(context.state, task, segment);
    enter_dispute(context, task, dispute);
    record(context, task, history::DisputeOpened{dispute.id, segment});
}

// --- open ----------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const OpenDispute& action) noexcept {
    if (action.role == Role::kSolver || action.role == Role::kValidator) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return check_segment(action.segment);
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const OpenDispute& action
) noexcept {
    TRY_ASSIGN(const Task task, require_task(view, action.task));
    TRY(require_state(task, TaskState::kCompleted, TaskState::kChallenge));
    TRY(require_open_window(view, task));
    if (action.segment < first_segment(task.spec) || action.segment > last_segment(task)) {
        return Unexpected{TxError::kSegmentUnknown};  // DSP-37
    }
    if (!is_exact(task, action.segment)) {
        return Unexpected{TxError::kNotExact};  // DSP-44
    }
    if (responder_of(task, action.segment) == sender) {
        return Unexpected{TxError::kNotParty};  // DSP-31, GRP-5
    }
    if (find_dispute(view, dispute_id(task.id, action.segment, sender))) {
        return Unexpected{TxError::kAlreadyDisputed};  // DSP-38
    }
    Dispute opened;
    opened.segment = action.segment;
    opened.challenger = sender;
    opened.challenger_role = action.role;
    TRY(check_place(view, params, task, opened));
    return check_bond(view, params, task, opened);
}

Result<void, TxError> execute(Context& context, const OpenDispute& action) noexcept {
    Task task = find_task(context.state, action.task).value();
    open_dispute(context, task, action.segment, action.role);
    set_task(context.state, task);
    return {};
}

// --- reveal --------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const RevealMove& action) noexcept {
    if (action.children.empty() || action.children.size() > dispute::kMaxChildren) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const RevealMove& action
) noexcept {
    TRY_ASSIGN(const Dispute dispute, require_dispute(view, action.dispute, sender, Party::kResponder));
    TRY(require_round(dispute, action.round));
    TRY(next_position(dispute, action));
    return {};
}

Result<void, TxError> execute(Context& context, const RevealMove& action) noexcept {
    Dispute dispute = find_dispute(context.state, action.dispute).value();
    const auto next = next_position(dispute, action);
    if (!next) {
        return Unexpected{next.error()};
    }
    advance(context, dispute, *next, true);
    return {};
}

// --- select --------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const SelectMove& action) noexcept {
    if (action.selection.child > dispute::kMaxChildren) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const SelectMove& action
) noexcept {
    TRY_ASSIGN(const Dispute dispute, require_dispute(view, action.dispute, sender, Party::kChallenger));
    TRY(require_round(dispute, action.round));
    TRY(next_position(dispute, action));
    return {};
}

Result<void, TxError> execute(Context& context, const SelectMove& action) noexcept {
    Dispute dispute = find_dispute(context.state, action.dispute).value();
    const auto next = next_position(dispute, action);
    if (!next) {
        return Unexpected{next.error()};
    }
    advance(context, dispute, *next, false);
    return {};
}

// --- prove ---------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const ProveMove& /*action*/) noexcept { return {}; }

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const ProveMove& action
) noexcept {
    TRY_ASSIGN(const Dispute dispute, require_dispute(view, action.dispute, sender, Party::kEither));
    // DSP-27: a divergence is shown as soon as one step is in question.
    const bool shows_divergence = std::holds_alternative<dispute::DivergenceProof>(action.proof);
    if (shows_divergence ? dispute.position.step() == nullptr : !dispute.position.is_at_proof()) {
        return Unexpected{TxError::kIllegalMove};  // DSP-35
    }
    return {};
}

Result<dispute::Ruling, TxError> judge_proof(const StateView& view, const ProveMove& action) noexcept {
    const Dispute dispute = find_dispute(view, action.dispute).value();
    const auto ruling = dispute::judge(dispute.claim, dispute.position, action.proof);
    if (!ruling) {
        return Unexpected{TxError::kProofInvalid};  // DSP-36
    }
    return *ruling;
}

Result<void, TxError> check_costly(const StateView& view, const ProveMove& action) noexcept {
    TRY(judge_proof(view, action));
    return {};
}

Result<void, TxError> execute(Context& context, const ProveMove& action) noexcept {
    ++context.judged_proofs;
    TRY_ASSIGN(const dispute::Ruling ruling, judge_proof(context.state, action));
    Dispute dispute = find_dispute(context.state, action.dispute).value();
    Task task = find_task(context.state, dispute.task).value();
    note_move(context, task, dispute, context.actor == dispute.responder);
    if (ruling == dispute::Ruling::kClaimRefuted) {
        refute_claim(context, task, std::move(dispute), Reason::kLostDispute);
    } else {
        uphold_claim(context, task, std::move(dispute), Reason::kFalseAccusation);
    }
    return {};
}

}  // namespace assay::contracts
