// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <string>

#include <doctest/doctest.h>

#include <contracts/arbitration/arbitration.hpp>
#include <tests/adversary/fraud.hpp>
#include <tests/unit/worker/small_task.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/safetensors.hpp>
#include <verifier/compile/program/evaluation.hpp>
#include <core/dispute/evaluation.hpp>
#include <core/dispute/player.hpp>
#include <verifier/worker/evaluating.hpp>
#include <verifier/worker/replay.hpp>
#include <verifier/worker/segment_check.hpp>

namespace assay::worker {
namespace {

using adversary::Dishonesty;
using adversary::Fraud;

constexpr std::uint32_t kRows = 16;  // two batches

/// A small task that is scored on the first rows of its dataset.
class EvaluatedTask : public test::SmallTask {
  public:
    EvaluatedTask() {
        holdout = first_rows(kRows);
        const auto commitment = artifacts::commit_program(program::make_evaluation(artifacts->program, kRows).value());
        spec.evaluation = contracts::EvaluationCommitment{
            .graph_root = commitment.init_root,
            .nodes = commitment.init_nodes,
            .holdout = dispute::commit_tensor(holdout),
            .data = put_rows(holdout),
            .work = commitment.init_work,
            .outputs = commitment.outputs};
        auto loaded = load_task_artifacts(contracts::TaskId{{7}}, spec, waiting_source(store));
        REQUIRE(loaded.has_value());
        artifacts = *loaded;
    }

    canonical::Tensor first_rows(std::uint32_t count) const {
        const canonical::DatasetShape shape = artifacts->dataset->shape();
        canonical::Tensor rows = canonical::make_tensor(canonical::DType::kI32, {count, shape.width});
        for (std::uint32_t i = 0; i < count; ++i) {
            const Bytes row = artifacts->dataset->row(i);
            std::copy(row.begin(), row.end(), rows.data.begin() + static_cast<std::ptrdiff_t>(i * row.size()));
        }
        return rows;
    }

    contracts::ArtifactRef put_rows(const canonical::Tensor& rows) { return put(artifacts::encode_holdout(rows)); }

