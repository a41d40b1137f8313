// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <contracts/ledger/ledger.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/params/work.hpp>
#include <contracts/verification/verification.hpp>

/// What the verdicts of a task come to (AVL-1, AVL-7, VER-18 to VER-21).
namespace assay::contracts {
namespace {

bool counts(const Task& task, const Assignment& assignment) {
    return is_published(assignment) && !is_exact(task, assignment.segment);
}

/// VER-20: both were open to a challenge that one of them would have lost; so neither decides and both bonds burn.
void burn_contradictions(Context& context, Task& task) {
    std::vector<std::size_t> contradicted;
    for (std::size_t i = 0; i < task.assignments.size(); ++i) {
        const Assignment& one = task.assignments[i];
        const bool is = counts(task, one) &&
                        std::any_of(task.assignments.begin(), task.assignments.end(), [&](const Assignment& other) {
                            return counts(task, other) && other.segment == one.segment && contradicts(one, other);
                        });
        if (is) {
            contradicted.push_back(i);
        }
    }
    for (const std::size_t i : contradicted) {
        Assignment& assignment = task.assignments[i];
        const Penalty penalty{
            .role = Role::kVerifier,
            .from = assignment.verifier,
            .amount = assignment.bond,
            .reason = Reason::kContradiction};
        assignment.bond = {};
        assignment.status = VerdictStatus::kContradicted;
        slash(context, task, penalty);
    }
}

/// VER-19: who rejects by distance.
std::vector<const Assignment*> rejections_of(const Task& task) {
    std::vector<const Assignment*> found;
    for (const Assignment& assignment : task.assignments) {
        if (counts(task, assignment) && assignment.status == VerdictStatus::kRejected) {
            found.push_back(&assignment);
        }
    }
    return found;
}

/// VER-21: whether the drifts of the segments that were measured add up.
bool is_beyond_budget(const Params& params, const Task& task) {
    if (!task.tolerance) {
        return false;
    }
    std::map<std::uint32_t, dispute::Measurement> measured;
    for (const Assignment& assignment : task.assignments) {
        if (counts(task, assignment) && assignment.measurement) {
            measured.emplace(assignment.segment, *assignment.measurement);
        }
    }
    std::vector<dispute::GroupMeasurement> parameters;
    std::vector<dispute::GroupMeasurement> other;
    for (const auto& [segment, measurement] : measured) {
        parameters.push_back(measurement.parameters);
        other.push_back(measurement.other);
    }
    return std::max(dispute::growth(parameters), dispute::growth(other)) > params.growth_max_thousandths;
}

/// AVL-1, AVL-7: the segments without an accepting verdict get a committee, and other verifiers, `redraws_max` times at
/// most; then the task expires.
void draw_anew(Context& context, Task& task) {
    if (task.redraws >= context.params.redraws_max) {
        end_without_fraud(context, task, TaskState::kExpired);
        return;
    }
    for (Assignment& assignment : task.assignments) {
        if (is_published(assignment)) {
            return_assignment(context, assignment);  // VER-22; a missed one's tenth is held (AVL-8)
        }
    }
    task.second_window = false;
    task.lottery = {};
    await_verifiers(context, task);
}

}  // namespace

bool is_within_threshold(const Task& task, const Verdict& verdict) noexcept {
    // VER-18
    const Distances bound = task.tolerance.value().threshold.value();
    return verdict.measurement && dispute::relative_drift(verdict.measurement->parameters) <= bound.parameters &&
           dispute::relative_drift(verdict.measurement->other) <= bound.other;
}

std::set<std::uint32_t> convicting_segments(const Params& params, const Task& task) {
    const bool is_beyond = is_beyond_budget(params, task);
    std::set<std::uint32_t> out;
    for (const Assignment& assignment : task.assignments) {
        const bool rejects = assignment.status == VerdictStatus::kRejected;
        if (counts(task, assignment) && (rejects || (is_beyond && assignment.measurement))) {
            out.insert(assignment.segment);
        }
    }
    return out;
}

void open_window(Context& context, Task& task) {
    const std::uint64_t span =
        challenge_span(context.params, task.spec, convicting_segments(context.params, task).size());
    enter_state(context, task, TaskState::kChallenge, context.height_after(span));
}

void decide(Context& context, Task& task) {
    if (task.tolerance) {
        burn_contradictions(context, task);
    }
    if (const auto rejections = rejections_of(task); !rejections.empty()) {
        Conviction conviction{.reason = Reason::kBeyondTolerance, .segment = rejections.front()->segment};
        for (const Assignment* rejection : rejections) {
            conviction.winners.push_back(rejection->verifier);
        }
        convict(context, task, conviction);
    } else if (!open_segments(task).empty()) {
        draw_anew(context, task);
    } else if (is_beyond_budget(context.params, task)) {
        convict(context, task, {.reason = Reason::kBeyondBudget});
    } else {
        settle(context, task);
    }
}

}  // namespace assay::contracts
