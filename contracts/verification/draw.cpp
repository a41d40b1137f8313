// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <contracts/availability/availability.hpp>
#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/beacon/draw.hpp>
#include <contracts/lifecycle/keys.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/params/work.hpp>
#include <contracts/verification/lottery.hpp>
#include <contracts/verification/verification.hpp>

namespace assay::contracts {
namespace {

/// VER-1: segments that were executed; EVL-5: without the evaluation.
std::uint32_t executed_segments(const Task& task) { return segment_count(task) + 1U - first_segment(task.spec); }

/// VER-1: how many of them are checked.
std::uint32_t checked_segments(const Context& context, const Task& task) {
    return segments_checked(context.params, task.spec, executed_segments(task));
}

/// VER-1: distinct segments of those that were executed, in ascending order; EVL-5: and the evaluation. AVL-7: of a
/// task that had verifiers before, those that have no accepting verdict.
std::vector<std::uint32_t> draw_segments(const Context& context, const Task& task, const Hash256& seed) {
    if (is_assigned(task)) {
        return open_segments(task);
    }
    std::vector<std::uint32_t> segments(executed_segments(task));
    std::iota(segments.begin(), segments.end(), first_segment(task.spec));
    const std::uint32_t wanted = checked_segments(context, task);
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
    std::vector<Assignment> drawn{};  ///< so far
};

/// Whether the account's free stake covers another duty, besides those drawn for it already.
bool is_able(const VerifierDraw& draw, const AccountId& account) {
    std::uint64_t left = get_stake(draw.context.state, Role::kVerifier, account).free.grains;
    for (const Assignment& assignment : draw.drawn) {
        // It was able to.
        left -= assignment.verifier == account ? add(assignment.bond, assignment.reserve).grains : 0;
    }
    return left >= verifier_needs(draw.context.params, task_value(draw.task.spec)).grains;
}

/// VER-1: the candidates for a segment, without those that are drawn for it or were before (AVL-7).
std::vector<Candidate> eligible_for(const VerifierDraw& draw, std::uint32_t segment) {
    const std::uint64_t needed = verifier_needs(draw.context.params, task_value(draw.task.spec)).grains;
    std::vector<Candidate> candidates = draw.round.drawing.verifiers;
    for (Candidate& candidate : candidates) {
        const auto is_its = [&](const Assignment& assignment) {
            return assignment.segment == segment && assignment.verifier == candidate.account;
        };
        const bool taken = std::any_of(draw.drawn.begin(), draw.drawn.end(), is_its) ||
                           std::any_of(draw.task.assignments.begin(), draw.task.assignments.end(), is_its);
        const bool is_willing = consents(draw.context.params, draw.task.spec, candidate.terms);  // TRM-2
        if (taken || !is_willing || candidate.weight < needed || candidate.account == draw.task.submitter ||
            is_member(draw.task, candidate.account)) {
            candidate.weight = 0;
        }
    }
    return candidates;
}

/// VER-1: one verifier for a segment; after a committee one who has attested, and where none of these can be drawn one
/// of the others (AVL-7).
std::optional<AccountId> draw_verifier(const VerifierDraw& draw, const DrawName& name) {
    const auto draw_among = [&](std::vector<Candidate> candidates) {
        return draw_able(std::move(candidates), draw.round.seed, name, [&](const AccountId& account) {
            return is_able(draw, account);
        });
    };
    std::vector<Candidate> all = eligible_for(draw, name.segment);
    std::vector<Candidate> attesters = all;
    for (std::size_t i = 0; i < all.size(); ++i) {
        (has_attested(draw.task, all[i].account, name.segment) ? all : attesters)[i].weight = 0;
    }
    // GAS-10: nobody's stake is looked at in both draws.
    const auto attester = draw_among(std::move(attesters));
    return attester ? attester : draw_among(std::move(all));
}

/// What the verifier would have free if nothing were due of it but its seat in the beacon.
std::uint64_t stake_without_duties(const Context& context, const Beacon& beacon, const AccountId& verifier) {
    const Stake stake = get_stake(context.state, Role::kVerifier, verifier);
    const auto seat = std::find_if(beacon.seats.begin(), beacon.seats.end(), [&](const Seat& each) {
        return each.account == verifier;
    });
    return subtract(add(stake.free, stake.locked), seat == beacon.seats.end() ? Amount{} : seat->bond).grains;
}

/// VER-7: what verifiers are needed for: segments that are open (AVL-7), or as many as the first draw will choose,
/// whichever.
std::vector<std::uint32_t> segments_to_judge(const Context& context, const Task& task) {
    if (is_assigned(task)) {
        return open_segments(task);
    }
    std::vector<std::uint32_t> any(checked_segments(context, task) + (evaluation_segment(task) ? 1U : 0U));
    std::iota(any.begin(), any.end(), first_segment(task.spec));
    return any;
}

/// VER-9: by how many steps the marks lie behind the beginnings of their parts.
std::uint32_t draw_offset(const Task& task, const Hash256& seed, const DrawName& name) {
    const std::uint32_t part = std::max(1U, step_count(task, name.segment) / kMarkedParts);
    return static_cast<std::uint32_t>(reduce(draw_randomness(seed, name), part));
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
        if (std::find(drawn.begin(), drawn.end(), candidate.account) != drawn.end() || candidate.weight < bond.grains ||
            candidate.account == task.submitter || is_member(task, candidate.account) ||
            candidate.account == assignment.verifier) {
            candidate.weight = 0;
        }
    }
    const auto index = draw_weighted(candidates, draw_randomness(round.seed, name));
    return index ? std::optional{candidates[*index].account} : std::nullopt;
}

/// Fills `draw.drawn`; whether every segment has a verifier.
bool draw_assignments(VerifierDraw& draw) {
    const Task& task = draw.task;
    const Amount value = task_value(task.spec);
    const std::uint32_t verifiers = verifiers_per_segment(draw.context.params, value);
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
            assignment.bond = verifier_bond(draw.context.params, value);
            assignment.reserve = verifier_reserve(draw.context.params, value);
            assignment.offset = draw_offset(task, draw.round.seed, {task.id, DrawKind::kProbe, segment, i});
            draw.drawn.push_back(assignment);
        }
    }
    return true;
}