    canonical::Tensor holdout;
};

}  // namespace

TEST_CASE("EVL-9: a task is not worked on whose hold-out set or evaluation is not what it commits to") {
    EvaluatedTask task;
    CHECK(task.artifacts->holdout == task.holdout);
    const auto defect_of = [&task](const contracts::TaskSpec& spec) {
        const auto loaded = load_task_artifacts(contracts::TaskId{{7}}, spec, waiting_source(task.store));
        REQUIRE(!loaded.has_value());
        return loaded.error().defect;
    };
    auto spec = task.spec;
    spec.evaluation->graph_root = Hash256{{1}};
    CHECK(defect_of(spec) == Defect::kEvaluationOther);
    spec = task.spec;
    ++spec.evaluation->nodes;
    CHECK(defect_of(spec) == Defect::kEvaluationOther);
    spec = task.spec;
    spec.evaluation->holdout = Hash256{{1}};
    CHECK(defect_of(spec) == Defect::kHoldoutOther);
    spec = task.spec;
    spec.evaluation->data = task.put_rows(task.first_rows(kRows + 8));
    CHECK(defect_of(spec) == Defect::kHoldoutOther);
    spec.evaluation->holdout = dispute::commit_tensor(task.first_rows(kRows + 8));
    CHECK(defect_of(spec) == Defect::kEvaluationOther);
    spec = task.spec;
    spec.evaluation->data = task.put({1, 2, 3});
    CHECK(defect_of(spec) == Defect::kHoldoutFormat);
    spec.evaluation->data.sha256 = Hash256{{1}};
    CHECK(defect_of(spec) == Defect::kUnreachable);
}

TEST_CASE("EVL-7: training lowers the score, and the same state gives the same one again") {
    const EvaluatedTask task;
    const auto score_after = [&task](std::uint32_t segment) {
        const auto state = task.state_after(segment);
        return std::bit_cast<float>(evaluate(evaluating(*task.artifacts, state), state, {}, nullptr).score);
    };
    const float before = score_after(0);
    const float after = score_after(3);
    CHECK(before > after);
    CHECK(after > 0.0F);
    CHECK(score_after(3) == after);
}

TEST_CASE("EVL-5: a flattered score is refuted by the one-step verifier at the node that was altered, a true one holds"
) {
    const EvaluatedTask task;
    const auto state = task.state_after(3);
    const auto ground = evaluating(*task.artifacts, state);
    const auto fraud = std::make_shared<const Fraud>(Fraud::flattering(ground));
    const contracts::Evaluation honest = evaluate(ground, state, {}, nullptr);
    const contracts::Evaluation flattered = evaluate(ground, state, {}, fraud);
    CHECK(flattered.tensors_root == honest.tensors_root);
    CHECK(std::bit_cast<float>(flattered.score) == std::bit_cast<float>(honest.score) * 0.5F);
    for (const bool solver_lies : {true, false}) {
        CAPTURE(solver_lies);
        const auto claim = contracts::make_evaluation_claim(task.spec, solver_lies ? flattered : honest);
        CHECK(claim.before == artifacts::state_root_of(ground->initial));
        EngineReplay responder(ground, claim, {}, {}, {}, solver_lies ? fraud : nullptr);
        EngineReplay challenger(ground, claim, {}, {}, {}, solver_lies ? nullptr : fraud);
        CHECK(responder.state_root_after(0) == claim.after);
        dispute::Position position = dispute::start_position(claim);
        std::vector<dispute::NodeReveal> reveals;
        while (!position.is_at_proof()) {
            if (position.pending().empty()) {
                const auto children = dispute::make_reveal(claim, position, responder);
                if (const auto first_node = dispute::first_node_of(position)) {
                    reveals.push_back({*first_node, dispute::split(claim, position).child_height, children});
                }
                position = dispute::reveal(claim, position, children).value();
            } else {
                const auto selection = dispute::make_selection(claim, position, challenger);
                position = dispute::select(claim, position, selection).value();
            }
        }
        CHECK(dispute::pinpoint(position).node == fraud->node());
        EngineReplay& honest_side = solver_lies ? challenger : responder;
        const auto ruling = dispute::judge(claim, position, dispute::make_proof(claim, position, honest_side, reveals));
        CHECK(ruling.value() == (solver_lies ? dispute::Ruling::kClaimRefuted : dispute::Ruling::kClaimHolds));
    }
}

TEST_CASE("EVL-5: anybody's replay of the evaluation holds for a true score, and not for another") {
    EvaluatedTask task;
    const auto state = task.state_after(3);
    artifacts::SegmentRecords records;
    records.task.id = contracts::TaskId{{7}};
    records.task.spec = task.spec;
    records.task.checkpoints = 4;
    records.task.evaluation = evaluate(evaluating(*task.artifacts, state), state, {}, nullptr);
    records.segment = 4;
    records.before = task.post(state);
    Reporter reporter(true);
    const auto holds = [&] {
        return check_segment(records, waiting_source(task.store), {}, reporter, std::atomic<bool>(false))
            .value()
            .value()
            .holds();
    };
    CHECK(holds());
    records.task.evaluation->score ^= 1U;
    CHECK_FALSE(holds());
}

TEST_CASE("a solver that flatters its score trains honestly, and in tasks without one does nothing wrong") {
    const EvaluatedTask task;
    const auto fraud = std::make_shared<const Fraud>(Dishonesty::kScore, task.artifacts);
    CHECK(task.state_after(3, fraud) == task.state_after(3));
    CHECK(fraud->segment() == 4);
    CHECK(fraud->has_place());
    const test::SmallTask plain;
    CHECK_FALSE(Fraud(Dishonesty::kScore, plain.artifacts).has_place());
}

}  // namespace assay::worker
