// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <tests/unit/contracts/toy.hpp>
#include <tests/unit/dispute/game.hpp>
#include <verifier/compile/program/distance.hpp>
#include <core/dispute/tolerance.hpp>

/// Tasks in tolerance mode for tests: the toy program, native runs that are a bit beside it, real measurements.
namespace assay::contracts::test {

using State = std::vector<canonical::Tensor>;

/// Four profilers, every segment checked, long windows.
Params tolerance_params();
TaskSpec tolerance_spec();

/// A measurement whose parameters drifted by `drift` updates, and whose other tensors by nothing.
dispute::Measurement measurement_of(float drift);
/// Reports segments that drifted by `drift`, and references `reference` away.
ProfileReport report_of(float drift, float reference = 1.0F);

/// The state after `steps` canonical steps from `state`, of global number `first` on.
State replay_from(const ToyRun& run, State state, std::uint64_t first, std::uint32_t steps);
dispute::Measurement measure(const State& start, const State& replayed, const State& claimed, std::uint64_t seed);
MeasuredRoots roots_of(const State& start, const State& replayed, const State& claimed);
/// The distance program over the three states, for playing disputes over its claim.
dispute::testing::World measuring_world(const State& start, const State& replayed, const State& claimed);

/// Bonds everybody; submitter, solver and pauper excepted, all as verifiers.
void bond_for_tolerance(Chain& chain);
/// A task of tolerance_spec() whose profilers are drawn.
TaskId profiling_task(Chain& chain, const std::optional<TaskId>& parent = {});
/// The profilers of the task, in the order of its profiles.
std::vector<const Actor*> profilers_of(const Chain& chain, const TaskId& id);
/// Commits and publishes `reports`, in the order of the task's profiles.
void report_all(Chain& chain, const TaskId& id, const std::vector<ProfileReport>& reports);
/// A profiled task with the threshold 3 * `drift`, solved by a run with these states at its checkpoints; verifiers
/// drawn.
TaskId measured_task(
    Chain& chain, float drift, const std::function<State(std::uint32_t checkpoint)>& checkpoint,
    const std::optional<TaskId>& parent = {}
);

/// Plays a dispute to its end by the book; the challenger proves.
void play(
    Chain& chain, const DisputeId& id, dispute::Replay& responder, dispute::Replay& challenger, const Actor& responding,
    const Actor& challenging
);

}  // namespace assay::contracts::test
