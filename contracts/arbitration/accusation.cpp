// SPDX-License-Identifier: Apache-2.0
#include <contracts/arbitration/accusation.hpp>

#include <algorithm>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/arbitration/ending.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>
#include <core/crypto/keys.hpp>

namespace assay::contracts {
namespace {

bool is_signed(
    const std::string& chain_id, const AccountId& member, const dispute::Statement& statement,
    const Signature& signature
) {
    return crypto::verify_signature(member, dispute::statement_digest(chain_id, statement).view(), signature);
}

/// STM-8: the task, which `sender` and `member` train together.
Result<Task, TxError> require_fellows(
    const StateView& view, const TaskId& id, const AccountId& sender, const AccountId& member
) {
    TRY_ASSIGN(Task task, require_task(view, id));
    TRY(require_state(task, TaskState::kTraining, TaskState::kDisclosure));
    const bool are_fellows =
        task.group && task.group->is_together && is_member(task, sender) && is_member(task, member) && sender != member;
    if (!are_fellows) {
        return Unexpected{TxError::kNotTogether};
    }
    return task;
}

/// STM-4: the segment that the statement is about, which begins at a checkpoint that was posted.
Result<std::uint32_t, TxError> stated_segment(const Task& task, const dispute::Statement& statement) {
    if (statement.step >= task.spec.steps) {
        return Unexpected{TxError::kSegmentUnknown};
    }
    const auto segment = static_cast<std::uint32_t>(statement.step / task.spec.checkpoint_interval) + 1;
    if (segment > task.checkpoints) {
        return Unexpected{TxError::kSegmentUnknown};
    }
    return segment;
}

/// The claim of the segment as the task specifies it; nobody has claimed a state after it yet.
dispute::Claim segment_claim(const StateView& view, const Task& task, std::uint32_t segment) {
    dispute::Claim claim = base_claim(task.spec, segment);
    claim.before = find_checkpoint(view, task.id, segment - 1).value().state_root;
    return claim;
}

/// STM-9: whether it is the sender's turn in the dispute to answer for what it claimed or stated, and it has not
/// answered one that this one is about.
Result<void, TxError> check_answered(
    const StateView& view, const Accuse& action, const AccountId& sender, std::uint32_t segment
) {
    const auto answered = find_dispute(view, *action.answers);
    if (!answered || !answered->game() || answered->task != action.task || answered->segment != segment ||
        answered->verdict() || answered->profile() || answered->position.is_at_proof() ||
        is_answered(view, *answered)) {
        return Unexpected{TxError::kNotAnswerable};
    }
    const bool is_accused = answered->accusation() != nullptr;
    const AccountId& party = is_accused ? answered->challenger : answered->responder;
    const dispute::StatedPiece& stated = action.contradiction.stated;
    const bool is_earlier =
        !is_accused || dispute::order_of(stated.statement.step, stated.piece) <
                           dispute::order_of(answered->accusation()->step, answered->accusation()->piece);
    if (party != sender || is_responders_turn(*answered) == is_accused || !is_earlier) {
        return Unexpected{TxError::kNotAnswerable};
    }
    for (auto each = answered; each && each->accusation();) {
        if (each->responder == sender) {
            return Unexpected{TxError::kNotAnswerable};
        }
        const auto& above = each->accusation()->answers;
        each = above ? find_dispute(view, *above) : std::nullopt;
    }
    return {};
}

/// STM-11: who was the first to open what is open against the member.
std::optional<AccountId> first_accuser(const StateView& view, const Task& task, const AccountId& member) {
    for (const NotedDispute& open : get_bookkeeping(view, task.id).disputes) {
        if (open.challenger != member && open.responder != member) {
            continue;
        }
        const Dispute each = find_dispute(view, open.id).value();
        if (each.accusation() && each.challenger == member) {
            return each.responder;
        }
        if (std::holds_alternative<SolverClaim>(each.subject) && each.responder == member) {
            return each.challenger;
        }
    }
    return std::nullopt;
}

/// STM-8: whether an accusation of this member is open that answers nothing.
bool accuses_already(const StateView& view, const Task& task, const AccountId& member) {
    const auto disputes = get_bookkeeping(view, task.id).disputes;
    return std::any_of(disputes.begin(), disputes.end(), [&](const NotedDispute& open) {
        return open.responder == member && !open.is_answer && find_dispute(view, open.id).value().accusation();
    });
}

/// STM-8: an accusation that answers nothing is made while the training goes on.
Result<void, TxError> check_occasion(
    const StateView& view, const Params& params, const Task& task, const Accuse& action, const AccountId& sender,
    std::uint32_t segment
) {
    if (action.answers) {
        return check_answered(view, action, sender, segment);
    }
    TRY(require_state(task, TaskState::kTraining, TaskState::kTraining));
    if (accuses_already(view, task, sender)) {
        return Unexpected{TxError::kAlreadyDisputed};
    }
    if (bond_of(task, sender) < challenger_bond(params, task_value(task.spec))) {
        return Unexpected{TxError::kInsufficientStake};
    }
    Dispute opened;
    opened.segment = segment;
    opened.responder = sender;
    opened.challenger = action.member;
    opened.challenger_role = Role::kSolver;
    return check_place(view, params, task, opened);
}

}  // namespace

// --- accuse --------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const Accuse& action) noexcept {
    if (retag<TaskId>(action.contradiction.stated.statement.task) != action.task) {
        return Unexpected{TxError::kNotStated};
    }
    return {};
}

