// SPDX-License-Identifier: Apache-2.0
#include <tests/simulation/worker.hpp>

#include <algorithm>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/lifecycle/keys.hpp>
#include <contracts/state/slots.hpp>
#include <core/codec/borsh.hpp>
#include <verifier/roles/watch.hpp>

/// What workers do of tasks in tolerance mode only: profile, measure, and look after others who do.
namespace assay::simulation {

using contracts::ProfilePart;
using contracts::ProfileReport;
using contracts::ProfileStatus;
using contracts::ProfilingPhase;
using contracts::Task;
using contracts::VerdictPart;
using model::Way;

namespace {

constexpr std::uint64_t kProfileMs = 4'000;  ///< for a report, at most
constexpr std::uint32_t kLiedSegment = 2;    ///< whose measurement a liar overstates

bool is_waiting_for_verdicts(const Task& task) {
    return task.state == contracts::TaskState::kVerifying ||
           (task.state == contracts::TaskState::kChallenge && task.deadline.value != 0);
}

Hash256 before_profiled(const ProfileReport& report, std::uint32_t segment) {
    return segment <= 1 ? report.start_root : report.segments.at(segment - 2).native_root;
}

Measured reference_of(const ProfileReport& report) {
    return {report.start_root, report.segments.at(0).replayed_root, report.reference_root};
}

Measured segment_of(const ProfileReport& report, std::uint32_t segment) {
    const contracts::ProfileSegment& of = report.segments.at(segment - 1);
    return {before_profiled(report, segment), of.replayed_root, of.native_root};
}

std::optional<ProfileReport> report_of(const contracts::StateView& state, const Task& task, const AccountId& profiler) {
    const auto& profiles = task.tolerance->profiles;
    const auto found = std::find_if(profiles.begin(), profiles.end(), [&](const contracts::Profile& profile) {
        return profile.profiler == profiler;
    });
    return contracts::find_profile(state, task.id, static_cast<std::uint32_t>(found - profiles.begin()));
}

}  // namespace

// --- profilers -----------------------------------------------------------------------------------------------

void Worker::add_profiling(const View& view, const Task& task, Actions& out) {
    if (task.state != contracts::TaskState::kProfiling) {
        return;
    }
    const std::pair draw{task.id, task.tolerance->reference_seed};
    for (const contracts::Profile& profile : task.tolerance->profiles) {
        if (profile.profiler != id_ || contracts::owes_keys(task)) {
            continue;  // PRV-11
        }
        const Hash256 salt = secret(task.id, 5);
        if (profile.status == ProfileStatus::kDue && !reports_.contains(draw)) {
            std::uint64_t& ready = ready_at_ms_[task.id];
            ready = ready == 0 ? events_.now() + 1 + events_.below(kProfileMs) : ready;
            if (events_.now() < ready || (task.spec.parent && !has_state_of(view, *task.spec.parent))) {
                continue;
            }
            // PRF-3: each segment natively and canonically, and the reference.
            const Work work = longest_work(task.spec) * (2ULL * view.state->params().profile_segments + 1);
            if (!has_done(view, task.spec, job(Job::kReport, task.id, 0, id_), work)) {
                continue;
            }
            reports_[draw] = make_report(view, task);
        }
        if (!reports_.contains(draw)) {
            continue;
        }
        const ProfileReport& report = reports_.at(draw);
        if (profile.status == ProfileStatus::kDue) {
            out.push_back(contracts::CommitProfile{task.id, contracts::profile_commitment(task.id, id_, report, salt)});
        } else if (profile.status == ProfileStatus::kCommitted && task.tolerance->phase == ProfilingPhase::kPublish) {
            out.push_back(contracts::PublishProfile{task.id, report, salt});
        }
    }
}

Hash256 Worker::start_of(const View& view, const Task& task) {
    return task.spec.parent ? last_root(view, *task.spec.parent) : shop_.start(Way::kTruth);
}

ProfileReport Worker::make_report(const View& view, const Task& task) {
    const bool lies = kind_ == Kind::kLyingProfiler || kind_ == Kind::kFalseAccuser;
    // LIN-6: of a start that the chain knows there is nothing to lie about.
    const bool is_chains = false_part_ == ProfilePart::kStart && task.spec.parent;
    const ProfilePart lied = is_chains ? ProfilePart::kReplayed : false_part_;
    const auto is_false = [&](ProfilePart part) { return lies && part == lied; };
    const contracts::Tolerance& tolerance = *task.tolerance;
    ProfileReport report;
    report.start_root = is_false(ProfilePart::kStart) ? shop_.start(Way::kLieInInit) : start_of(view, task);
    for (std::uint32_t segment = 1; segment <= view.state->params().profile_segments; ++segment) {
        const std::uint64_t first = contracts::first_step(task.spec, segment);
        const std::uint64_t steps = contracts::step_count(task.spec, segment);
        const Hash256 before = before_profiled(report, segment);
        const bool replays = !is_false(ProfilePart::kReplayed);
        contracts::ProfileSegment& made = report.segments.emplace_back();
        made.native_root = shop_.after(hardware_, before, first, steps);
        made.replayed_root = shop_.after(replays ? Way::kTruth : Way::kLieInCommit, before, first, steps);
        made.measurement = gauge_.measure(segment_of(report, segment), tolerance.profile_seed);
        if (segment == kLiedSegment && is_false(ProfilePart::kMeasurement)) {
            made.measurement = overstated(made.measurement);
        }
        const bool late = events_.chance(15);
        bulletin_.natives[{task.id, id_, segment}] = events_.now() + (late ? events_.below(6'000) : 0);
    }
    const std::uint64_t seed = tolerance.reference_seed + (is_false(ProfilePart::kReference) ? 1 : 0);
    report.reference_root = gauge_.reference(seed, report.start_root, contracts::step_count(task.spec, 1));
    report.reference = gauge_.measure(reference_of(report), tolerance.profile_seed);
    if (is_false(ProfilePart::kReferenceMeasurement)) {
        report.reference = overstated(report.reference);
    }
    if (kind_ == Kind::kLazyVerifier) {
        // What costs nothing to say.
        report.reference_root = model::mix(report.start_root, id_, 6);
        for (contracts::ProfileSegment& made : report.segments) {
            made.replayed_root = made.native_root;
            made.measurement = {};
        }
    }
    return report;
}

// --- who looks after profilers -------------------------------------------------------------------------------

bool Worker::has_natives(const contracts::TaskId& task, const AccountId& profiler, std::size_t count) const {
    for (std::uint32_t segment = 1; segment <= count; ++segment) {
        const auto native = bulletin_.natives.find({task, profiler, segment});
        if (native == bulletin_.natives.end() || native->second > events_.now()) {
            return false;
        }
    }
    return true;
}

std::optional<contracts::ChallengeProfile> Worker::find_fault(
    const View& view, const Task& task, const AccountId& profiler, const ProfileReport& report
) {
    const contracts::Tolerance& tolerance = *task.tolerance;
    contracts::ChallengeProfile fault{task.id, profiler, role(), ProfilePart::kStart, 0, std::nullopt};
    const Hash256 start = start_of(view, task);
    if (report.start_root != start) {
        return fault;
    }
    fault.part = ProfilePart::kReference;
    if (report.reference_root !=
        gauge_.reference(tolerance.reference_seed, start, contracts::step_count(task.spec, 1))) {
        return fault;
    }
    // PRV-12: of a private task all but the replay of segment 1 is its profiler's own.
    const std::size_t checked = task.secrecy ? 1 : report.segments.size();
    for (fault.segment = 1; fault.segment <= checked; ++fault.segment) {
        const Measured states = segment_of(report, fault.segment);
        const Hash256 replayed = shop_.after(
            Way::kTruth, states[0], contracts::first_step(task.spec, fault.segment),
            contracts::step_count(task.spec, fault.segment)
        );
        fault.part = ProfilePart::kReplayed;
        if (replayed != states[1]) {
            return fault;
        }
        if (task.secrecy) {
            continue;
        }
        fault.part = ProfilePart::kMeasurement;
        fault.roots = gauge_.roots_of(states);
        if (gauge_.measure(states, tolerance.profile_seed) != report.segments[fault.segment - 1].measurement) {
            return fault;
        }
        fault.roots.reset();
    }
    fault.part = ProfilePart::kReferenceMeasurement;
    fault.segment = 0;
    fault.roots = gauge_.roots_of(reference_of(report));
    return gauge_.measure(reference_of(report), tolerance.profile_seed) != report.reference ? std::optional(fault)
                                                                                            : std::nullopt;
}

void Worker::add_profile_watching(const View& view, const Task& task, Actions& out) {
    const bool is_time = task.state == contracts::TaskState::kProfiling &&
                         task.tolerance->phase == ProfilingPhase::kChallenge && task.deadline.value != 0;
    if (!is_time || (role() != Role::kVerifier && role() != Role::kWhistleblower)) {
        return;
    }
    for (const contracts::Profile& profile : task.tolerance->profiles) {
        if (profile.status != ProfileStatus::kStanding || profile.profiler == id_) {
            continue;
        }
        Check& check = checks_[{task.id, profile.profiler}];
        const ProfileReport report = report_of(*view.state, task, profile.profiler).value();
        // Its parts are replayed at once, each on a machine of its own.
        const std::size_t natives = task.secrecy ? 0 : report.segments.size();
        if (!check.is_done && has_natives(task.id, profile.profiler, natives) &&
            has_done(view, task.spec, job(Job::kCheck, task.id, 0, profile.profiler), longest_work(task.spec))) {
            check.is_done = true;
            check.fault = find_fault(view, task, profile.profiler, report);
        }
        if (!check.fault) {
            continue;
        }
        const contracts::DisputedProfile subject{profile.profiler, check.fault->part};
        if (!contracts::find_dispute(*view.state, contracts::dispute_id(task.id, check.fault->segment, id_, subject))) {
            out.push_back(*check.fault);
        }
    }
}

// --- verdicts by distance ------------------------------------------------------------------------------------

Work Worker::work_measuring(const Task& task, std::uint32_t segment) {
    return work_of(task, segment) + task.spec.distance->work;
}

Machine::Job Worker::measuring(const View& view, const Task& task, std::uint32_t segment) const {
    const Work work = work_measuring(task, segment);
    return {
        codec::encode(segment), takes_time ? work_ms(view.state->params(), task.spec, work, Replica::kIntervalMs) : 0};
}

/// A solver replays what verdicts are about on one machine, one segment after the other.
void Worker::let_solver_replay(const View& view, const Task& task, const std::vector<contracts::Assignment>& duties) {
    if (role() != Role::kSolver || task.solver != id_) {
        return;
    }
    std::vector<Machine::Job> wanted;
    for (const contracts::Assignment& duty : duties) {
        if (!judged_.contains({task.id, duty.segment})) {
            wanted.push_back(measuring(view, task, duty.segment));
        }
    }
    watching_[task.id].work(events_.now(), wanted);
}

void Worker::measure(const View& view, const Task& task, std::uint32_t segment, roles::Replays& replays) {
    if (!fetch(task.id, segment - 1, replays) || !fetch(task.id, segment, replays)) {
        return;
    }
    const Machine::Job wanted = measuring(view, task, segment);
    const bool has_measured =
        role() == Role::kSolver
            ? watching_[task.id].has_done(wanted)
            : has_done(view, task.spec, job(Job::kMeasure, task.id, segment, id_), work_measuring(task, segment));
    if (!has_measured) {
        return;
    }
    replays.fetch_failures = 0;
    replays.missing_checkpoint.reset();
    const Hash256 before = root_at(view, task.id, segment - 1);
    const Hash256 replayed = shop_.after(
        Way::kTruth, before, contracts::first_step(task.spec, segment), contracts::step_count(task, segment)
    );
    const Measured states{before, replayed, root_at(view, task.id, segment)};
    Judged& judged = judged_[{task.id, segment}];
    judged.verdict.end_root = replayed;
    judged.verdict.measurement = gauge_.measure(states, task.tolerance->sketch_seed);
    judged.roots = gauge_.roots_of(states);
    replays.first = replayed;
}

void Worker::add_distance_watching(const View& view, const Task& task, Actions& out) {
    if (!task.tolerance || !is_waiting_for_verdicts(task)) {
        return;
    }
    std::vector<contracts::Assignment> duties = roles::in_order_of_harm(view.state->params(), task);
    std::erase_if(duties, [&](const contracts::Assignment& duty) {
        return contracts::is_exact(task, duty.segment) || !contracts::is_published(duty) || duty.verifier == id_;
    });
    let_solver_replay(view, task, duties);
    for (const contracts::Assignment& duty : duties) {
        const auto own = judged_.find({task.id, duty.segment});
        if (own == judged_.end()) {
            if (roles::is_watchers_duty(task, duty, id_, role())) {
                measure(view, task, duty.segment, replays_[{task.id, duty.segment, id_}]);
            }
            continue;
        }
        contracts::ChallengeVerdict challenge{task.id, duty.segment, duty.verifier, role(), VerdictPart::kEnd, {}, {}};
        if (duty.end_root == own->second.verdict.end_root) {
            challenge.part = VerdictPart::kMeasurement;
            challenge.roots = own->second.roots;
            if (duty.measurement == own->second.verdict.measurement) {
                continue;
            }
        }
        const contracts::DisputedVerdict subject{duty.verifier, false, challenge.part};
        if (!contracts::find_dispute(*view.state, contracts::dispute_id(task.id, duty.segment, id_, subject))) {
            out.push_back(challenge);
        }
    }
}

// --- disputes over both --------------------------------------------------------------------------------------

model::Player Worker::make_player(const View& view, const contracts::Dispute& dispute, const Task& task) {
    const bool responds = dispute.responder == id_;
    const bool lies = responds && !is_honest(kind_);
    const dispute::Claim& claim = dispute.claim;
    if (dispute.verdict() && dispute.verdict()->part == VerdictPart::kMeasurement) {
        const Hash256 before = root_at(view, task.id, dispute.segment - 1);
        const Hash256 replayed = shop_.after(
            Way::kTruth, before, contracts::first_step(task.spec, dispute.segment),
            contracts::step_count(task, dispute.segment)
        );
        return gauge_.play({before, replayed, root_at(view, task.id, dispute.segment)}, claim.seed, lies);
    }
    if (dispute.profile()) {
        const ProfileReport report = report_of(*view.state, task, dispute.responder).value();
        switch (dispute.profile()->part) {
            case ProfilePart::kStart:
                return model::play_segment(shop_, claim, lies ? Way::kLieInInit : Way::kTruth);
            case ProfilePart::kReplayed:
                return model::play_segment(shop_, claim, lies ? Way::kLieInCommit : Way::kTruth);
            case ProfilePart::kMeasurement:
                return gauge_.play(segment_of(report, dispute.segment), claim.seed, lies);
            case ProfilePart::kReferenceMeasurement:
                return gauge_.play(reference_of(report), claim.seed, lies);
            case ProfilePart::kReference:
                return {
                    nullptr, std::make_unique<contracts::test::ToyReplay>(
                                 gauge_.run_under(claim.seed + (lies ? 1 : 0)), claim, shop_.state(claim.before)
                             )};
        }
    }
    if (!dispute.verdict() && dispute.segment == contracts::evaluation_segment(task)) {
        return model::play_evaluation(shop_, last_root(view, task.id), claim.seed, false);
    }
    if (dispute.accusation() != nullptr) {
        return model::play_segment(shop_, claim, responds ? together_.accusing_way(claim) : Way::kTruth);
    }
    return model::play_segment(shop_, claim, responds ? way_on(task.spec) : Way::kTruth);
}

}  // namespace assay::simulation
