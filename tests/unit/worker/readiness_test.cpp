// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <tests/unit/worker/small_task.hpp>
#include <verifier/worker/offers.hpp>
#include <verifier/worker/readiness.hpp>

namespace assay::worker {
namespace {

TEST_CASE("a device that computes what the definition says is ready, and one that is not there is refused") {
    CHECK_NOTHROW(check_device({}));
    engine::EngineOptions options;
    options.device = "foo";
    CHECK_THROWS_WITH_AS(check_device(options), doctest::Contains("give --device one that"), NotReady);
}

TEST_CASE("a step that is tried says how long it takes, and whether the task diverges there") {
    const test::SmallTask task;
    const Trial trial = try_step(task.artifacts, {}, {});
    CHECK(trial.start_us > 0);
    CHECK(trial.step_us > 0);
    CHECK(!trial.has_diverged);
    CHECK(!try_step(task.artifacts, task.state_after(0), {}).has_diverged);

    const test::SmallTask growing(test::Start::kGrowing);
    std::vector<canonical::Tensor> state;
    std::uint32_t segment = 0;
    std::optional<std::uint64_t> diverged_at;
    for (std::vector<canonical::Tensor> before; !diverged_at; ++segment) {
        REQUIRE(segment <= 3);
        const auto end = run_segment(growing.artifacts, segment, before, {}, nullptr).value();
        diverged_at = end.diverged_at;
        if (diverged_at && *diverged_at == growing.artifacts->first_step(segment)) {
            state = before;
        } else if (diverged_at) {
            state = run_segment(growing.artifacts, segment, before, {}, nullptr, {}, *diverged_at - 1).value().state;
        }
        before = end.state;
    }
    CHECK(try_step(growing.artifacts, state, {}).has_diverged);
}

TEST_CASE("the memory that a task takes holds its data, its state three times and a dispute's step") {
    const test::SmallTask task;
    std::uint64_t state = 0;
    for (const canonical::Tensor& tensor : task.state_after(0)) {
        state += tensor.data.size();
    }
    std::uint64_t outputs = 0;
    for (const canonical::Node& node : task.artifacts->program.step) {
        outputs += node.op == canonical::Op::kCommit ? 0 : node.shape.element_count() * size_of(node.dtype);
    }
    CHECK(memory_of(*task.artifacts) >= 3 * state + outputs);
}

}  // namespace
}  // namespace assay::worker
