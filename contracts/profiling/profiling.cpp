// SPDX-License-Identifier: Apache-2.0
#include <contracts/profiling/profiling.hpp>

#include <algorithm>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/arbitration/ending.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/lifecycle/keys.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/params/work.hpp>
#include <contracts/lifecycle/lineage.hpp>
#include <contracts/tasks/tasks.hpp>
#include <contracts/lifecycle/waiting.hpp>

namespace assay::contracts {
namespace {

Result<Task, TxError> require_profiling(const StateView& view, const TaskId& id) {
    TRY_ASSIGN(Task task, require_task(view, id));
    TRY(require_state(task, TaskState::kProfiling, TaskState::kProfiling));
    return task;
}

bool has_any(const Task& task, ProfileStatus status) {
    const auto& profiles = task.tolerance.value().profiles;
    return std::any_of(profiles.begin(), profiles.end(), [&](const Profile& profile) {
        return profile.status == status;
    });
}

void miss_profile(Context& context, Task& task, Profile& profile) {
    // PRF-4
    const Penalty penalty{
        .role = Role::kVerifier,
        .from = profile.profiler,
        .amount = tenth_of(profile.bond),
        .reason = Reason::kMissedVerdict};
    slash(context, task, penalty);
    unlock_stake(context, Role::kVerifier, profile.profiler, subtract(profile.bond, penalty.amount));
    profile.bond = {};
    profile.status = ProfileStatus::kMissed;
}

std::size_t count_of(const Task& task, ProfileStatus status) {
    const auto& profiles = task.tolerance.value().profiles;
    return static_cast<std::size_t>(std::count_if(profiles.begin(), profiles.end(), [&](const Profile& profile) {
        return profile.status == status;
    }));
}

/// PRF-4: so few have reported that it may have been impossible; nobody is fined. Stores the task.
void refuse_unprofiled(Context& context, Task& task) {
    for (Profile& profile : task.tolerance.value().profiles) {
        profile.status = profile.status == ProfileStatus::kDue ? ProfileStatus::kMissed : profile.status;
    }
    task.tolerance->phase = ProfilingPhase::kOver;
    record(context, task, history::ProfilingEnded{ProfilingOutcome::kTooFew, {}, {}});
    end_without_fraud(context, task, TaskState::kRefused);
}

/// PRF-6, PRF-7: the threshold, or the end of the task. Stores the task.
void end_profiling(Context& context, Task& task) {
    Tolerance& tolerance = task.tolerance.value();
    std::vector<ProfileReport> reports;
    for (std::uint32_t i = 0; i < tolerance.profiles.size(); ++i) {
        if (tolerance.profiles[i].status == ProfileStatus::kStanding) {
            reports.push_back(find_profile(context.state, task.id, i).value());
        }
    }
    tolerance.phase = ProfilingPhase::kOver;
    const auto bounds = bounds_from(reports, context.params.profilers_min, threshold_rule(context.params));
    if (!bounds) {
        record(context, task, history::ProfilingEnded{bounds.error(), {}, {}});
        end_without_fraud(context, task, TaskState::kRefused);
        return;
    }
    tolerance.threshold = bounds->threshold;
    tolerance.reference = bounds->reference;
    record(context, task, history::ProfilingEnded{ProfilingOutcome::kBounded, bounds->threshold, bounds->reference});
    return_profile_bonds(context, task);
    open_task(context, task);
}

/// After each change of a profile: whether the phase is over. Stores the task.
void advance_profiling(Context& context, Task& task) {
    Tolerance& tolerance = task.tolerance.value();
    if (tolerance.phase == ProfilingPhase::kCommit && !has_any(task, ProfileStatus::kDue)) {
        tolerance.phase = ProfilingPhase::kPublish;
        set_task_deadline(context, task, context.height_after(context.params.publish_blocks));
    }
    if (tolerance.phase == ProfilingPhase::kPublish && !has_any(task, ProfileStatus::kCommitted)) {
        tolerance.phase = ProfilingPhase::kChallenge;
        set_task_deadline(context, task, context.height_after(report_challenge_span(context.params, task.spec)));
    }
    set_task(context.state, task);
}

bool is_report(const ProfileReport& report) {
    return dispute::is_possible(report.reference) && !report.segments.empty() &&
           report.segments.size() <= kMaxProfileSegments &&
           std::all_of(report.segments.begin(), report.segments.end(), [](const ProfileSegment& segment) {
               return dispute::is_possible(segment.measurement) && is_location(segment.location);
           });
}

/// PRV-12: whether only who made the report has the state that this part is about.
bool is_of_native(ProfilePart part, std::uint32_t segment) {
    return part == ProfilePart::kMeasurement || (part == ProfilePart::kReplayed && segment > 1);
}

}  // namespace

void begin_reports(Context& context, Task& task) {
    if (has_any(task, ProfileStatus::kDue)) {
        set_task_deadline(context, task, context.height_after(report_span(context.params, task.spec)));
    }
}

void lapse_unread(Context& context, Task& task) {
    // PRV-11
    return_profile_bonds(context, task);
    task.tolerance = Tolerance{};
    task.secrecy = Secrecy{};
    const Height until{task.submitted_at.value + context.params.draw_blocks};  // PRF-1
    enter_state(context, task, TaskState::kProfiling, std::max(until, context.height_after(1)));
    pause_draw(context, task);
    set_task(context.state, task);
}

void lapse_profiling(Context& context, Task& task) {
    Tolerance& tolerance = task.tolerance.value();
    if (tolerance.phase == ProfilingPhase::kDraw) {
        lapse_drawing(context, task);  // PRF-1
        return;
    }
    if (tolerance.phase == ProfilingPhase::kChallenge) {
        end_profiling(context, task);
        return;
    }
    if (owes_keys(task)) {
        lapse_unread(context, task);
        return;
    }
    const bool in_commit_phase = tolerance.phase == ProfilingPhase::kCommit;
    if (in_commit_phase && count_of(task, ProfileStatus::kCommitted) < context.params.profilers_min) {
        refuse_unprofiled(context, task);
        return;
    }
    const auto missing = in_commit_phase ? ProfileStatus::kDue : ProfileStatus::kCommitted;
    for (Profile& profile : tolerance.profiles) {
        if (profile.status == missing) {
            miss_profile(context, task, profile);
        }
    }
    advance_profiling(context, task);
}

// --- commit --------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const CommitProfile& /*action*/) noexcept { return {}; }

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const CommitProfile& action
) noexcept {
    // PRF-4
    TRY_ASSIGN(const Task task, require_profiling(view, action.task));
    TRY_ASSIGN(const std::uint32_t place, find_profiler(task, sender));
    switch (task.tolerance->profiles[place].status) {
        case ProfileStatus::kDue:
            return {};
        case ProfileStatus::kMissed:
            return Unexpected{TxError::kPhase};
        default:
            return Unexpected{TxError::kAlreadyCommitted};
    }
}

