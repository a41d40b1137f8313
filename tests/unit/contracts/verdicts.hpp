// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <tests/unit/contracts/distances.hpp>

/// Verdicts by distance for tests: what an honest verifier says of a task in tolerance mode, and how it is sent.
namespace assay::contracts::test {

/// A verdict without its probe root, and the state roots at its marks.
struct FoundVerdict : Verdict {
    std::vector<Hash256> marks{};
};
using Verdicts = std::vector<FoundVerdict>;  ///< by place among the assignments

/// The true verdict of an assignment on a segment between these checkpoints.
FoundVerdict measured_verdict(const Task& task, const Assignment& assignment, const State& start, const State& claimed);
/// The true verdict of an assignment on a task that `solver` solved.
FoundVerdict true_verdict(const Task& task, const Assignment& assignment, const ToyRun& solver);
Verdicts true_verdicts(const Chain& chain, const TaskId& id, const ToyRun& solver);
VerdictOpening opening_of(const FoundVerdict& verdict);
void commit_verdicts(Chain& chain, const TaskId& id, const Verdicts& verdicts);
void publish_verdicts(Chain& chain, const TaskId& id, const Verdicts& verdicts);
/// AVL-7: once other verifiers are drawn, their true verdicts on a task that `solver` solved; with those before them.
Verdicts judge_anew(Chain& chain, const TaskId& id, Verdicts verdicts, const ToyRun& solver);
/// Through the windows, every verdict disclosed, to the task's end or until it waits for other verifiers.
void end_task(Chain& chain, const TaskId& id, const Verdicts& verdicts);
std::function<State(std::uint32_t)> checkpoints_of(const ToyRun& run);
/// The place of the first assignment on a segment.
std::size_t place_of(const Chain& chain, const TaskId& id, std::uint32_t segment);

}  // namespace assay::contracts::test
