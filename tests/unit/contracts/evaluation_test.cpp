// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>

#include <doctest/doctest.h>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/governance/params_rules.hpp>
#include <contracts/tasks/tasks.hpp>
#include <tests/unit/contracts/distances.hpp>
#include <tests/unit/contracts/evaluations.hpp>
#include <tests/unit/contracts/toy.hpp>
#include <verifier/compile/program/evaluation.hpp>
#include <core/dispute/evaluation.hpp>
#include <contracts/params/spec.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;
using canonical::DType;
using canonical::Tensor;

namespace {

constexpr std::uint32_t kLast = 3;  ///< the toy task's last segment, and its last checkpoint

Evaluation evaluation_of_run(const ToyRun& run) { return evaluation_of(run.state(ToyRun::kSteps)); }

TaskId trained_task(Chain& chain, const ToyRun& run) {
    chain.bond_all();
    const TaskId id = chain.start_task(evaluated_spec(run.spec()));
    chain.post_checkpoints(id, run.checkpoint_roots());
    return id;
}

TaskId evaluated_task(Chain& chain, const ToyRun& run, const Evaluation& evaluation) {
    const TaskId id = trained_task(chain, run);
    REQUIRE(chain.run(chain.solver, CompleteTask{id, evaluation}) == 0);
    chain.skip(1);
    REQUIRE(chain.task(id).state == TaskState::kVerifying);
    return id;
}

std::vector<std::uint32_t> scores_of(const Chain& chain, const TaskId& id) {
    std::vector<std::uint32_t> scores;
    for (const HistoryRecord& entry : chain.history) {
        if (const auto* scored = std::get_if<history::Scored>(&entry.event); scored != nullptr && entry.task == id) {
            scores.push_back(scored->score);
        }
    }
    return scores;
}

/// Plays a dispute of the evaluation to its end; `lies` are the solver's.
void play_evaluation(
    Chain& chain, const DisputeId& id, const ToyRun& run, bool solver_lies, bool challenger_lies,
    const Actor& challenging
) {
    const auto& last = run.state(ToyRun::kSteps);
    const auto world = evaluating_world(last);
    const std::vector<dispute::testing::Lie> lie{flattery()};
    using Lies = std::vector<dispute::testing::Lie>;
    dispute::testing::ScalarReplay theirs(world, true, ToyRun::kSeed, solver_lies ? lie : Lies{});
    dispute::testing::ScalarReplay ours(world, true, ToyRun::kSeed, challenger_lies ? lie : Lies{});
    play(chain, id, theirs, ours, chain.solver, challenging);
}

}  // namespace

TEST_CASE(
    "EVL-1, TASK-2.8: an evaluation has a graph that can be disputed, a hold-out set, and a place where it is found"
) {
    const TaskSpec good = evaluated_spec(make_spec());
    CHECK(check_spec(good).has_value());
    const std::vector<void (*)(TaskSpec&)> changes{
        [](TaskSpec& s) { s.evaluation->nodes = 0; },
        [](TaskSpec& s) { s.evaluation->nodes = canonical::kMaxNodes + 1; },
        [](TaskSpec& s) { s.evaluation->holdout = {}; },
        [](TaskSpec& s) { s.evaluation->data.location.push_back('\n'); },
        [](TaskSpec& s) { s.program.state_tensors = canonical::kMaxStateTensors + 1; }};
    for (const auto change : changes) {
        TaskSpec bad = good;
        change(bad);
        CHECK(check_spec(bad).error() == TxError::kSpecInvalid);
    }
    TaskSpec largest = good;
    largest.evaluation->nodes = canonical::kMaxNodes;
    largest.program.state_tensors = canonical::kMaxStateTensors;
    CHECK(check_spec(largest).has_value());
    TaskSpec brief = make_spec();
    brief.checkpoint_interval = 1;
    const std::uint32_t rounds = dispute_rounds_max(brief);
    brief.evaluation = largest.evaluation;
    CHECK(dispute_rounds_max(brief) > rounds);
}

