// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <doctest/doctest.h>

#include <tests/unit/worker/small_task.hpp>
#include <core/canonical/executor.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/worker/replay.hpp>
#include <verifier/worker/trainer.hpp>

namespace assay::worker {
namespace {

using canonical::Tensor;

/// One step by the definition.
struct Scalar {
    std::vector<Tensor> outputs;
    std::vector<Tensor> next;
};
Scalar by_definition(
    const TaskArtifacts& artifacts, bool initialisation, std::uint64_t step, const std::vector<Tensor>& state
) {
    Scalar out;
    const auto& graph = initialisation ? artifacts.program.init : artifacts.program.step;
    const canonical::StepContext context{
        .seed = artifacts.spec.seed, .step = step, .dataset = artifacts.program.dataset};
    out.next = canonical::execute_graph(graph, context, *artifacts.dataset, state, [&](std::uint32_t, const Tensor& t) {
                   out.outputs.push_back(t);
                   return true;
               }).value();
    return out;
}

std::vector<Tensor> state_of(EngineReplay& replay, std::uint64_t step) {
    std::vector<Tensor> out;
    const std::size_t count = replay.state_size(step);
    for (std::uint32_t i = 0; i < count; ++i) {
        out.push_back(replay.state_tensor(step, i));
    }
    return out;
}

void check_outputs(EngineReplay& replay, std::uint64_t step, const std::vector<Tensor>& expected) {
    REQUIRE(replay.output_commitments(step).size() == expected.size());
    for (std::uint32_t node = 0; node < expected.size(); ++node) {
        CAPTURE(node);
        CHECK(replay.output_commitments(step)[node] == dispute::commit_tensor(expected[node]));
    }
    // Backwards, so that outputs are asked for that an earlier execution of the step did not keep.
    for (auto node = static_cast<std::uint32_t>(expected.size()); node-- > 0;) {
        CHECK(replay.node_output(step, node) == expected[node]);
    }
}

TEST_CASE("NUM-1: the engine's replay of a segment is the scalar one, in any order of questions") {
    const test::SmallTask task;
    auto state = task.state_after(0);
    CHECK(state == by_definition(*task.artifacts, true, 0, {}).next);
    state = task.state_after(1);
    const dispute::Claim claim = task.claim(2);
    // A budget of two states makes the replay drop and recompute.
    for (const std::uint64_t budget : {std::uint64_t{1} << 30U, std::uint64_t{300'000}, std::uint64_t{1}}) {
        CAPTURE(budget);
        EngineReplay replay(task.artifacts, claim, state, {}, {.budget_bytes = budget});
        std::vector<Scalar> steps;
        auto at = state;
        for (std::uint64_t step = 4; step < 8; ++step) {
            steps.push_back(by_definition(*task.artifacts, false, step, at));
            at = steps.back().next;
        }
        CHECK(replay.state_root_after(7) == claim.after);
        check_outputs(replay, 6, steps[2].outputs);
        CHECK(state_of(replay, 6) == steps[1].next);
        CHECK(state_of(replay, 5) == steps[0].next);
        CHECK(replay.state_root_after(4) == artifacts::state_root_of(steps[0].next));
        check_outputs(replay, 4, steps[0].outputs);
        CHECK(state_of(replay, 4) == state);
        CHECK(replay.state_root_after(7) == claim.after);
    }
}

TEST_CASE("a replay goes on where it was left, without its engine or with it") {
    const test::SmallTask task;
    const auto state = task.state_after(1);
    const dispute::Claim claim = task.claim(2);
    struct Left {};
    for (const std::uint64_t budget : {std::uint64_t{1} << 30U, std::uint64_t{1}}) {
        for (const bool rests : {false, true}) {
            CAPTURE(budget);
            CAPTURE(rests);
            bool leaves = true;  // before every second step
            EngineReplay::Storage storage{.budget_bytes = budget};
            storage.between_steps = [&leaves] {
                leaves = !leaves;
                if (leaves) {
                    throw Left{};
                }
            };
            EngineReplay replay(task.artifacts, claim, state, {}, storage);
            int left = 0;
            std::optional<Hash256> after;
            while (!after && left < 10) {
                try {
                    after = replay.state_root_after(claim.first_step + claim.step_count - 1);
                } catch (const Left&) {
                    ++left;
                }
                if (rests) {
                    replay.rest();
                }
            }
            CHECK(after == claim.after);
            CHECK(left == static_cast<int>(claim.step_count) - 1);
            CHECK(replay.steps_run() == claim.step_count);  // none of them twice
        }
    }
}

TEST_CASE("a replay that collects the outputs of a step executes it once for all of them") {
    const test::SmallTask task;
    const auto state = task.state_after(1);
    const dispute::Claim claim = task.claim(2);
    EngineReplay replay(task.artifacts, claim, state, {}, {});
    const std::uint64_t step = claim.first_step + 1;
    const Scalar first = by_definition(*task.artifacts, false, claim.first_step, state);
    const Scalar expected = by_definition(*task.artifacts, false, step, first.next);
    std::set<std::uint32_t> all;
    for (std::uint32_t node = 0; node < expected.outputs.size(); ++node) {
        all.insert(node);
    }
    replay.collect(step, all);
    const std::uint64_t steps_run = replay.steps_run();
    for (auto node = static_cast<std::uint32_t>(expected.outputs.size()); node-- > 0;) {
        CHECK(replay.node_output(step, node) == expected.outputs[node]);
    }
    CHECK(replay.steps_run() == steps_run);
    CHECK(state_of(replay, step + 1) == expected.next);
}

TEST_CASE("a replay keeps the commitments of the steps that disputes of its claim lead to") {
    const test::SmallTask task;
    const dispute::Claim claim = task.claim(2);
    EngineReplay replay(task.artifacts, claim, task.state_after(1), {}, {});
    const auto last = claim.first_step + claim.step_count - 1;
    const std::vector<Hash256> first = replay.output_commitments(claim.first_step);
    static_cast<void>(replay.output_commitments(last));
    const std::uint64_t hashed = replay.tensors_hashed();
    CHECK(replay.output_commitments(claim.first_step) == first);
    CHECK(replay.output_commitments(last) != first);
    CHECK(replay.tensors_hashed() == hashed);
}

TEST_CASE("NUM-1: the engine's replay of the initialisation is the scalar one") {
    const test::SmallTask task;
    EngineReplay replay(task.artifacts, task.claim(0), {}, {}, {});
    const Scalar scalar = by_definition(*task.artifacts, true, 0, {});
    CHECK(replay.state_size(0) == 0);
    check_outputs(replay, 0, scalar.outputs);
    CHECK(replay.state_root_after(0) == artifacts::state_root_of(scalar.next));
    CHECK(replay.state_size(0) == 0);
}

TEST_CASE("ART-11: a task that gives tensors is trained and replayed from them, and is another task without them") {
    const test::SmallTask task(test::Start::kGiven);
    const Scalar scalar = by_definition(*task.artifacts, true, 0, task.initial);
    EngineReplay replay(task.artifacts, task.claim(0), {}, {}, {});
    CHECK(state_of(replay, 0) == task.initial);
    check_outputs(replay, 0, scalar.outputs);
    CHECK(replay.state_root_after(0) == artifacts::state_root_of(scalar.next));
    CHECK(state_of(replay, 0) == task.initial);
    CHECK(task.state_after(0) == scalar.next);
    CHECK(task.state_after(0) != test::SmallTask().state_after(0));
    Trainer trainer(task.artifacts, {}, nullptr, 0, {});
    for (std::uint32_t segment = 0; segment <= 3; ++segment) {
        while (!trainer.advance(std::chrono::milliseconds(1'000))) {
        }
        CHECK(artifacts::state_root_of(trainer.state()) == task.claim(segment).after);
        if (segment < 3) {
            trainer.begin_next();
        }
    }
}

TEST_CASE("a trainer that resumes from a checkpoint arrives at the same states") {
    const test::SmallTask task;
    using std::chrono::milliseconds;
    std::vector<std::vector<Tensor>> states;
    Trainer whole(task.artifacts, {}, nullptr, 0, {});
    for (std::uint32_t segment = 0; segment <= 3; ++segment) {
        CHECK(whole.segment() == segment);
        while (!whole.advance(milliseconds(1))) {
        }
        states.push_back(whole.state());
        CHECK(whole.steps_done() == segment * 4);
        if (segment < 3) {
            whole.begin_next();
        }
    }
    CHECK(whole.loss().has_value());
    for (std::uint32_t from = 1; from <= 3; ++from) {
        Trainer resumed(task.artifacts, {}, nullptr, from, states[from - 1]);
        while (!resumed.advance(milliseconds(1'000))) {
        }
        CHECK(resumed.state() == states[from]);
        CHECK(artifacts::state_root_of(states[from]) == task.claim(from).after);
    }
}

}  // namespace
}  // namespace assay::worker
