// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include <contracts/state/transaction.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/worker/fraud.hpp>
#include <verifier/worker/material.hpp>

/// Scoring a final state on the task's hold-out set, for solvers and those who check them (EVL rules).
namespace assay::worker {

/// The task's evaluation in the place of its program, with the state and the hold-out set as its initial tensors: its
/// segment 0 gives the score, and a dispute of a score is played with it like that of any initialisation. Of a task
/// with an evaluation.
std::shared_ptr<const Material> evaluating(const Material& task, std::span<const canonical::Tensor> state);

/// What a solver says of `state`, which `ground` is evaluating: as `fraud` has it, where there is one. Throws
/// std::runtime_error.
contracts::Evaluation evaluate(
    const std::shared_ptr<const Material>& ground, std::span<const canonical::Tensor> state,
    const engine::EngineOptions& options, const std::shared_ptr<const Fraud>& fraud
);

}  // namespace assay::worker
