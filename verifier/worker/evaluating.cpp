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

std::shared_ptr<const Material> evaluating(const Material& task, std::span<const canonical::Tensor> state) {
    const canonical::Tensor& holdout = task.holdout.value();
    auto evaluation = program::make_evaluation(task.program, holdout.shape.rows);
    ASSERT(evaluation.has_value());  // load_material has built it
    auto material = std::make_shared<Material>(task);
    material->program = *std::move(evaluation);
    material->program.dataset = task.program.dataset;
    material->initial = program::evaluated_state(state, holdout);
    return material;
}

contracts::Evaluation evaluate(
    const std::shared_ptr<const Material>& ground, std::span<const canonical::Tensor> state,
    const engine::EngineOptions& options, const std::shared_ptr<const Fraud>& fraud
) {
    Runner runner(ground, true, options, fraud);
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
