// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <tests/unit/contracts/toy.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

constexpr std::uint64_t kStep = ToyRun::kDivergesAt;

/// What the solver of `run` declares after step `step`, whose state has a value that is not finite.
DeclareDivergence declaration(const TaskId& task, const ToyRun& run, std::uint64_t step) {
    const auto& state = run.state(step + 1);
    return {
        .task = task,
        .step = step,
        .state_root = root_of(state),
        .location = {},
        .opening = dispute::open_divergence(state).value()};
}

/// A task of `run` in training, with checkpoints 0 .. segments posted.
TaskId train(Chain& chain, const ToyRun& run, std::uint32_t segments) {
    chain.bond_all();
    const TaskId id = chain.start_task(run.spec());
    std::vector<Hash256> roots = run.checkpoint_roots();
    roots.resize(segments + 1U);
    chain.post_checkpoints(id, roots);
    return id;
}

DisputeId open(Chain& chain, const TaskId& task, std::uint32_t segment) {
    REQUIRE(chain.run(chain.whistleblower, OpenDispute{task, segment, Role::kWhistleblower}) == 0);
    return dispute_id(task, segment, chain.whistleblower.id);
}

}  // namespace

TEST_CASE("TASK-13: a solver whose step diverged declares it, and the task is verified up to that step") {
    const ToyRun run({}, ToyRun::kDivergingScale);
    REQUIRE_FALSE(dispute::open_divergence(run.state(kStep)).has_value());
    Params params = quick_params();
    params.segments_checked = 4;
    Chain chain(params);
    const TaskId id = train(chain, run, 1);
    const DeclareDivergence declared = declaration(id, run, kStep);
    CHECK(chain.fail(chain.stranger, declared) == TxError::kNotSolver);
    CHECK(chain.run(chain.solver, declared) == 0);
    const Task task = chain.task(id);
    CHECK(task.state == TaskState::kCompleted);
    CHECK(task.diverged_at == kStep);
    CHECK(task.checkpoints == 3);
    CHECK(segment_count(task) == 2);
    CHECK(find_checkpoint(chain.view, id, 2)->state_root == declared.state_root);
    CHECK(chain.fail(chain.solver, declared) == TxError::kTaskState);
    CHECK(chain.fail(chain.whistleblower, OpenDispute{id, 3, Role::kWhistleblower}) == TxError::kSegmentUnknown);
    chain.skip(1);
    CHECK(chain.task(id).assignments.size() == 3);
    chain.commit_all(id);
    chain.publish_all(id);
    CHECK(chain.task(id).state == TaskState::kChallenge);
}

TEST_CASE("TASK-13: what is declared must be the next segment's, and shown") {
    const ToyRun run({}, ToyRun::kDivergingScale);
    Chain chain;
    const TaskId id = train(chain, run, 1);
    const auto fails = [&](const auto& change) {
        DeclareDivergence declared = declaration(id, run, kStep);
        change(declared);
        return chain.fail(chain.solver, declared);
    };
    for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{8}, ~std::uint64_t{0}}) {
        CHECK(fails([&](auto& d) { d.step = step; }) == TxError::kCheckpointOrder);
    }
    CHECK(fails([](auto& d) { d.state_root = hash_of("another"); }) == TxError::kNoDivergence);
    CHECK(fails([](auto& d) { d.opening.opening.source_path.pop_back(); }) == TxError::kNoDivergence);
    CHECK(fails([](auto& d) { d.opening.tensor = 2; }) == TxError::kNoDivergence);
    CHECK(fails([](auto& d) { d.opening.tile = 4; }) == TxError::kNoDivergence);
    CHECK(fails([](auto& d) { d.location = "line\nbreak"; }) == TxError::kFieldOutOfRange);
    CHECK(fails([](auto& d) { d.opening.type.shape.rows = 0; }) == TxError::kFieldOutOfRange);
    // A finite tile of the state, honestly opened.
    CHECK(
        fails([&](auto& d) {
            const auto& state = run.state(kStep);
            const std::vector<Hash256> commitments{dispute::commit_tensor(state[0]), dispute::commit_tensor(state[1])};
            d.state_root = root_of(state);
            d.opening.opening.tile = canonical::tile_of(state[0], 0);
            d.opening.opening.tile_path = dispute::tile_tree(state[0]).path(0);
            d.opening.opening.source_path = merkle::Tree(commitments).path(0);
        }) == TxError::kNoDivergence
    );
    CHECK(chain.task(id).state == TaskState::kTraining);
    for (std::uint32_t i = 2; i <= 3; ++i) {
        CHECK(chain.run(chain.solver, PostCheckpoint{id, i, hash_of("x"), {}}) == 0);
    }
    CHECK(fails([](auto&) {}) == TxError::kCheckpointOrder);
}

