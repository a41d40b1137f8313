// SPDX-License-Identifier: Apache-2.0
#include <contracts/verification/verification.hpp>

#include <algorithm>
#include <set>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/availability/availability.hpp>
#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/lifecycle/keys.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/params/work.hpp>
#include <contracts/lifecycle/waiting.hpp>

namespace assay::contracts {
namespace {

/// VER-4: what publication waits for, before the lottery.
bool in_commit_phase(const Task& task) {
    return std::any_of(task.assignments.begin(), task.assignments.end(), [](const Assignment& assignment) {
        return assignment.status == VerdictStatus::kDue;
    });
}

bool awaits_publication(const Task& task) {
    return std::any_of(task.assignments.begin(), task.assignments.end(), [](const Assignment& assignment) {
        return assignment.status == VerdictStatus::kCommitted;
    });
}

/// After each change of an assignment: whether the phase is over.
void advance_phase(Context& context, Task& task, bool was_commit_phase) {
    if (in_commit_phase(task)) {
        return;
    }
    if (!awaits_publication(task)) {
        if (owes_keys(task)) {
            return;  // PRV-4: watchers have to be able to read before the window opens
        }
        open_window(context, task);
    } else if (was_commit_phase) {
        // VER-10
        await_draw(context, task);
        restart_deadline(context, task, Height{});
    }
}

bool is_rejection(const StateView& view, const Task& task, const PublishVerdict& action) {
    if (!is_exact(task, action.segment)) {
        return !is_within_threshold(task, action.verdict);
    }
    return claimed_root(view, task, action.segment) != action.verdict.end_root;
}

/// VER-9, VER-17, CHK-3: whether the verdict has the parts that its assignment asks for.
Result<void, TxError> check_parts(
    const Task& task, const Assignment& assignment, const Verdict& verdict, bool rejects
) {
    if (!is_report_on(task.spec.checks, verdict.failed_checks)) {
        return Unexpected{TxError::kChecksMismatch};
    }
    const bool exact = is_exact(task, assignment.segment);
    const bool measured = verdict.measurement.has_value();
    const bool diverged = verdict.diverged_after.has_value();
    if (exact ? measured || diverged : measured == diverged) {
        return Unexpected{TxError::kMeasurementMismatch};
    }
    if (diverged && (*verdict.diverged_after == 0 || *verdict.diverged_after > step_count(task, assignment.segment))) {
        return Unexpected{TxError::kMeasurementMismatch};
    }
    if (verdict.probe_root.has_value() != (assignment.probe != 0 && !(exact ? rejects : diverged))) {
        return Unexpected{TxError::kProbeMismatch};
    }
    return {};
}

/// AVL-8: whether another verifier of the segment has committed.
bool is_served_to_another(const Task& task, const Assignment& assignment) {
    return std::any_of(task.assignments.begin(), task.assignments.end(), [&](const Assignment& other) {
        return other.segment == assignment.segment && other.status == VerdictStatus::kCommitted;
    });
}

/// AVL-8: whose fault it was a committee will say; a tenth of the bond stays locked until then.
void hold_tenth(Context& context, Assignment& assignment) {
    const Amount held = tenth_of(assignment.bond);
    assignment.bond = subtract(assignment.bond, held);
    return_assignment(context, assignment);
    assignment.bond = held;
    assignment.status = VerdictStatus::kMissed;
}

/// AVL-8: whether what a verdict needs was served cannot be seen; so both lose as much, a tenth at most.
void share_miss(Context& context, Task& task, Assignment& assignment) {
    const AccountId responder = responder_of(task, assignment.segment);
    Amount& locked = bond_of(task, responder);
    const Penalty penalty{
        .role = Role::kSolver,
        .from = responder,
        .amount = std::min(tenth_of(assignment.bond), locked),
        .reason = Reason::kUnserved};
    charge_miss(context, task, assignment, penalty.amount);
    locked = subtract(locked, penalty.amount);
    slash(context, task, penalty);
}

std::vector<AccountId> watchers_of(const Task& task) {
    std::vector<AccountId> out;
    for (const Assignment& assignment : task.assignments) {
        out.insert(out.end(), assignment.watchers.begin(), assignment.watchers.end());
    }
    return out;
}

/// VER-17: a replay that diverged is shown by its end root's state. So nobody says so of a state that is finite.
Result<void, TxError> check_divergence(const Task& task, const PublishVerdict& action) {
    if (!action.verdict.diverged_after) {
        return action.divergence ? Result<void, TxError>(Unexpected{TxError::kMeasurementMismatch})
                                 : Result<void, TxError>();
    }
    if (!action.divergence ||
        !dispute::shows_divergence(*action.divergence, action.verdict.end_root, task.spec.program.state_tensors)) {
        return Unexpected{TxError::kNoDivergence};
    }
    return {};
}

}  // namespace

void draw_lottery(Context& context, Task& task, const ClosedRound& round) {
    // VER-10
    record_round(context, task, round);
    task.lottery = round.seed;
    record(context, task, history::LotteryDrawn{task.lottery});
    draw_probes(task, round);
    draw_watchers(context, task, round);
    const Height until = await_keys(context, task, watchers_of(task), context.params.publish_blocks);  // PRV-4
    set_task_deadline(context, task, std::max(until, context.height_after(context.params.publish_blocks)));
    set_task(context.state, task);
}

void return_tenths(Context& context, Task& task) {
    for (Assignment& assignment : task.assignments) {
        if (assignment.status == VerdictStatus::kMissed) {
            return_assignment(context, assignment);
        }
    }
}

void miss(Context& context, Task& task, Assignment& assignment) {
    charge_miss(context, task, assignment, tenth_of(assignment.bond));  // VER-5
}

// --- commit --------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const CommitVerdict& action) noexcept { return check_segment(action.segment); }

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const CommitVerdict& action
) noexcept {
    TRY_ASSIGN(const Task task, require_task(view, action.task));
    TRY(require_state(task, TaskState::kVerifying, TaskState::kVerifying));
    TRY_ASSIGN(const std::size_t index, find_assignment(task, action.segment, sender));
    switch (task.assignments[index].status) {
        case VerdictStatus::kDue:
            return {};
        case VerdictStatus::kMissed:
            return Unexpected{TxError::kPhase};  // VER-3
        default:
            return Unexpected{TxError::kAlreadyCommitted};  // VER-3
    }
}