void assign(Context& context, Task& task, std::vector<Assignment> drawn, const ClosedRound& round) {
    record_round(context, task, round);
    const bool is_first = !is_assigned(task);
    task.redraws += is_first ? 0 : 1;
    std::vector<AccountId> readers;
    for (Assignment& assignment : drawn) {
        lock_stake(context, Role::kVerifier, assignment.verifier, add(assignment.bond, assignment.reserve));
        record(context, task, history::VerifierDrawn{assignment.segment, assignment.verifier});
        readers.push_back(assignment.verifier);
        task.assignments.push_back(std::move(assignment));
    }
    if (task.tolerance && is_first) {  // measurements that stand are under it (AVL-7)
        const DrawName name{task.id, DrawKind::kSketch, 0, 0};
        task.tolerance->sketch_seed = to_seed(draw_randomness(round.seed, name));  // VER-17
    }
    const Height until = await_keys(context, task, readers, commit_span(context.params, task.spec));  // PRV-4
    enter_state(context, task, TaskState::kVerifying, until);
    set_task(context.state, task);
}

}  // namespace

void draw_probes(Task& task, const ClosedRound& round) {
    for (std::uint32_t place = 0; place < task.assignments.size(); ++place) {
        Assignment& assignment = task.assignments[place];
        const std::vector<std::uint32_t> marks = marks_of(task, assignment);
        if (assignment.status == VerdictStatus::kCommitted && !marks.empty()) {
            const DrawName name{task.id, DrawKind::kMark, assignment.segment, place};
            assignment.probe = marks[reduce(draw_randomness(round.seed, name), marks.size())];
        }
    }
}

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

bool waits_on(const Context& context, const Task& task) {
    // VER-7
    if (task.state != TaskState::kCompleted) {
        return false;
    }
    const bool for_committee = needs_committee(task);
    const Beacon beacon = get_beacon(context.state);
    const std::uint64_t needed = verifier_needs(context.params, task_value(task.spec)).grains;
    const std::vector<std::uint32_t> segments = segments_to_judge(context, task);
    std::vector<std::uint64_t> places(segments.size());  // of each segment, those that its candidates could take
    for (const Candidate& candidate : read_pool(context.state, Role::kVerifier)) {
        if (candidate.account == task.submitter || is_member(task, candidate.account)) {
            continue;
        }
        const std::uint64_t stake = stake_without_duties(context, beacon, candidate.account);
        if (for_committee && stake != 0) {
            return true;
        }
        if (!consents(context.params, task.spec, candidate.terms)) {
            continue;
        }
        for (std::size_t i = 0; i < segments.size(); ++i) {
            places[i] += find_assignment(task, segments[i], candidate.account) ? 0 : stake / needed;  // AVL-7
        }
    }
    return !for_committee && std::all_of(places.begin(), places.end(), [&](std::uint64_t count) {
        return count >=
               segments.size();  // so that they can take one place of each, however they are drawn for the others
    });
}

std::optional<Pause> draw_verifiers(Context& context, Task& task, const ClosedRound& round) {
    if (needs_committee(task)) {
        return draw_committee(context, task, round);
    }
    VerifierDraw draw{.context = context, .task = task, .round = round};
    if (!draw_assignments(draw)) {
        return Pause::kDoubled;
    }
    assign(context, task, std::move(draw.drawn), round);
    return std::nullopt;
}

}  // namespace assay::contracts
