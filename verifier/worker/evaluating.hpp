// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include <contracts/transaction/transaction.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/worker/behaviour.hpp>
#include <verifier/worker/task_artifacts.hpp>

/// Scores a final state on the task's hold-out set, for solvers and those who check them (EVL rules).
namespace assay::worker {

/// Returns the task's artifacts with its evaluation in place of its program, and the state and hold-out set as initial
/// tensors. Its segment 0 gives the score; a dispute over a score replays it like any initialisation. The task must
/// have an evaluation.
std::shared_ptr<const TaskArtifacts> evaluating(const TaskArtifacts& task, std::span<const canonical::Tensor> state);

/// Computes the evaluation that a solver claims for `state`; `ground` is evaluating(task, state). Altered by
/// `alteration` if given. Throws std::runtime_error if the engine fails.
contracts::Evaluation evaluate(
    const std::shared_ptr<const TaskArtifacts>& ground, std::span<const canonical::Tensor> state,
    const engine::EngineOptions& options, const std::shared_ptr<const Alteration>& alteration
);

}  // namespace assay::worker