Result<void, TxError> check_bound(
    const std::string& chain_id, const AccountId& /*sender*/, const Accuse& action
) noexcept {
    // STM-2
    if (!is_signed(chain_id, action.member, action.contradiction.stated.statement, action.signature)) {
        return Unexpected{TxError::kNotStated};
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const Accuse& action
) noexcept {
    TRY_ASSIGN(const Task task, require_fellows(view, action.task, sender, action.member));
    TRY_ASSIGN(const std::uint32_t segment, stated_segment(task, action.contradiction.stated.statement));
    TRY(check_occasion(view, params, task, action, sender, segment));
    if (find_dispute(view, accusation_id(task.id, segment, action.member, sender, action.answers))) {
        return Unexpected{TxError::kAlreadyDisputed};  // STM-8
    }
    if (!dispute::make_accusation(segment_claim(view, task, segment), action.contradiction)) {
        return Unexpected{TxError::kNoEvidence};  // STM-4
    }
    return {};
}

Result<void, TxError> execute(Context& context, const Accuse& action) noexcept {
    Task task = find_task(context.state, action.task).value();
    const dispute::Statement& statement = action.contradiction.stated.statement;
    TRY_ASSIGN(const std::uint32_t segment, stated_segment(task, statement));
    const dispute::Claim whole = segment_claim(context.state, task, segment);
    const auto claim = dispute::make_accusation(whole, action.contradiction);
    if (!claim) {
        return Unexpected{TxError::kNoEvidence};
    }
    Dispute dispute;
    dispute.id = accusation_id(task.id, segment, action.member, context.actor, action.answers);
    dispute.segment = segment;
    dispute.responder = context.actor;
    dispute.challenger = action.member;
    dispute.challenger_role = Role::kSolver;
    dispute.subject =
        Accusation{.step = statement.step, .piece = action.contradiction.stated.piece, .answers = action.answers};
    dispute.claim = *claim ? **claim : whole;
    record(context, task, history::Accused{dispute.id, segment, context.actor, action.member, action.answers});
    // STM-9: what it answers stands still meanwhile, so that its place in the lane is free.
    hold_lane(context, dispute, action.answers.has_value());
    DisputeGame game = fresh_game(context, task, dispute);
    if (action.answers) {
        // STM-9: who answers has what is left of its clock.
        const Dispute answered = find_dispute(context.state, *action.answers).value();
        game.responder_clock = clock_left(context, task, answered, !answered.accusation());
    }
    dispute.phase = game;
    store_opened(context, task, dispute, context.height_after(game.responder_clock));
    set_task(context.state, task);
    if (!*claim) {
        uphold_claim(context, task, find_dispute(context.state, dispute.id).value(), Reason::kFalseStatement);  // STM-5
    }
    return {};
}

// --- report_equivocation -------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const ReportEquivocation& action) noexcept {
    const bool is_here = retag<TaskId>(action.one.statement.task) == action.task &&
                         retag<TaskId>(action.other.statement.task) == action.task;
    if (!is_here) {
        return Unexpected{TxError::kNotStated};
    }
    if (!dispute::check_equivocation(action.one, action.other)) {
        return Unexpected{TxError::kNoEvidence};  // STM-7
    }
    return {};
}

Result<void, TxError> check_bound(
    const std::string& chain_id, const AccountId& /*sender*/, const ReportEquivocation& action
) noexcept {
    const bool are_signed = is_signed(chain_id, action.member, action.one.statement, action.one_signature) &&
                            is_signed(chain_id, action.member, action.other.statement, action.other_signature);
    if (!are_signed) {
        return Unexpected{TxError::kNotStated};
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const ReportEquivocation& action
) noexcept {
    TRY_ASSIGN(const Task task, require_fellows(view, action.task, sender, action.member));
    if (is_culprit(task, action.member)) {
        return Unexpected{TxError::kNotTogether};  // STM-11
    }
    return {};
}

Result<void, TxError> execute(Context& context, const ReportEquivocation& action) noexcept {
    Task task = find_task(context.state, action.task).value();
    const AccountId winner = first_accuser(context.state, task, action.member).value_or(context.actor);
    convict_member(context, task, action.member, Reason::kFalseStatement, winner);
    set_task(context.state, task);
    return {};
}

}  // namespace assay::contracts
