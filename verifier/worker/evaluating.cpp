// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/evaluating.hpp>

#include <cstring>
#include <utility>
#include <vector>

#include <core/base/assert.hpp>
#include <core/merkle/tree.hpp>
#include <verifier/compile/program/evaluation.hpp>
#include <core/dispute/commitment.hpp>
#include <verifier/worker/runner.hpp>

namespace assay::worker {

std::shared_ptr<const TaskArtifacts> evaluating(const TaskArtifacts& task, std::span<const canonical::Tensor> state) {
    const canonical::Tensor& holdout = task.holdout.value();
    auto evaluation = program::make_evaluation(task.program, holdout.shape.rows);
    ASSERT(evaluation.has_value());  // load_task_artifacts has built it
    auto artifacts = std::make_shared<TaskArtifacts>(task);
    artifacts->program = *std::move(evaluation);
    artifacts->program.dataset = task.program.dataset;
    artifacts->initial = program::evaluated_state(state, holdout);
    return artifacts;
}

contracts::Evaluation evaluate(
    const std::shared_ptr<const TaskArtifacts>& ground, std::span<const canonical::Tensor> state,
    const engine::EngineOptions& options, const std::shared_ptr<const Alteration>& alteration
) {
    Runner runner(ground, true, options, alteration);
    runner.run(0);
    contracts::Evaluation out;
    std::vector<Hash256> leaves;
    for (const canonical::Tensor& tensor : state) {
        leaves.push_back(dispute::commit_tensor(tensor));
    }
    out.tensors_root = merkle::root_of(leaves);
    std::memcpy(&out.score, runner.state().front().data.data(), sizeof(out.score));
    return out;
}

}  // namespace assay::worker
