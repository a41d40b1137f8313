// SPDX-License-Identifier: Apache-2.0
#include <tests/model/crowd.hpp>

#include <algorithm>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/verification/lottery.hpp>
#include <core/crypto/hash.hpp>
#include <core/dispute/evaluation.hpp>

/// What actors dispute, rightly and wrongly.
namespace assay::model {

using contracts::ProfilePart;
using contracts::ProfileStatus;
using contracts::TaskState;
using contracts::VerdictPart;

bool is_of_diverging(const Task& task, const Workshop& shop) {
    return task.spec.program.step_root == shop.spec(true).program.step_root;
}

void Crowd::add_profile_accusations(
    const Actor& actor, const TaskId& id, const Task& task, const World& world, Actions& out
) {
    const Profiler& profiler = task.profiling->profilers[below(task.profiling->profilers.size())];
    if (profiler.status != ProfileStatus::kStanding) {
        return;
    }
    const contracts::ProfileReport& report = *profiler.report;
    const auto segment = static_cast<std::uint32_t>(1 + below(report.segments.size()));
    const Hash256 before = segment == 1 ? report.start_root : report.segments[segment - 2].native_root;
    const auto& of = report.segments[segment - 1];
    contracts::ChallengeProfile action{id, profiler.account, Role::kWhistleblower, ProfilePart::kStart,
                                       0,  std::nullopt};
    if (report.start_root == true_start(task, world)) {
        const Hash256 replayed =
            shop_.after(Way::kTruth, before, steps_before(task.spec, segment), steps_in(task, segment));
        if (replayed != of.replayed_root || chance(10)) {
            action.part = ProfilePart::kReplayed;
            action.segment = segment;
        } else if (chance(30)) {
            action.part = ProfilePart::kMeasurement;
            action.segment = segment;
            action.roots = roots_of({before, of.replayed_root, of.native_root});
        } else if (chance(20)) {
            action.part = ProfilePart::kReference;
        } else if (chance(20)) {
            action.part = ProfilePart::kReferenceMeasurement;
            action.roots = roots_of({report.start_root, report.segments[0].replayed_root, report.reference_root});
        } else if (!chance(10)) {
            return;
        }
    }
    action.role = actor.role == Role::kWhistleblower ? actor.role : static_cast<Role>(1 + below(3));
    out.push_back(action);
}

// --- accusers ------------------------------------------------------------------------------------------------

void Crowd::add_accusations(const Actor& actor, const TaskId& id, const Task& task, Actions& out) {
    if (task.checkpoints.empty()) {
        return;
    }
    const Role role = actor.role == Role::kVerifier ? Role::kVerifier : Role::kWhistleblower;
    if (task.state < TaskState::kCompleted || task.state > TaskState::kChallenge || task.suspended) {
        return;
    }
    const int zeal = quarrels_ || talks_ ? 6 : 1;
    if (chance(is_sitting(task) ? 10 : 4 * zeal)) {
        const std::uint32_t first = first_of(task.spec);
        const std::uint32_t last = last_of(task) + (task.evaluation ? 1U : 0U);
        const auto segment = static_cast<std::uint32_t>(first + below(last + 1U - first));
        const Hash256 end = true_end(task, segment, steps_in(task, segment));
        const bool wrong = end != claimed_after(task, segment) || (is_of_diverging(task, shop_) && shop_.knows(end) &&
                                                                   dispute::open_divergence(shop_.state(end)));
        if (is_exact(task, segment) && (wrong ? !end.is_zero() : chance(is_sitting(task) ? 10 : 3 * zeal))) {
            out.push_back(contracts::OpenDispute{id, segment, role});
        }
    }
    for (const Duty& duty : task.duties) {
        const auto& watchers = duty.watchers;
        const bool watches = std::find(watchers.begin(), watchers.end(), actor.id) != watchers.end();
        if (is_published(duty) && chance(watches ? 40 : 4)) {
            add_verdict_challenge(actor, id, task, duty, out);
        }
        const bool drawn = std::any_of(task.duties.begin(), task.duties.end(), [&](const Duty& other) {
            return other.segment == duty.segment && other.verifier == actor.id && other.verifier != duty.verifier;
        });
        // DTY-6: who is a party to the task disputes several parts of a verdict, of which one has the place.
        if (is_published(duty) && !is_exact(task, duty.segment) && (drawn || task.solver == actor.id) && chance(25)) {
            out.push_back(contracts::ChallengeVerdict{
                id,
                duty.segment,
                duty.verifier,
                drawn ? Role::kVerifier : Role::kSolver,
                chance(50) ? VerdictPart::kProbe : VerdictPart::kEnd,
                std::nullopt,
                {}});
        }
    }
}

void Crowd::add_verdict_challenge(
    const Actor& actor, const TaskId& id, const Task& task, const Duty& duty, Actions& out
) {
    const Role role = actor.role == Role::kVerifier ? Role::kVerifier : Role::kWhistleblower;
    contracts::ChallengeVerdict action{id, duty.segment, duty.verifier, role, VerdictPart::kProbe, std::nullopt, {}};
    const Hash256 probe = true_end(task, duty.segment, duty.probe);
    if (!probe.is_zero() && !chance(10)) {
        const contracts::DisputedVerdict subject{duty.verifier};
        action.seal = contracts::challenge_seal(contracts::dispute_id(id, duty.segment, actor.id, subject), probe);
    }
    const bool wrong = duty.verdict.probe_root && duty.verdict.probe_root != probe && !probe.is_zero();
    if (!wrong && !is_exact(task, duty.segment)) {
        const Hash256 end = true_end(task, duty.segment, steps_in(task, duty.segment));
        const Hash256 start = task.checkpoints[duty.segment - 1];
        const Hash256 claimed = task.checkpoints[duty.segment];
        if (!end.is_zero() && duty.verdict.end_root != end) {
            action.part = VerdictPart::kEnd;
        } else if (duty.verdict.measurement && shop_.knows(claimed) && !end.is_zero() && chance(60)) {
            const bool right =
                shop_.measure(start, end, claimed, task.profiling->sketch_seed) == *duty.verdict.measurement;
            if (right && !chance(5)) {
                return;
            }
            action.part = VerdictPart::kMeasurement;
            action.roots = roots_of({start, end, claimed});
        } else if (!chance(5)) {
            return;
        }
    } else if (!wrong && !chance(4)) {
        return;
    }
    out.push_back(action);
}

}  // namespace assay::model