TEST_CASE("EVL-2: the state that an evaluation reads follows from the state's root and the hold-out's commitment") {
    for (const std::uint32_t count : {1U, 2U, 3U, 5U, 8U, 512U}) {
        CAPTURE(count);
        std::vector<Tensor> state;
        for (std::uint32_t i = 0; i < count; ++i) {
            state.push_back(canonical::make_tensor(DType::kF32, {1, i % 40 + 1}));
        }
        const auto read = program::evaluated_state(state, toy_holdout());
        CHECK(read.size() == dispute::evaluated_tensors(count));
        CHECK(read.size() <= canonical::kMaxStateTensors);
        CHECK(root_of(read) == dispute::evaluated_root(count, tree_root(state), dispute::commit_tensor(toy_holdout())));
    }
}

TEST_CASE("EVL-3: the claimed state follows from the score's bits, and a score that is not finite is refused") {
    Tensor tensor = canonical::make_tensor(DType::kF32, {1, 1});
    const float score = 2.5F;
    std::memcpy(tensor.data.data(), &score, sizeof(score));
    CHECK(dispute::score_root(std::bit_cast<std::uint32_t>(score)) == root_of({tensor}));
    const ToyRun run;
    Chain chain;
    const TaskId id = trained_task(chain, run);
    for (const std::uint32_t bits : {0x7f800000U, 0xff800000U, 0x7fc00000U}) {
        CHECK(
            chain.fail(chain.solver, CompleteTask{id, Evaluation{evaluation_of_run(run).tensors_root, bits}}) ==
            TxError::kFieldOutOfRange
        );
    }
}

TEST_CASE("EVL-4: a task is completed with a score of its last checkpoint exactly when it asks for one") {
    const ToyRun run;
    const Evaluation right = evaluation_of_run(run);
    {
        Chain chain;
        const TaskId id = trained_task(chain, run);
        CHECK(chain.fail(chain.solver, CompleteTask{id}) == TxError::kEvaluationMismatch);
        const Evaluation other{tree_root(run.state(ToyRun::kSteps - 1)), right.score};
        CHECK(chain.fail(chain.solver, CompleteTask{id, other}) == TxError::kNotFinalState);
        CHECK(chain.run(chain.solver, CompleteTask{id, right}) == 0);
        CHECK(chain.task(id).evaluation == right);
    }
    Chain chain;
    chain.bond_all();
    const TaskId id = chain.start_task(run.spec());
    chain.post_checkpoints(id, run.checkpoint_roots());
    CHECK(chain.fail(chain.solver, CompleteTask{id, right}) == TxError::kEvaluationMismatch);
    CHECK(chain.run(chain.solver, CompleteTask{id}) == 0);
    CHECK_FALSE(evaluation_segment(chain.task(id)).has_value());
}

TEST_CASE("EVL-4: a task that diverged has no score") {
    const ToyRun run(std::nullopt, ToyRun::kDivergingScale);
    Chain chain;
    chain.bond_all();
    const TaskId id = chain.start_task(evaluated_spec(run.spec()));
    chain.post_checkpoints(id, {run.checkpoint_root(0), run.checkpoint_root(1)});
    const auto& after = run.state(ToyRun::kDivergesAt + 1);
    const DeclareDivergence declared{id, ToyRun::kDivergesAt, root_of(after), {}, *dispute::open_divergence(after)};
    REQUIRE(chain.run(chain.solver, declared) == 0);
    chain.skip(1);
    const Task task = chain.task(id);
    CHECK_FALSE(task.evaluation.has_value());
    for (const Assignment& assignment : task.assignments) {
        CHECK(assignment.segment <= 2);
    }
    CHECK(chain.fail(chain.whistleblower, OpenDispute{id, 3, Role::kWhistleblower}) == TxError::kSegmentUnknown);
}

TEST_CASE("EVL-5: the evaluation is always drawn, as the segment after the last, without a probe") {
    const ToyRun run;
    for (std::uint64_t more = 0; more < 4; ++more) {
        Chain chain;
        chain.skip(more);
        const TaskId id = evaluated_task(chain, run, evaluation_of_run(run));
        const Task task = chain.task(id);
        REQUIRE(task.assignments.size() == chain.params.segments_checked + 1U);
        const Assignment& last = task.assignments.back();
        CHECK(last.segment == kLast + 1);
        CHECK(last.segment == evaluation_segment(task));
        CHECK(last.probe == 0);
        for (std::size_t i = 0; i + 1 < task.assignments.size(); ++i) {
            CHECK(task.assignments[i].segment <= kLast);
        }
    }
}

