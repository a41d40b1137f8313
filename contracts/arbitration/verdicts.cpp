// SPDX-License-Identifier: Apache-2.0
#include <contracts/arbitration/arbitration.hpp>
#include <contracts/arbitration/ending.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/params/work.hpp>

/// Disputes over verifiers' verdicts (DSP-41 and on).
namespace assay::contracts {
namespace {

/// A forced verdict has another probe root once it is disclosed, and nothing else.
DisputedVerdict subject_of(const Assignment& assignment, VerdictPart part) {
    const bool is_second = part == VerdictPart::kProbe && assignment.forced == true;
    return {.verifier = assignment.verifier, .is_second = is_second, .part = part};
}

/// DSP-42: from the first challenge on.
std::uint64_t secret_blocks(const Params& params, const TaskSpec& spec) { return challenge_span(params, spec) / 2; }

/// VER-15: whether the challenger of a disclosed verdict had found its true result, by its seal: it was late for the
/// forced one.
bool means_forced_result(
    const Assignment& assignment, const AccountId& sender, const ChallengeVerdict& action
) noexcept {
    const DisputedVerdict first{.verifier = action.verifier, .is_second = false, .part = VerdictPart::kProbe};
    return assignment.probe_root &&
           action.seal ==
               challenge_seal(dispute_id(action.task, action.segment, sender, first), *assignment.probe_root);
}

}  // namespace

Result<dispute::Claim, TxError> make_distance_claim(
    const TaskSpec& spec, const Measured& measured, const std::optional<MeasuredRoots>& roots
) {
    // DSP-45
    const std::uint32_t tensors = spec.program.state_tensors;
    const auto root = roots ? dispute::measured_root(tensors, measured.states, *roots) : std::nullopt;
    if (!root) {
        return Unexpected{TxError::kNotMeasured};
    }
    dispute::Claim claim = base_claim(spec, 0);
    claim.program.state_tensors = 1;
    claim.program.init_root = spec.distance.value().root;
    claim.program.init_nodes = spec.distance.value().nodes;
    claim.program.initial_tensors = dispute::measured_tensors(tensors);
    claim.program.initial_root = *root;
    claim.seed = measured.seed;
    claim.before = *root;
    claim.after = dispute::measurement_root(measured.measurement);
    return claim;
}

Result<dispute::Claim, TxError> make_verdict_claim(
    const StateView& view, const Task& task, const Assignment& assignment, VerdictPart part,
    const std::optional<MeasuredRoots>& roots
) {
    dispute::Claim claim = make_claim(view, task, assignment.segment);
    if (part == VerdictPart::kMeasurement && assignment.measurement) {
        const Measured measured{
            .states = {claim.before, assignment.end_root, claim.after},
            .measurement = *assignment.measurement,
            .seed = task.tolerance.value().sketch_seed};
        return make_distance_claim(task.spec, measured, roots);
    }
    if (roots) {
        return Unexpected{TxError::kNotMeasured};
    }
    claim.diverges = false;
    if (part == VerdictPart::kProbe && assignment.probe_root) {
        claim.step_count = assignment.probe;
        claim.after = *assignment.probe_root;
        return claim;
    }
    if (part == VerdictPart::kEnd && !is_exact(task, assignment.segment)) {
        claim.step_count = assignment.diverged_after.value_or(claim.step_count);
        claim.diverges = assignment.diverged_after.has_value();
        claim.after = assignment.end_root;
        return claim;
    }
    return Unexpected{part == VerdictPart::kProbe ? TxError::kNotPublished : TxError::kPartUnknown};  // DSP-41, DSP-45
}

Height disclosed_from(const Params& params, const TaskSpec& spec, const Dispute& dispute) noexcept {
    return Height{dispute.opened_at.value + secret_blocks(params, spec)};
}

std::vector<Dispute> disputes_of(const StateView& view, const TaskId& task, const Assignment& assignment) {
    std::vector<Dispute> found;
    for (const NotedDispute& open : get_bookkeeping(view, task).disputes) {
        if (open.responder != assignment.verifier) {
            continue;
        }
        Dispute dispute = find_dispute(view, open.id).value();
        const bool matches = dispute.segment == assignment.segment && dispute.verdict() &&
                             dispute.verdict()->verifier == assignment.verifier;
        if (matches) {
            found.push_back(std::move(dispute));
        }
    }
    return found;
}

Result<void, TxError> check_stateless(const ChallengeVerdict& action) noexcept {
    if (action.role == Role::kValidator) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return check_segment(action.segment);
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ChallengeVerdict& action
) noexcept {
    TRY_ASSIGN(const Task task, require_task(view, action.task));
    TRY(require_state(task, TaskState::kVerifying, TaskState::kChallenge));
    TRY(require_open_window(view, task));
    TRY_ASSIGN(const std::size_t index, find_assignment(task, action.segment, action.verifier));
    const Assignment& assignment = task.assignments[index];
    if (!is_published(assignment)) {
        return Unexpected{TxError::kNotPublished};  // DSP-41
    }
    if (sender == action.verifier) {
        return Unexpected{TxError::kNotParty};  // DSP-31
    }
    if (is_released(assignment)) {
        return Unexpected{TxError::kPhase};  // VER-22
    }
    if (find_dispute(view, dispute_id(task.id, action.segment, sender, subject_of(assignment, action.part)))) {
        return Unexpected{TxError::kAlreadyDisputed};  // DSP-38
    }
    const bool is_second = subject_of(assignment, action.part).is_second;
    if (is_second && (!task.second_window || means_forced_result(assignment, sender, action))) {
        return Unexpected{TxError::kPhase};  // VER-15
    }
    TRY(make_verdict_claim(view, task, assignment, action.part, action.roots));
    Dispute opened;
    opened.segment = action.segment;
    opened.challenger = sender;
    opened.challenger_role = action.role;
    opened.subject = ChallengedVerdict{subject_of(assignment, action.part), action.seal};
    TRY(check_place(view, params, task, opened));
    return check_bond(view, params, task, opened);
}

Result<void, TxError> execute(Context& context, const ChallengeVerdict& action) noexcept {
    // DSP-41
    Task task = find_task(context.state, action.task).value();
    const std::size_t index = find_assignment(task, action.segment, action.verifier).value();
    const Assignment& assignment = task.assignments[index];
    Dispute dispute;
    const DisputedVerdict subject = subject_of(assignment, action.part);
    dispute.subject = ChallengedVerdict{subject, action.seal};
    dispute.id = dispute_id(task.id, action.segment, context.actor, subject);
    dispute.segment = action.segment;
    dispute.responder = action.verifier;
    dispute.challenger_role = action.role;
    dispute.claim = make_verdict_claim(context.state, task, assignment, action.part, action.roots).value();
    // DSP-42: what no lottery can make wrong need not wait to be disclosed.
    const bool waits = action.part == VerdictPart::kProbe && !assignment.forced.has_value();
    if (waits) {
        dispute.phase = AwaitingDisclosure{};
    }
    const std::uint64_t secret = secret_blocks(context.params, task.spec) + context.params.disclose_blocks;
    record(context, task, history::VerdictChallenged{dispute.id, action.segment, action.verifier});
    enter_dispute(
        context, task, std::move(dispute), waits ? std::optional(context.height_after(secret)) : std::nullopt
    );
    set_task(context.state, task);
    return {};
}

}  // namespace assay::contracts
