// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include <contracts/chain/slots.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/stake/hardware.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/tasks/draw.hpp>
#include <contracts/tasks/lifecycle.hpp>
#include <contracts/verification/verification.hpp>

namespace assay::contracts {
namespace {

/// VER-1: distinct segments of those that were executed, in ascending order; EVL-5: and the evaluation.
std::vector<std::uint32_t> draw_segments(const Context& context, const Task& task) {
    const std::uint32_t first = first_segment(task.spec);
    std::vector<std::uint32_t> segments(segment_count(task) + 1U - first);
    std::iota(segments.begin(), segments.end(), first);
    const auto count = static_cast<std::uint32_t>(segments.size());
    const std::uint32_t wanted = segments_checked(context.params, task_value(task.spec), count);
    for (std::uint32_t i = 0; i < wanted; ++i) {
        const DrawName name{task.id, DrawKind::kSegment, 0, i};
        const std::uint64_t offset =
            reduce(draw_randomness(context.block.block_hash, name), segments.size() - i);
        std::swap(segments[i], segments[i + offset]);
    }
    segments.resize(wanted);
    std::sort(segments.begin(), segments.end());
    if (const auto evaluation = evaluation_segment(task)) {
        segments.push_back(*evaluation);
    }
    return segments;
}

/// VER-1: one verifier for `segment`, other than those drawn for it already. Takes its bond from the pool.
std::optional<AccountId> draw_verifier(
    const Context& context, const Task& task, const DrawName& name, const std::vector<Assignment>& drawn,
    std::vector<Candidate>& pool
) {
    const Amount value = task_value(task.spec);
    const std::uint64_t needed = verifier_needs(context.params, value).grains;
    std::vector<Candidate> candidates = pool;
    for (Candidate& candidate : candidates) {
        const bool taken = std::any_of(drawn.begin(), drawn.end(), [&](const Assignment& assignment) {
            return assignment.segment == name.segment && assignment.verifier == candidate.account;
        });
        if (taken || candidate.weight < needed || candidate.account == task.submitter ||
            candidate.account == task.solver) {
            candidate.weight = 0;
        }
    }
    const AccountId& solver = task.solver.value();
    prefer_class(
        context.state, Role::kVerifier, get_hardware(context.state, Role::kSolver, solver).hardware_class, candidates
    );
    const auto index = draw_weighted(candidates, draw_randomness(context.block.block_hash, name));
    if (!index) {
        return std::nullopt;
    }
    pool[*index].weight -= verifier_bond(context.params, value).grains;
    return pool[*index].account;
}

/// VER-9: a step strictly inside the segment, as the number of steps up to it; 0 where there is none.
std::uint32_t draw_probe(const Context& context, const Task& task, const DrawName& name) {
    const std::uint32_t steps = step_count(task, name.segment);
    if (name.segment == 0 || steps < 2) {
        return 0;
    }
    return 1 + static_cast<std::uint32_t>(reduce(draw_randomness(context.block.block_hash, name), steps - 1));
}

/// VER-12: one watcher of `assignment`, other than those drawn for it already.
std::optional<AccountId> draw_watcher(
    const Context& context, const Task& task, const Assignment& assignment, const DrawName& name,
    std::vector<Candidate> candidates
) {
    const Amount bond = challenger_bond(context.params, task_value(task.spec));
    for (Candidate& candidate : candidates) {
        const auto& drawn = assignment.watchers;
        if (std::find(drawn.begin(), drawn.end(), candidate.account) != drawn.end() ||
            candidate.weight < bond.grains || candidate.account == task.submitter ||
            candidate.account == task.solver || candidate.account == assignment.verifier) {
            candidate.weight = 0;
        }
    }
    const auto index = draw_weighted(candidates, draw_randomness(context.block.block_hash, name));
    return index ? std::optional{candidates[*index].account} : std::nullopt;
}

/// nullopt when some segment would have no verifier at all.
std::optional<std::vector<Assignment>> draw_assignments(
    const Context& context, const Task& task, std::vector<Candidate>& pool
) {
    const std::uint32_t verifiers = verifiers_per_segment(context.params, task_value(task.spec));
    std::vector<Assignment> drawn;
    for (const std::uint32_t segment : draw_segments(context, task)) {
        for (std::uint32_t i = 0; i < verifiers; ++i) {
            const auto verifier = draw_verifier(context, task, {task.id, DrawKind::kVerifier, segment, i}, drawn, pool);
            if (!verifier && i == 0) {
                return std::nullopt;
            }
            if (!verifier) {
                break;
            }
            Assignment assignment;
            assignment.segment = segment;
            assignment.verifier = *verifier;
            assignment.bond = verifier_bond(context.params, task_value(task.spec));
            assignment.probe = draw_probe(context, task, {task.id, DrawKind::kProbe, segment, i});
            drawn.push_back(assignment);
        }
    }
    return drawn;
}

void assign(Context& context, Task& task, std::vector<Assignment> drawn) {
    task.assignments = std::move(drawn);
    for (const Assignment& assignment : task.assignments) {
        lock_stake(context, Role::kVerifier, assignment.verifier, assignment.bond);
        record(context, task, history::VerifierDrawn{assignment.segment, assignment.verifier});
    }
    if (task.tolerance) {
        const DrawName name{task.id, DrawKind::kSketch, 0, 0};
        task.tolerance->sketch_seed = to_seed(draw_randomness(context.block.block_hash, name));  // VER-17
    }
    enter_state(context, task, TaskState::kVerifying, context.height_after(context.params.commit_blocks));
    set_task(context.state, task);
    remove_waiting(context.state, task.id);
}

}  // namespace

void draw_watchers(Context& context, Task& task) {
    const std::uint32_t wanted = context.params.watchers_per_verdict;
    const auto pool = read_pool(context.state, Role::kWhistleblower);
    for (std::uint32_t place = 0; place < task.assignments.size(); ++place) {
        Assignment& assignment = task.assignments[place];
        const bool is_watched = assignment.status == VerdictStatus::kCommitted && assignment.probe != 0;
        for (std::uint32_t i = 0; is_watched && i < wanted; ++i) {
            const DrawName name{task.id, DrawKind::kWatcher, assignment.segment, place * wanted + i};
            const auto watcher = draw_watcher(context, task, assignment, name, pool);
            if (!watcher) {
                break;
            }
            assignment.watchers.push_back(*watcher);
            record(context, task, history::WatcherDrawn{assignment.segment, assignment.verifier, *watcher});
        }
    }
}

void draw_verifiers(Context& context) {
    const std::vector<TaskId> waiting = get_waiting(context.state);
    if (waiting.empty()) {
        return;
    }
    auto pool = read_pool(context.state, Role::kVerifier);
    for (const TaskId& id : waiting) {
        Task task = find_task(context.state, id).value();
        if (task.state != TaskState::kCompleted || context.height() <= get_docket(context.state, id).draw_after) {
            continue;
        }
        auto left = pool;
        auto drawn = draw_assignments(context, task, left);
        if (drawn) {
            pool = std::move(left);
            assign(context, task, *std::move(drawn));
        }
    }
}

}  // namespace assay::contracts
