// SPDX-License-Identifier: Apache-2.0
#include <contracts/state/task.hpp>

#include <algorithm>
#include <limits>
#include <set>

#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>

namespace assay::contracts {

namespace {

/// AVL-8: whether the tenth of a verifier that was silent is held.
bool holds_tenth(const Assignment& assignment) {
    return assignment.status == VerdictStatus::kMissed && assignment.bond.grains != 0;
}

/// AVL-8: whether a verifier that had not attested was silent after the last committee.
bool is_tenth_held(const Task& task) {
    return std::any_of(task.assignments.begin(), task.assignments.end(), holds_tenth);
}

}  // namespace

std::uint32_t first_segment(const TaskSpec& spec) noexcept { return spec.parent ? 1 : 0; }

std::uint32_t segment_count(const TaskSpec& spec) noexcept {
    if (spec.checkpoint_interval == 0) {
        return 0;
    }
    const std::uint64_t count = div_ceil<std::uint64_t>(spec.steps, spec.checkpoint_interval);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

std::uint32_t segment_count(const Task& task) noexcept {
    if (task.group && task.group->counted) {
        return *task.group->counted;
    }
    return task.diverged_at ? task.checkpoints - 1 : segment_count(task.spec);
}

std::optional<std::uint32_t> evaluation_segment(const Task& task) noexcept {
    // EVL-5
    return task.evaluation ? std::optional{segment_count(task) + 1} : std::nullopt;
}

std::uint32_t last_segment(const Task& task) noexcept { return evaluation_segment(task).value_or(segment_count(task)); }

std::uint64_t first_step(const TaskSpec& spec, std::uint32_t segment) noexcept {
    return segment == 0 ? 0 : std::uint64_t{segment - 1} * spec.checkpoint_interval;
}

std::uint32_t step_count(const TaskSpec& spec, std::uint32_t segment) noexcept {
    const std::uint64_t left = spec.steps - std::min(spec.steps, first_step(spec, segment));
    return segment == 0 ? 1 : static_cast<std::uint32_t>(std::min<std::uint64_t>(spec.checkpoint_interval, left));
}

std::uint32_t step_count(const Task& task, std::uint32_t segment) noexcept {
    if (segment == evaluation_segment(task)) {
        return 1;
    }
    if (task.diverged_at && segment == segment_count(task)) {
        return static_cast<std::uint32_t>(*task.diverged_at - first_step(task.spec, segment)) + 1;
    }
    return step_count(task.spec, segment);
}

bool is_exact(const Task& task, std::uint32_t segment) noexcept {
    // VER-17
    return !task.tolerance || segment == 0 || segment == evaluation_segment(task) ||
           (task.diverged_at && segment == segment_count(task));
}

Amount task_value(const TaskSpec& spec) noexcept {
    return Amount{spec.reward.grains + spec.verification_fee.grains};  // LED-3: checked on submission
}

bool is_assigned(const Task& task) noexcept {
    return std::any_of(task.assignments.begin(), task.assignments.end(), [](const Assignment& assignment) {
        return assignment.status != VerdictStatus::kDropped;
    });
}

std::vector<std::uint32_t> open_segments(const Task& task) {
    std::set<std::uint32_t> open;
    for (const Assignment& assignment : task.assignments) {
        if (assignment.status != VerdictStatus::kDropped) {
            open.insert(assignment.segment);
        }
    }
    for (const Assignment& assignment : task.assignments) {
        if (assignment.status == VerdictStatus::kAccepted) {
            open.erase(assignment.segment);
        }
    }
    return {open.begin(), open.end()};
}

std::optional<Queue> queue_of(const Task& task) noexcept {
    switch (task.state) {
        case TaskState::kOpen:
            return Queue::kSolver;
        case TaskState::kCompleted:
            return is_sitting(task) ? std::nullopt : std::optional{Queue::kVerifiers};
        case TaskState::kVerifying:
            return Queue::kLottery;
        case TaskState::kProfiling:
            return task.tolerance.value().phase == ProfilingPhase::kDraw ? std::optional{Queue::kProfilers}
                                                                         : std::nullopt;
        case TaskState::kKept:
            return task.keeping.value().is_waiting ? std::optional{Queue::kShow} : std::nullopt;
        default:
            return std::nullopt;
    }
}

Amount retention_fee(const TaskSpec& spec) noexcept { return spec.retention ? spec.retention->fee : Amount{}; }

Amount escrow_of(const TaskSpec& spec) noexcept { return Amount{task_value(spec).grains + retention_fee(spec).grains}; }

bool will_be_kept(const Task& task) noexcept { return task.spec.retention && !task.diverged_at && !task.tainted_by; }

bool needs_committee(const Task& task) {
    // AVL-1
    const bool is_available = task.committee && task.committee->state == CommitteeState::kAvailable;
    return !open_segments(task).empty() && (!is_available || is_tenth_held(task));
}

std::vector<std::uint32_t> committee_segments(const Task& task) {
    // GRP-10
    std::vector<std::uint32_t> open = open_segments(task);
    if (!task.group || open.empty()) {
        return open;
    }
    const auto is_held = [&](std::uint32_t segment) {
        return std::any_of(task.assignments.begin(), task.assignments.end(), [&](const Assignment& assignment) {
            return assignment.segment == segment && holds_tenth(assignment);
        });
    };
    const auto held = std::find_if(open.begin(), open.end(), is_held);
    const AccountId responder = responder_of(task, held == open.end() ? open.front() : *held);
    std::erase_if(open, [&](std::uint32_t segment) { return responder_of(task, segment) != responder; });
    return open;
}

}  // namespace assay::contracts
