// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/contracts/verdicts.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <tuple>

#include <contracts/tasks/tasks.hpp>
#include <contracts/verification/lottery.hpp>
#include <tests/unit/contracts/committees.hpp>

namespace assay::contracts::test {

FoundVerdict measured_verdict(
    const Task& task, const Assignment& assignment, const State& start, const State& claimed
) {
    const ToyRun canonical;
    FoundVerdict verdict;
    const std::uint64_t first = first_step(task.spec, assignment.segment);
    const State replayed = replay_from(canonical, start, first, step_count(task, assignment.segment));
    verdict.end_root = root_of(replayed);
    verdict.measurement = measure(start, replayed, claimed, task.tolerance->sketch_seed);
    for (const std::uint32_t mark : marks_of(task, assignment)) {
        verdict.marks.push_back(root_of(replay_from(canonical, start, first, mark)));
    }
    return verdict;
}

FoundVerdict true_verdict(const Task& task, const Assignment& assignment, const ToyRun& solver) {
    if (assignment.segment == 0) {
        FoundVerdict verdict;
        verdict.end_root = ToyRun().checkpoint_root(0);
        return verdict;
    }
    const std::uint64_t first = first_step(task.spec, assignment.segment);
    return measured_verdict(
        task, assignment, solver.state(first), solver.state(first + step_count(task, assignment.segment))
    );
}

VerdictOpening opening_of(const FoundVerdict& verdict) {
    return {verdict, verdict.marks, hash_of("decoy"), hash_of("salt")};
}

Verdicts true_verdicts(const Chain& chain, const TaskId& id, const ToyRun& solver) {
    Verdicts verdicts;
    for (const Assignment& assignment : chain.task(id).assignments) {
        verdicts.push_back(true_verdict(chain.task(id), assignment, solver));
    }
    return verdicts;
}

void commit_verdicts(Chain& chain, const TaskId& id, const Verdicts& verdicts) {
    const auto assignments = chain.task(id).assignments;
    for (std::size_t i = 0; i < assignments.size(); ++i) {
        if (assignments[i].status != VerdictStatus::kDue) {
            continue;
        }
        const auto& [segment, verifier] = std::tie(assignments[i].segment, assignments[i].verifier);
        const Hash256 commitment = verdict_commitment(id, segment, verifier, opening_of(verdicts[i]));
        REQUIRE(chain.run(chain.actor_of(verifier), CommitVerdict{id, segment, commitment}) == 0);
    }
}

void publish_verdicts(Chain& chain, const TaskId& id, const Verdicts& verdicts) {
    commit_verdicts(chain, id, verdicts);
    const auto assignments = chain.task(id).assignments;
    for (std::size_t i = 0; i < assignments.size(); ++i) {
        if (assignments[i].status != VerdictStatus::kCommitted) {
            continue;
        }
        const bool forced =
            is_forced(chain.task(id), assignments[i], opening_of(verdicts[i]), chain.params.forced_error_bps);
        const Verdict published = published_verdict(chain.task(id), assignments[i], opening_of(verdicts[i]), forced);
        REQUIRE(
            chain.run(chain.actor_of(assignments[i].verifier), PublishVerdict{id, assignments[i].segment, published}) ==
            0
        );
    }
    REQUIRE(chain.task(id).state == TaskState::kChallenge);
}

Verdicts judge_anew(Chain& chain, const TaskId& id, Verdicts verdicts, const ToyRun& solver) {
    REQUIRE(chain.task(id).state == TaskState::kCompleted);
    redraw(chain, id, solver);
    const auto assignments = chain.task(id).assignments;
    for (std::size_t i = verdicts.size(); i < assignments.size(); ++i) {
        verdicts.push_back(true_verdict(chain.task(id), assignments[i], solver));
    }
    publish_verdicts(chain, id, verdicts);
    return verdicts;
}

void end_task(Chain& chain, const TaskId& id, const Verdicts& verdicts) {
    while (!is_terminal(chain.task(id).state) && chain.task(id).state != TaskState::kCompleted) {
        chain.skip(1);
        const Task task = chain.task(id);
        for (std::size_t i = 0; i < task.assignments.size() && task.state == TaskState::kDisclosure; ++i) {
            const Assignment& assignment = task.assignments[i];
            if (is_secret(assignment)) {
                REQUIRE(
                    chain.run(
                        chain.actor_of(assignment.verifier),
                        DiscloseVerdict{id, assignment.segment, opening_of(verdicts[i])}
                    ) == 0
                );
            }
        }
    }
}

std::function<State(std::uint32_t)> checkpoints_of(const ToyRun& run) {
    return [&run](std::uint32_t index) {
        return run.state(std::min<std::uint64_t>(std::uint64_t{index} * ToyRun::kInterval, ToyRun::kSteps));
    };
}

std::size_t place_of(const Chain& chain, const TaskId& id, std::uint32_t segment) {
    const auto assignments = chain.task(id).assignments;
    const auto found = std::find_if(assignments.begin(), assignments.end(), [&](const Assignment& each) {
        return each.segment == segment;
    });
    return static_cast<std::size_t>(found - assignments.begin());
}

}  // namespace assay::contracts::test
