// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/contracts/evaluations.hpp>

#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include <verifier/compile/program/evaluation.hpp>
#include <verifier/compile/program/graph_builder.hpp>

namespace assay::contracts::test {

using canonical::DType;
using canonical::Shape;
using canonical::Tensor;

namespace {

constexpr Shape kHoldout{4, 3};
constexpr Shape kEvaluatedWeights{64, 40};
constexpr Shape kEvaluatedBias{1, 40};

program::Program toy_evaluation() {
    program::GraphBuilder graph;
    const auto weights = program::GraphBuilder::state(0, {DType::kF32, kEvaluatedWeights});
    const auto bias = program::GraphBuilder::state(1, {DType::kF32, kEvaluatedBias});
    const auto rows = program::GraphBuilder::state(2, {DType::kI32, kHoldout});
    const auto sum = graph.add(graph.sum(graph.mul(weights, bias)), graph.sum(graph.to_float(rows)));
    const auto largest = graph.fill({1, 1}, 1e30F);
    const std::array score{graph.max(graph.min(sum, largest), graph.scale(largest, -1.0F))};
    return program::make_function(
        {"score", {DType::kF32, {1, 1}}},
        {{"state.w", {DType::kF32, kEvaluatedWeights}},
         {"state.b", {DType::kF32, kEvaluatedBias}},
         {"holdout", {DType::kI32, kHoldout}}},
        std::move(graph).commit(score)
    );
}

void lower(Tensor& score) {
    float value = 0;
    std::memcpy(&value, score.data.data(), sizeof(value));
    value -= 1.0F;
    std::memcpy(score.data.data(), &value, sizeof(value));
}

}  // namespace

Tensor toy_holdout() {
    Tensor rows = canonical::make_tensor(DType::kI32, kHoldout);
    for (std::size_t i = 0; i < kHoldout.element_count(); ++i) {
        rows.data[4 * i] = static_cast<std::uint8_t>(i);
    }
    return rows;
}

TaskSpec evaluated_spec(TaskSpec spec) {
    const program::Program program = toy_evaluation();
    const auto commitment = dispute::commit_program(program.init, program.step, 1, program.batch_size, program.dataset);
    spec.evaluation = EvaluationCommitment{
        .graph_root = commitment.init_root,
        .nodes = commitment.init_nodes,
        .holdout = dispute::commit_tensor(toy_holdout()),
        .data = {.sha256 = hash_of("holdout"), .size_bytes = 48, .location = "http://127.0.0.1:4000"},
        .work = commitment.init_work,
        .outputs = commitment.outputs};
    return spec;
}

dispute::testing::World evaluating_world(const std::vector<Tensor>& state) {
    const program::Program program = toy_evaluation();
    return {
        .init = program.init,
        .step = program.step,
        .rows = std::make_shared<ToyRows>(),
        .state = {canonical::make_tensor(DType::kF32, {1, 1})},
        .batch_size = program.batch_size,
        .initial = program::evaluated_state(state, toy_holdout())};
}

Evaluation evaluation_of(const std::vector<Tensor>& state) {
    const auto world = evaluating_world(state);
    dispute::testing::ScalarReplay replay(world, true, ToyRun::kSeed);
    Evaluation out{.tensors_root = tree_root(state), .score = 0};
    std::memcpy(&out.score, replay.state_before(1).front().data.data(), sizeof(out.score));
    return out;
}

Evaluation flattered(Evaluation evaluation) {
    Tensor score = canonical::make_tensor(DType::kF32, {1, 1});
    std::memcpy(score.data.data(), &evaluation.score, sizeof(evaluation.score));
    lower(score);
    std::memcpy(&evaluation.score, score.data.data(), sizeof(evaluation.score));
    return evaluation;
}

dispute::testing::Lie flattery() {
    return {.step = 0, .node = static_cast<std::uint32_t>(toy_evaluation().init.size() - 2), .alter = lower};
}

Hash256 tree_root(const std::vector<Tensor>& state) {
    std::vector<Hash256> leaves;
    for (const Tensor& tensor : state) {
        leaves.push_back(dispute::commit_tensor(tensor));
    }
    return merkle::root_of(leaves);
}

}  // namespace assay::contracts::test