TEST_CASE("TASK-13: an initialisation that diverges is declared as step 0 before any checkpoint, and earns nothing") {
    Chain chain;
    chain.bond_all();
    const TaskId id = chain.start_task(make_spec());
    auto tensor = canonical::make_tensor(canonical::DType::kF32, {3, 5});
    tensor.data[3] = 0x7f;
    tensor.data[2] = 0xc0;
    const std::vector<canonical::Tensor> state{tensor, canonical::make_tensor(canonical::DType::kI32, {1, 1})};
    DeclareDivergence declared{
        .task = id,
        .step = 1,
        .state_root = root_of(state),
        .location = {},
        .opening = dispute::open_divergence(state).value()};
    CHECK(chain.fail(chain.solver, declared) == TxError::kCheckpointOrder);
    declared.step = 0;
    CHECK(chain.run(chain.solver, declared) == 0);
    CHECK(segment_count(chain.task(id)) == 0);
    CHECK(earned_reward(chain.task(id)).grains == 0);
    const dispute::Claim claim = make_claim(chain.view, chain.task(id), 0);
    CHECK(claim.initialisation);
    CHECK(claim.diverges);
    CHECK(claim.step_count == 1);
    const std::uint64_t before = chain.balance(chain.submitter);
    chain.skip(1);
    chain.commit_all(id);
    chain.publish_all(id);
    chain.end_windows(id);
    CHECK(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.paid(id, Reason::kReward).empty());
    CHECK(chain.balance(chain.submitter) == before + 20 * kCoin);
    CHECK(chain.stake(Role::kSolver, chain.solver).free.grains == 100 * kCoin);
}

TEST_CASE("SET-7: a task that diverged pays the reward of the steps that were executed and refunds the rest") {
    const ToyRun run({}, ToyRun::kDivergingScale);
    Chain chain;
    const TaskId id = train(chain, run, 1);
    CHECK(chain.run(chain.solver, declaration(id, run, kStep)) == 0);
    chain.skip(1);
    chain.commit_all(id);
    chain.publish_all(id);
    chain.end_windows(id);
    CHECK(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.paid(id, Reason::kReward) == std::vector<std::uint64_t>{12 * kCoin});
    CHECK(chain.paid(id, Reason::kRefund) == std::vector<std::uint64_t>{8 * kCoin});
    CHECK(chain.stake(Role::kSolver, chain.solver).locked.grains == 0);
}

TEST_CASE("DSP-37: the claim of a segment that diverged ends with the step that did") {
    const ToyRun run({}, ToyRun::kDivergingScale);
    Chain chain;
    const TaskId id = train(chain, run, 1);
    CHECK(chain.run(chain.solver, declaration(id, run, kStep)) == 0);
    const Task task = chain.task(id);
    const dispute::Claim claim = make_claim(chain.view, task, 2);
    CHECK(claim.first_step == 4);
    CHECK(claim.step_count == 2);
    CHECK(claim.diverges);
    CHECK(claim.after == root_of(run.state(kStep + 1)));
    CHECK_FALSE(make_claim(chain.view, task, 1).diverges);
    CHECK(make_claim(chain.view, task, 1).step_count == 4);
}

TEST_CASE("DSP-36: a divergence that was made up is refuted, one that happened holds against an accuser") {
    const ToyRun honest({}, ToyRun::kDivergingScale);
    const ToyRun liar(Tamper{false, 4, 4, 0}, ToyRun::kDivergingScale);
    Chain chain;
    const TaskId id = train(chain, honest, 1);
    CHECK(chain.run(chain.solver, declaration(id, honest, kStep)) == 0);
    const DisputeId dispute = open(chain, id, 2);
    play_dispute(chain, dispute, honest, liar, chain.whistleblower);
    CHECK(find_dispute(chain.view, dispute)->state() == DisputeState::kUpheld);
    CHECK(chain.task(id).state != TaskState::kConvicted);

    Chain other;
    const TaskId made_up = train(other, honest, 1);
    auto state = honest.state(5);
    state[0].data[3] = 0x7f;
    state[0].data[2] = 0x80;
    const DeclareDivergence declared{
        .task = made_up,
        .step = 4,
        .state_root = root_of(state),
        .location = {},
        .opening = dispute::open_divergence(state).value()};
    CHECK(other.run(other.solver, declared) == 0);
    const DisputeId second = open(other, made_up, 2);
    play_until(other, second, honest, honest, other.whistleblower, dispute::Level::kTiles);
    CHECK(dispute::op_of(find_dispute(other.view, second)->position.node()->node) == canonical::Op::kCommit);
    other.skip(other.params.dispute_clock_blocks);
    CHECK(other.task(made_up).state == TaskState::kConvicted);
}

TEST_CASE("DSP-27: a solver who trains on after a step that diverged is convicted by its own state") {
    const ToyRun run({}, ToyRun::kDivergingScale);
    Chain chain;
    const TaskId id = complete_toy_task(chain, run);
    const DisputeId dispute = open(chain, id, 2);
    const dispute::DivergenceProof proof{dispute::open_divergence(run.state(kStep + 1)).value()};
    CHECK(chain.fail(chain.whistleblower, ProveMove{dispute, proof}) == TxError::kIllegalMove);
    play_dispute(chain, dispute, run, run, chain.whistleblower);
    const Dispute ended = find_dispute(chain.view, dispute).value();
    CHECK(ended.state() == DisputeState::kRefuted);
    CHECK(ended.end()->reason == Reason::kLostDispute);
    CHECK(dispute::pinpoint(ended.position).step == kStep);
    CHECK(chain.task(id).state == TaskState::kConvicted);
}

TEST_CASE("DSP-27: who declares a divergence later than the first is convicted by the first") {
    const ToyRun run({}, ToyRun::kDivergingScale);
    Chain chain;
    const TaskId id = train(chain, run, 1);
    CHECK(chain.run(chain.solver, declaration(id, run, kStep + 1)) == 0);
    const DisputeId dispute = open(chain, id, 2);
    play_dispute(chain, dispute, run, run, chain.whistleblower);
    CHECK(dispute::pinpoint(find_dispute(chain.view, dispute)->position).step == kStep);
    CHECK(chain.task(id).state == TaskState::kConvicted);
}