Result<void, TxError> execute(Context& context, const CommitVerdict& action) noexcept {
    // VER-3
    Task task = find_task(context.state, action.task).value();
    Assignment& assignment = task.assignments[find_assignment(task, action.segment, context.actor).value()];
    assignment.status = VerdictStatus::kCommitted;
    assignment.commitment = action.commitment;
    record(context, task, history::VerdictCommitted{action.segment});
    const bool waited = owes_keys(task);
    note_reader(task, context.actor);
    if (waited && !owes_keys(task)) {
        take_keys(context, task);
    }
    advance_phase(context, task, true);
    set_task(context.state, task);
    return {};
}

// --- publish -------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const PublishVerdict& action) noexcept {
    if (action.verdict.measurement && !dispute::is_possible(*action.verdict.measurement)) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6, TOL-2
    }
    if (action.divergence && !dispute::is_well_formed(*action.divergence)) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return check_segment(action.segment);
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const PublishVerdict& action
) noexcept {
    // VER-4
    TRY_ASSIGN(const Task task, require_task(view, action.task));
    TRY(require_state(task, TaskState::kVerifying, TaskState::kVerifying));
    TRY_ASSIGN(const std::size_t index, find_assignment(task, action.segment, sender));
    const Assignment& assignment = task.assignments[index];
    if (assignment.status != VerdictStatus::kCommitted) {
        return Unexpected{TxError::kNotCommitted};
    }
    if (task.lottery.is_zero()) {
        return Unexpected{TxError::kPhase};
    }
    const bool rejects = is_rejection(view, task, action);
    TRY(check_parts(task, assignment, action.verdict, rejects));
    return check_divergence(task, action);
}

Result<void, TxError> execute(Context& context, const PublishVerdict& action) noexcept {
    Task task = find_task(context.state, action.task).value();
    Assignment& assignment = task.assignments[find_assignment(task, action.segment, context.actor).value()];
    const bool rejects = is_rejection(context.state, task, action);
    assignment.status = rejects ? VerdictStatus::kRejected : VerdictStatus::kAccepted;
    assignment.end_root = action.verdict.end_root;
    assignment.probe_root = action.verdict.probe_root;
    assignment.measurement = action.verdict.measurement;
    assignment.diverged_after = action.verdict.diverged_after;
    assignment.failed_checks = action.verdict.failed_checks;  // CHK-4: nothing else depends on it
    record(context, task, history::VerdictPublished{action.segment, action.verdict, !rejects});
    const bool disputes = rejects && is_exact(task, action.segment);
    if (disputes && !find_dispute(context.state, dispute_id(task.id, action.segment, context.actor))) {
        open_dispute(context, task, action.segment, Role::kVerifier);  // VER-6
    }
    advance_phase(context, task, false);
    set_task(context.state, task);
    return {};
}

void take_keys(Context& context, Task& task) {
    // PRV-4
    if (in_commit_phase(task)) {
        restart_deadline(context, task, context.height_after(commit_span(context.params, task.spec)));
    } else {
        advance_phase(context, task, false);
    }
}

void lapse_phase(Context& context, Task& task) {
    if (owes_keys(task)) {
        convict(context, task, {.reason = Reason::kKeysWithheld});  // PRV-4
        return;
    }
    const bool commit_phase = in_commit_phase(task);
    const VerdictStatus missing = commit_phase ? VerdictStatus::kDue : VerdictStatus::kCommitted;
    for (Assignment& assignment : task.assignments) {
        if (assignment.status != missing) {
            continue;
        }
        // AVL-8
        const bool has_fetched = !commit_phase || has_attested(task, assignment.verifier, assignment.segment);
        if (has_fetched) {
            miss(context, task, assignment);
        } else if (is_served_to_another(task, assignment)) {
            share_miss(context, task, assignment);
        } else {
            hold_tenth(context, assignment);
        }
    }
    advance_phase(context, task, commit_phase);
    set_task(context.state, task);
}

}  // namespace assay::contracts
