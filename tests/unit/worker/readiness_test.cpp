// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>

#include <doctest/doctest.h>

#include <core/dispute/work.hpp>
#include <tests/unit/worker/small_task.hpp>
#include <verifier/engine/torch/runtime.hpp>
#include <verifier/worker/offers.hpp>
#include <verifier/worker/profiler.hpp>
#include <verifier/worker/readiness.hpp>

namespace assay::worker {
namespace {

TEST_CASE("a device that computes what the definition says is ready, and one that is not there is refused") {
    engine::EngineOptions options;
    if (const char* device = std::getenv("ASSAY_TEST_DEVICE"); device != nullptr) {
        options.device = device;
    }
    if (options.device != "cpu" && !engine::has_cuda()) {
        std::puts("skipped: libtorch finds no CUDA device");
        return;
    }
    CHECK_NOTHROW(check_device(options));
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

TEST_CASE("PRV-13: a task with a smaller d_ref than it has is found out, and one with a larger one is not minded") {
    const test::SmallTask task;
    contracts::Tolerance tolerance;
    tolerance.reference_seed = task.artifacts->spec.seed + 1;
    tolerance.profile_seed = 5;
    const MeasuredReference measured = measure_reference(task.artifacts, tolerance, task.state_after(0), {});
    contracts::Distances right{
        .parameters = dispute::relative_drift(measured.measurement.parameters),
        .other = dispute::relative_drift(measured.measurement.other)};
    REQUIRE(right.parameters > 0);
    tolerance.reference = right;
    CHECK_FALSE(is_misprofiled(task.artifacts, tolerance, {}));
    right.parameters += 1;
    tolerance.reference = right;
    CHECK_FALSE(is_misprofiled(task.artifacts, tolerance, {}));
    right.parameters -= 2;
    tolerance.reference = right;
    CHECK(is_misprofiled(task.artifacts, tolerance, {}));
}

TEST_CASE("the memory that a task takes holds its data, its state three times and a dispute's step") {
    const test::SmallTask task;
    const program::Program& program = task.artifacts->program;
    const canonical::DatasetShape shape = task.artifacts->dataset->shape();
    const std::uint64_t data = shape.rows * shape.width * 4;
    const std::uint64_t least = data + 3 * size_bytes(program.state) + dispute::memory_of(program.step);
    CHECK(memory_of(*task.artifacts, {}) >= least);
    // A limit makes no dispute smaller.
    CHECK(memory_of(*task.artifacts, {.memory_bytes = 1}) >= least);
}

TEST_CASE("steps on a CPU are planned, and take less than twice what is alive") {
    program::GptConfig config;
    config.vocabulary = 96;
    config.context = 64;
    config.layers = 6;
    config.heads = 2;
    config.width = 64;
    config.batch_size = 8;
    config.dataset_rows = 8;
    const test::SmallTask task;
    TaskArtifacts deep = *task.artifacts;
    deep.program = program::build_gpt(config, {});
    const std::uint64_t elsewhere = memory_of(deep, {.device = "cuda"});
    CHECK(elsewhere >= 2 * dispute::memory_of(deep.program.step));
    CHECK(memory_of(deep, {}) < elsewhere);
}

}  // namespace
}  // namespace assay::worker