Result<void, TxError> execute(Context& context, const CommitProfile& action) noexcept {
    Task task = find_task(context.state, action.task).value();
    Profile& profile = profile_of(task, context.actor);
    profile.status = ProfileStatus::kCommitted;
    profile.commitment = action.commitment;
    record(context, task, history::ProfileCommitted{});
    const bool waited = owes_keys(task);
    note_reader(task, context.actor);
    if (waited && !owes_keys(task)) {
        begin_reports(context, task);
    }
    advance_profiling(context, task);
    return {};
}

// --- publish -------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const PublishProfile& action) noexcept {
    if (!is_report(action.report)) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const PublishProfile& action
) noexcept {
    // PRF-3, PRF-4
    TRY_ASSIGN(const Task task, require_profiling(view, action.task));
    TRY_ASSIGN(const std::uint32_t place, find_profiler(task, sender));
    const Profile& profile = task.tolerance->profiles[place];
    const Hash256 opened = profile_commitment(task.id, sender, action.report, action.salt);
    if (profile.status != ProfileStatus::kCommitted || profile.commitment != opened) {
        return Unexpected{TxError::kNotCommitted};
    }
    if (task.tolerance->phase != ProfilingPhase::kPublish) {
        return Unexpected{TxError::kPhase};
    }
    if (action.report.segments.size() != params.profile_segments) {
        return Unexpected{TxError::kFieldOutOfRange};
    }
    if (task.spec.parent && action.report.start_root != start_root(view, task)) {
        return Unexpected{TxError::kNotParentsState};  // LIN-6
    }
    return {};
}

Result<void, TxError> execute(Context& context, const PublishProfile& action) noexcept {
    Task task = find_task(context.state, action.task).value();
    const std::uint32_t place = find_profiler(task, context.actor).value();
    task.tolerance->profiles[place].status = ProfileStatus::kStanding;
    set_profile(context.state, task.id, place, action.report);
    record(context, task, history::ProfilePublished{action.report});
    advance_profiling(context, task);
    return {};
}

