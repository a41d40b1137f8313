// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/arbitration/ending.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/params/work.hpp>
#include <contracts/verification/lottery.hpp>
#include <contracts/verification/verification.hpp>

namespace assay::contracts {
namespace {

bool awaits_disclosure(const Task& task) {
    return std::any_of(task.assignments.begin(), task.assignments.end(), is_secret);
}

/// VER-15: whether a true result that took a forced one's place has not had its window yet.
bool needs_second_window(const Task& task) {
    return !task.second_window &&
           std::any_of(task.assignments.begin(), task.assignments.end(), [](const Assignment& assignment) {
               return is_published(assignment) && assignment.forced == true;
           });
}

/// Every verdict is disclosed: what comes next. Stores the task.
void conclude(Context& context, Task& task) {
    if (needs_second_window(task)) {
        task.second_window = true;
        open_window(context, task);
        set_task(context.state, task);
    } else {
        decide(context, task);
    }
}

bool is_kept(const Params& params, const Task& task, const Assignment& assignment, const VerdictOpening& opening) {
    // VER-14, CHK-5
    const Verdict published{
        assignment.end_root, assignment.probe_root, assignment.measurement, assignment.diverged_after,
        assignment.failed_checks};
    const bool forced = is_forced(task, assignment, opening, params.forced_error_bps);
    return assignment.commitment == verdict_commitment(task.id, assignment.segment, assignment.verifier, opening) &&
           published == published_verdict(task, assignment, opening, forced) &&
           std::find(opening.marks.begin(), opening.marks.end(), opening.decoy_root) == opening.marks.end();
}

std::vector<Dispute> awaiting_disputes(const StateView& view, const Task& task, const Assignment& assignment) {
    auto disputes = disputes_of(view, task.id, assignment);
    std::erase_if(disputes, [](const Dispute& dispute) { return dispute.state() != DisputeState::kAwaiting; });
    return disputes;
}

/// VER-16: the watchers among those who challenged whose seal is of the true probe root, but none who may have seen
/// that in the disclosure before it was in a block.
std::vector<AccountId> jackpot_winners(
    const Params& params, const Task& task, const Assignment& assignment, const std::vector<Dispute>& challenges
) {
    std::vector<AccountId> winners;
    for (const Dispute& dispute : challenges) {
        const bool is_sealed = dispute.challenged()->seal == challenge_seal(dispute.id, assignment.probe_root.value());
        const bool is_early = dispute.opened_at < disclosed_from(params, task.spec, challenges.front());
        if (is_sealed && is_early && is_watcher(assignment, dispute.challenger)) {
            winners.push_back(dispute.challenger);
        }
    }
    return winners;
}

/// DSP-42: the disputes that waited for this disclosure.
void answer_challenges(
    Context& context, Task& task, const Assignment& assignment, const std::vector<Dispute>& challenges
) {
    for (const Dispute& dispute : challenges) {
        if (assignment.forced == true) {
            end_dispute_as_forced(context, task, dispute);
        } else {
            begin_game(context, task, dispute);
        }
    }
    if (assignment.forced == true) {
        pay_jackpots(context, task, jackpot_winners(context.params, task, assignment, challenges));
    }
    resume_deadline(context, task);
}

}  // namespace

Result<void, TxError> check_stateless(const DiscloseVerdict& action) noexcept {
    if (action.opening.marks.size() > kMaxMarks) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return check_segment(action.segment);
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const DiscloseVerdict& action
) noexcept {
    // VER-13
    TRY_ASSIGN(const Task task, require_task(view, action.task));
    TRY(require_state(task, TaskState::kVerifying, TaskState::kDisclosure));
    TRY_ASSIGN(const std::size_t index, find_assignment(task, action.segment, sender));
    const Assignment& assignment = task.assignments[index];
    if (!is_published(assignment)) {
        return Unexpected{TxError::kNotPublished};
    }
    if (assignment.forced) {
        return Unexpected{TxError::kAlreadyDisclosed};
    }
    if (task.state != TaskState::kDisclosure && awaiting_disputes(view, task, assignment).empty()) {
        return Unexpected{TxError::kPhase};
    }
    return {};
}

Result<void, TxError> check_owed(
    const StateView& view, const Params& params, const AccountId& sender, const DiscloseVerdict& action, Height height
) noexcept {
    TRY_ASSIGN(const Task task, require_task(view, action.task));
    TRY_ASSIGN(const std::size_t index, find_assignment(task, action.segment, sender));
    const std::vector<Dispute> waiting = awaiting_disputes(view, task, task.assignments[index]);
    if (!waiting.empty() && height < disclosed_from(params, task.spec, waiting.front())) {
        return Unexpected{TxError::kPhase};  // DSP-42
    }
    return {};
}

Result<void, TxError> execute(Context& context, const DiscloseVerdict& action) noexcept {
    TRY(check_owed(context.state, context.params, context.actor, action, context.height()));
    Task task = find_task(context.state, action.task).value();
    Assignment& assignment = task.assignments[find_assignment(task, action.segment, context.actor).value()];
    const std::vector<Dispute> waiting = awaiting_disputes(context.state, task, assignment);
    const VerdictOpening& opening = action.opening;
    if (is_kept(context.params, task, assignment, opening)) {
        assignment.forced = is_forced(task, assignment, opening, context.params.forced_error_bps);
        const Verdict found = published_verdict(task, assignment, opening, false);
        assignment.probe_root = found.probe_root;
        record(context, task, history::VerdictDisclosed{action.segment, context.actor, found, *assignment.forced});
        answer_challenges(context, task, assignment, waiting);
    } else {
        const auto first = waiting.empty() ? std::nullopt : std::optional{waiting.front()};
        refute_verdict(context, task, assignment, {VerdictStatus::kBroken, Reason::kBrokenCommitment, first});
    }
    set_task(context.state, task);
    if (task.state == TaskState::kDisclosure && !awaits_disclosure(task)) {
        conclude(context, task);
    }
    return {};
}

void end_window(Context& context, Task& task) {
    // VER-13
    if (!awaits_disclosure(task)) {
        conclude(context, task);
        return;
    }
    enter_state(context, task, TaskState::kDisclosure, context.height_after(context.params.disclose_blocks));
    set_task(context.state, task);
}

void lapse_disclosure(Context& context, Task& task) {
    // VER-5
    for (Assignment& assignment : task.assignments) {
        if (is_secret(assignment)) {
            miss(context, task, assignment);
        }
    }
    conclude(context, task);
}

}  // namespace assay::contracts
