// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <tests/unit/worker/small_task.hpp>
#include <core/canonical/executor.hpp>
#include <core/dispute/player.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/worker/replay.hpp>
#include <verifier/worker/trainer.hpp>

namespace assay::worker {
namespace {

using canonical::Tensor;

/// A task that diverges, and where.
struct GrowingTask {
    test::SmallTask task{test::Start::kGrowing};
    std::uint32_t segment = 0;
    std::uint64_t step = 0;
    std::vector<Tensor> before;  ///< the checkpoint before that segment
    std::vector<Tensor> after;   ///< the state after that step

    GrowingTask() {
        for (std::optional<std::uint64_t> diverged_at; !diverged_at; ++segment) {
            REQUIRE(segment <= 3);
            auto end = run_segment(task.artifacts, segment, before, {}, nullptr).value();
            diverged_at = end.diverged_at;
            if (diverged_at) {
                step = *diverged_at;
                after = std::move(end.state);
                break;
            }
            before = std::move(end.state);
        }
        REQUIRE(segment == 2);
    }

    /// A claim from the segment's start to `last`.
    dispute::Claim claim(std::uint64_t last, bool diverges) const {
        dispute::Claim claim;
        claim.program = task.spec.program;
        claim.dataset_root = task.spec.dataset_root;
        claim.seed = task.spec.seed;
        claim.first_step = task.artifacts->first_step(segment);
        claim.step_count = static_cast<std::uint32_t>(last - claim.first_step + 1);
        claim.before = artifacts::state_root_of(before);
        claim.after = artifacts::state_root_of(after);
        claim.diverges = diverges;
        return claim;
    }
};

TEST_CASE("NUM-6: the state after a step that diverged is what its nodes give") {
    const GrowingTask growing;
    const auto& program = growing.task.artifacts->program;
    std::vector<Tensor> state = growing.before;
    for (std::uint64_t step = growing.task.artifacts->first_step(growing.segment); step <= growing.step; ++step) {
        const canonical::StepContext context{.seed = growing.task.spec.seed, .step = step, .dataset = program.dataset};
        std::vector<Tensor> outputs;
        const auto next = canonical::execute_graph(
            program.step, context, *growing.task.artifacts->dataset, state,
            [&](std::uint32_t, const Tensor& output) {
                outputs.push_back(output);
                return true;
            }
        );
        CHECK(next.has_value() == (step < growing.step));
        if (next) {
            state = *next;
            continue;
        }
        for (std::size_t i = 0; i < program.state.size(); ++i) {
            const auto& input = program.step.back().inputs[i];
            CHECK(
                growing.after[i] ==
                (input.source == canonical::Source::kNode ? outputs[input.index] : state[input.index])
            );
        }
    }
    const auto opening = dispute::open_divergence(growing.after);
    REQUIRE(opening.has_value());
    // It is the first that holds such a value: without it and what comes before, another or none is opened.
    std::vector<Tensor> rest = growing.after;
    for (std::size_t i = 0; i <= opening->tensor; ++i) {
        rest[i] = canonical::make_tensor(rest[i].dtype, rest[i].shape);
    }
    const auto next = dispute::open_divergence(rest);
    CHECK((!next || next->tensor > opening->tensor));
    CHECK_FALSE(dispute::open_divergence(state).has_value());
}

TEST_CASE("TASK-13: a trainer ends with the step that diverged and has the state after it") {
    const GrowingTask growing;
    Trainer trainer(growing.task.artifacts, {}, nullptr, 0, {});
    while (true) {
        while (!trainer.advance(std::chrono::milliseconds(1'000))) {
        }
        if (trainer.diverged_at()) {
            break;
        }
        trainer.begin_next();
    }
    CHECK(trainer.segment() == growing.segment);
    CHECK(trainer.diverged_at() == growing.step);
    CHECK(trainer.state() == growing.after);
    // What a checkpoint of it survives: the file.
    const Bytes file = artifacts::encode_state(growing.task.artifacts->program, growing.after);
    CHECK(artifacts::decode_state(growing.task.artifacts->program, file).value() == growing.after);
}

TEST_CASE("VER-8: a verdict tells the divergence that the solver declared from any other end of the segment") {
    const GrowingTask growing;
    const auto root_of = [&](std::optional<std::uint64_t> claimed) {
        return run_segment(growing.task.artifacts, growing.segment, growing.before, {}, nullptr, {}, claimed)
            .value()
            .root(claimed);
    };
    const Hash256 after = artifacts::state_root_of(growing.after);
    CHECK(root_of(growing.step) == after);
    CHECK(root_of(std::nullopt) == dispute::diverged_root(growing.step, after));
    CHECK(root_of(growing.step + 1) == dispute::diverged_root(growing.step, after));
    // Declared too early: the state after that step is finite, and its root is not what was declared.
    const auto early =
        run_segment(growing.task.artifacts, growing.segment, growing.before, {}, nullptr, {}, growing.step - 1);
    CHECK_FALSE(early->diverged_at.has_value());
    CHECK(root_of(growing.step - 1) == artifacts::state_root_of(early->state));
    CHECK(root_of(growing.step - 1) != after);
}

TEST_CASE("DSP-27: a replay proves a divergence that the claim is silent about, and no other") {
    const GrowingTask growing;
    // A solver who says nothing and goes on with what the graph makes of it; only its claims matter here.
    dispute::Claim claim = growing.claim(growing.step, false);
    EngineReplay replay(growing.task.artifacts, claim, growing.before, {}, {});
    CHECK(replay.diverged_at() == growing.step);
    CHECK(replay.state_root_after(growing.step) == claim.after);
    REQUIRE(replay.state_size(growing.step + 1) == growing.after.size());
    for (std::uint32_t i = 0; i < growing.after.size(); ++i) {
        CHECK(replay.state_tensor(growing.step + 1, i) == growing.after[i]);
    }
    CHECK(replay.output_commitments(growing.step).size() + 1 == replay.graph().size());
    CHECK(replay.state_size(growing.step) == growing.after.size());

    dispute::Position position = dispute::start_position(claim);
    if (position.level() == dispute::Level::kSteps) {
        CHECK_FALSE(dispute::make_divergence_proof(claim, position, replay).has_value());
        position = dispute::reveal(claim, position, dispute::make_reveal(claim, position, replay)).value();
        position = dispute::select(claim, position, dispute::make_selection(claim, position, replay)).value();
    }
    REQUIRE(position.level() == dispute::Level::kNodes);
    CHECK(dispute::pinpoint(position).step == growing.step);
    const auto proof = dispute::make_divergence_proof(claim, position, replay);
    REQUIRE(proof.has_value());
    CHECK(dispute::judge(claim, position, *proof).value() == dispute::Ruling::kClaimRefuted);

    const dispute::Claim declared = growing.claim(growing.step, true);
    EngineReplay honest(growing.task.artifacts, declared, growing.before, {}, {});
    CHECK_FALSE(dispute::make_divergence_proof(declared, position, honest).has_value());
    CHECK(dispute::judge(declared, position, *proof).error() == dispute::ProofError::kNoDivergence);

    // Of the steps after the one that diverged a replay has nothing to say.
    const auto last = growing.task.artifacts->first_step(growing.segment) + 3;
    if (last > growing.step) {
        EngineReplay longer(growing.task.artifacts, growing.claim(last, false), growing.before, {}, {});
        CHECK(longer.state_root_after(last).is_zero());
        CHECK(longer.diverged_at() == growing.step);
    }
}

}  // namespace
}  // namespace assay::worker