// --- challenge -----------------------------------------------------------------------------------------------

Result<dispute::Claim, TxError> make_profile_claim(
    const Task& task, const ProfileReport& report, ProfilePart part, std::uint32_t segment,
    const std::optional<MeasuredRoots>& roots
) {
    const Tolerance& tolerance = task.tolerance.value();
    if (is_of_segment(part) ? segment < 1 || segment > report.segments.size() : segment != 0) {
        return Unexpected{TxError::kPartUnknown};
    }
    if (part == ProfilePart::kStart && task.spec.parent) {
        return Unexpected{TxError::kPartUnknown};  // LIN-6
    }
    if (task.secrecy && is_of_native(part, segment)) {
        return Unexpected{TxError::kPartUnknown};  // PRV-12
    }
    if (roots && !is_measured(part)) {
        return Unexpected{TxError::kNotMeasured};
    }
    const Hash256 before = segment <= 1 ? report.start_root : report.segments[segment - 2].native_root;
    if (is_measured(part)) {
        Measured measured{
            .states = {before, report.segments[0].replayed_root, report.reference_root},
            .measurement = report.reference,
            .seed = tolerance.profile_seed};
        if (part == ProfilePart::kMeasurement) {
            const ProfileSegment& measures = report.segments[segment - 1];
            measured.states = {before, measures.replayed_root, measures.native_root};
            measured.measurement = measures.measurement;
        }
        return make_distance_claim(task.spec, measured, roots);
    }
    if (part == ProfilePart::kStart) {
        dispute::Claim claim = base_claim(task.spec, 0);
        claim.after = report.start_root;
        return claim;
    }
    dispute::Claim claim = base_claim(task.spec, part == ProfilePart::kReference ? 1 : segment);
    claim.before = before;
    if (part == ProfilePart::kReference) {
        claim.seed = tolerance.reference_seed;
        claim.after = report.reference_root;
    } else {
        claim.after = report.segments[segment - 1].replayed_root;
    }
    return claim;
}

Result<void, TxError> check_stateless(const ChallengeProfile& action) noexcept {
    if (action.role == Role::kValidator || action.segment > kMaxProfileSegments) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ChallengeProfile& action
) noexcept {
    // PRF-5
    TRY_ASSIGN(const Task task, require_profiling(view, action.task));
    if (task.tolerance->phase != ProfilingPhase::kChallenge || get_bookkeeping(view, task.id).suspended) {
        return Unexpected{TxError::kPhase};
    }
    TRY_ASSIGN(const std::uint32_t place, find_profiler(task, action.profiler));
    if (task.tolerance->profiles[place].status != ProfileStatus::kStanding) {
        return Unexpected{TxError::kNotPublished};
    }
    if (sender == action.profiler) {
        return Unexpected{TxError::kNotParty};  // DSP-31
    }
    if (find_dispute(view, dispute_id(task.id, action.segment, sender, {action.profiler, action.part}))) {
        return Unexpected{TxError::kAlreadyDisputed};  // DSP-38
    }
    const ProfileReport report = find_profile(view, task.id, place).value();
    TRY(make_profile_claim(task, report, action.part, action.segment, action.roots));
    if (!has_room_for_dispute(view, params)) {
        return Unexpected{TxError::kDutiesFull};  // DTY-5
    }
    return check_free_stake(view, action.role, sender, challenger_bond(params, task_value(task.spec)));
}

Result<void, TxError> execute(Context& context, const ChallengeProfile& action) noexcept {
    Task task = find_task(context.state, action.task).value();
    const std::uint32_t place = find_profiler(task, action.profiler).value();
    const ProfileReport report = find_profile(context.state, task.id, place).value();
    Dispute dispute;
    const DisputedProfile subject{action.profiler, action.part};
    dispute.subject = subject;
    dispute.id = dispute_id(task.id, action.segment, context.actor, subject);
    dispute.segment = action.segment;
    dispute.responder = action.profiler;
    dispute.challenger_role = action.role;
    dispute.claim = make_profile_claim(task, report, action.part, action.segment, action.roots).value();
    record(context, task, history::ProfileChallenged{dispute.id, action.profiler, action.part, action.segment});
    enter_dispute(context, task, std::move(dispute));
    set_task(context.state, task);
    return {};
}

}  // namespace assay::contracts