TEST_CASE("EVL-5: a verdict with another score opens a dispute, which the one-step verifier decides") {
    const ToyRun run;
    const Evaluation right = evaluation_of_run(run);
    for (const bool solver_lies : {true, false}) {
        CAPTURE(solver_lies);
        Chain chain;
        const TaskId id = evaluated_task(chain, run, solver_lies ? flattered(right) : right);
        const std::uint32_t verified = (solver_lies ? right : flattered(right)).score;
        for (const Assignment& due : chain.task(id).assignments) {
            const bool is_evaluation = due.segment == kLast + 1;
            const Hash256 root = is_evaluation ? dispute::score_root(verified) : run.checkpoint_root(due.segment);
            REQUIRE(chain.commit(chain.verifier, id, due.segment, root) == 0);
        }
        REQUIRE(chain.publish(chain.verifier, id, kLast + 1, dispute::score_root(verified)) == 0);
        const DisputeId dispute = dispute_id(id, kLast + 1, chain.verifier.id);
        REQUIRE(find_dispute(chain.view, dispute).has_value());
        play_evaluation(chain, dispute, run, solver_lies, !solver_lies, chain.verifier);
        const auto expected = solver_lies ? DisputeState::kRefuted : DisputeState::kUpheld;
        CHECK(find_dispute(chain.view, dispute)->state() == expected);
        CHECK((chain.task(id).state == TaskState::kConvicted) == solver_lies);
        CHECK(scores_of(chain, id).empty());
    }
}

TEST_CASE("EVL-5: anybody with a bond disputes a score, and its acceptors lose with the solver") {
    const ToyRun run;
    const Evaluation claimed = flattered(evaluation_of_run(run));
    Chain chain;
    const TaskId id = evaluated_task(chain, run, claimed);
    chain.commit_all(id);
    chain.publish_all(id);
    const OpenDispute beyond{id, kLast + 2, Role::kWhistleblower};
    CHECK(chain.fail(chain.whistleblower, beyond) == TxError::kSegmentUnknown);
    REQUIRE(chain.run(chain.whistleblower, OpenDispute{id, kLast + 1, Role::kWhistleblower}) == 0);
    const DisputeId dispute = dispute_id(id, kLast + 1, chain.whistleblower.id);
    CHECK(find_dispute(chain.view, dispute)->claim.initialisation);
    play_evaluation(chain, dispute, run, true, false, chain.whistleblower);
    CHECK(chain.task(id).state == TaskState::kConvicted);
    CHECK(chain.slashed(id, Reason::kWrongVerdict).size() == 1);
    CHECK(chain.paid(id, Reason::kVerificationFee).size() == chain.params.segments_checked);
}

TEST_CASE("EVL-5: in tolerance mode the evaluation is judged by equality") {
    Task task;
    task.spec = evaluated_spec(tolerance_spec());
    task.tolerance = Tolerance{};
    task.evaluation = Evaluation{};
    CHECK(evaluation_segment(task) == kLast + 1);
    CHECK(is_exact(task, kLast + 1));
    CHECK_FALSE(is_exact(task, kLast));
    CHECK(step_count(task, kLast + 1) == 1);
    CHECK(check_spec(task.spec).has_value());
}

TEST_CASE("EVL-5: with the evaluation a task still has at most kMaxAssignments assignments") {
    Params params = quick_params();
    params.segments_checked_max = 63;
    params.verifiers_per_segment_max = 4;
    params.end_block_gas_max = 1'000'000;
    params.block_gas_max = 1'000'000;
    params.duty_gas_max = params.block_gas_max;
    params.duty_wait_blocks = 1'000;
    CHECK(are_valid(params));
    params.segments_checked_max = 64;
    CHECK_FALSE(are_valid(params));
}

TEST_CASE("EVL-6: the score is recorded at settlement and stays with the task") {
    const ToyRun run;
    const Evaluation right = evaluation_of_run(run);
    Chain chain;
    const TaskId id = evaluated_task(chain, run, right);
    chain.commit_all(id);
    chain.publish_all(id);
    CHECK(scores_of(chain, id).empty());
    chain.end_windows(id);
    REQUIRE(chain.task(id).state == TaskState::kSettled);
    CHECK(scores_of(chain, id) == std::vector{right.score});
    CHECK(chain.task(id).evaluation == right);
    CHECK(chain.paid(id, Reason::kVerificationFee).size() == chain.params.segments_checked + 1U);
}
