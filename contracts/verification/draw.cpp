// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <contracts/chain/slots.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/tasks/draw.hpp>
#include <contracts/tasks/lifecycle.hpp>
#include <contracts/verification/verification.hpp>

namespace assay::contracts {
namespace {

/// VER-1: distinct segments of those that were executed, in ascending order; EVL-5: and the evaluation.
std::vector<std::uint32_t> draw_segments(const Context& context, const Task& task, const Hash256& seed) {
    const std::uint32_t first = first_segment(task.spec);
    std::vector<std::uint32_t> segments(segment_count(task) + 1U - first);
    std::iota(segments.begin(), segments.end(), first);
    const auto count = static_cast<std::uint32_t>(segments.size());
    const std::uint32_t wanted = segments_checked(context.params, task_value(task.spec), count);
    for (std::uint32_t i = 0; i < wanted; ++i) {
        const DrawName name{task.id, DrawKind::kSegment, 0, i};
        const std::uint64_t offset = reduce(draw_randomness(seed, name), segments.size() - i);
        std::swap(segments[i], segments[i + offset]);
    }
    segments.resize(wanted);
    std::sort(segments.begin(), segments.end());
    if (const auto evaluation = evaluation_segment(task)) {
        segments.push_back(*evaluation);
    }
    return segments;
}

/// What a draw of verifiers is made from.
struct VerifierDraw {
    const Context& context;
    const Task& task;
    const ClosedRound& round;
    std::uint32_t solver_class = 0;
    std::vector<Assignment> drawn{};  ///< so far

    Amount bond() const { return verifier_bond(context.params, task_value(task.spec)); }
};

/// Whether the account's free stake covers another duty, besides those drawn for it already.
bool is_able(const VerifierDraw& draw, const AccountId& account) {
    std::uint64_t left = get_stake(draw.context.state, Role::kVerifier, account).free.grains;
    for (const Assignment& assignment : draw.drawn) {
        left -= assignment.verifier == account ? assignment.bond.grains : 0;  // it was able to
    }
    return left >= verifier_needs(draw.context.params, task_value(draw.task.spec)).grains;
}

/// VER-1: one verifier for a segment, other than those drawn for it already.
std::optional<AccountId> draw_verifier(const VerifierDraw& draw, const DrawName& name) {
    const std::uint64_t needed = verifier_needs(draw.context.params, task_value(draw.task.spec)).grains;
    std::vector<Candidate> candidates = draw.round.drawing.verifiers;
    for (Candidate& candidate : candidates) {
        const bool taken = std::any_of(draw.drawn.begin(), draw.drawn.end(), [&](const Assignment& assignment) {
            return assignment.segment == name.segment && assignment.verifier == candidate.account;
        });
        if (taken || candidate.weight < needed || candidate.account == draw.task.submitter ||
            candidate.account == draw.task.solver) {
            candidate.weight = 0;
        }
    }
    return draw_able(std::move(candidates), draw.solver_class, draw.round.seed, name, [&](const AccountId& account) {
        return is_able(draw, account);
    });
}

/// VER-9: a step strictly inside the segment, as the number of steps up to it; 0 where there is none.
std::uint32_t draw_probe(const Task& task, const Hash256& seed, const DrawName& name) {
    const std::uint32_t steps = step_count(task, name.segment);
    if (name.segment == 0 || steps < 2) {
        return 0;
    }
    return 1 + static_cast<std::uint32_t>(reduce(draw_randomness(seed, name), steps - 1));
}

/// VER-12: one watcher of `assignment`, other than those drawn for it already.
std::optional<AccountId> draw_watcher(
    const Context& context, const Task& task, const Assignment& assignment, const DrawName& name,
    const ClosedRound& round
) {
    std::vector<Candidate> candidates = round.drawing.whistleblowers;
    const Amount bond = challenger_bond(context.params, task_value(task.spec));
    for (Candidate& candidate : candidates) {
        const auto& drawn = assignment.watchers;
        if (std::find(drawn.begin(), drawn.end(), candidate.account) != drawn.end() ||
            candidate.weight < bond.grains || candidate.account == task.submitter ||
            candidate.account == task.solver || candidate.account == assignment.verifier) {
            candidate.weight = 0;
        }
    }
    const auto index = draw_weighted(candidates, draw_randomness(round.seed, name));
    return index ? std::optional{candidates[*index].account} : std::nullopt;
}

/// Fills `draw.drawn`; whether every segment has a verifier.
bool draw_assignments(VerifierDraw& draw) {
    const Task& task = draw.task;
    const std::uint32_t verifiers = verifiers_per_segment(draw.context.params, task_value(task.spec));
    for (const std::uint32_t segment : draw_segments(draw.context, task, draw.round.seed)) {
        for (std::uint32_t i = 0; i < verifiers; ++i) {
            const auto verifier = draw_verifier(draw, {task.id, DrawKind::kVerifier, segment, i});
            if (!verifier && i == 0) {
                return false;
            }
            if (!verifier) {
                break;
            }
            Assignment assignment;
            assignment.segment = segment;
            assignment.verifier = *verifier;
            assignment.bond = draw.bond();
            assignment.probe = draw_probe(task, draw.round.seed, {task.id, DrawKind::kProbe, segment, i});
            draw.drawn.push_back(assignment);
        }
    }
    return true;
}

void assign(Context& context, Task& task, std::vector<Assignment> drawn, const ClosedRound& round) {
    record_round(context, task, round);
    task.assignments = std::move(drawn);
    for (const Assignment& assignment : task.assignments) {
        lock_stake(context, Role::kVerifier, assignment.verifier, assignment.bond);
        record(context, task, history::VerifierDrawn{assignment.segment, assignment.verifier});
    }
    if (task.tolerance) {
        const DrawName name{task.id, DrawKind::kSketch, 0, 0};
        task.tolerance->sketch_seed = to_seed(draw_randomness(round.seed, name));  // VER-17
    }
    enter_state(context, task, TaskState::kVerifying, context.height_after(context.params.commit_blocks));
    set_task(context.state, task);
    remove_waiting(context.state, task.id);
}

}  // namespace

void draw_watchers(Context& context, Task& task, const ClosedRound& round) {
    const std::uint32_t wanted = context.params.watchers_per_verdict;
    for (std::uint32_t place = 0; place < task.assignments.size(); ++place) {
        Assignment& assignment = task.assignments[place];
        const bool is_watched = assignment.status == VerdictStatus::kCommitted && assignment.probe != 0;
        for (std::uint32_t i = 0; is_watched && i < wanted; ++i) {
            const DrawName name{task.id, DrawKind::kWatcher, assignment.segment, place * wanted + i};
            const auto watcher = draw_watcher(context, task, assignment, name, round);
            if (!watcher) {
                break;
            }
            assignment.watchers.push_back(*watcher);
            record(context, task, history::WatcherDrawn{assignment.segment, assignment.verifier, *watcher});
        }
    }
}

void draw_verifiers(Context& context, Task& task, std::uint32_t solver_class, const ClosedRound& round) {
    VerifierDraw draw{.context = context, .task = task, .round = round, .solver_class = solver_class};
    if (!draw_assignments(draw)) {
        fail_draw(context, task);
        return;
    }
    assign(context, task, std::move(draw.drawn), round);
}

}  // namespace assay::contracts
