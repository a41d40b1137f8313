// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/measuring.hpp>

#include <utility>

#include <core/base/assert.hpp>
#include <core/merkle/tree.hpp>
#include <verifier/engine/native/native_engine.hpp>
#include <verifier/compile/program/distance.hpp>
#include <core/dispute/commitment.hpp>
#include <verifier/worker/runner.hpp>

namespace assay::worker {
namespace {

Hash256 tree_root(const States& state) {
    std::vector<Hash256> leaves;
    leaves.reserve(state.size());
    for (const canonical::Tensor& tensor : state) {
        leaves.push_back(dispute::commit_tensor(tensor));
    }
    return merkle::root_of(leaves);
}

}  // namespace

Measuring prepare_measuring(
    const TaskArtifacts& task, const States& start, const States& replayed, const States& claimed, std::uint64_t seed
) {
    auto distance = program::build_distance_program(task.program.state);
    ASSERT(distance.has_value());  // load_task_artifacts has built it
    auto artifacts = std::make_shared<TaskArtifacts>(task);
    artifacts->program = *std::move(distance);
    artifacts->program.dataset = task.program.dataset;
    artifacts->initial = program::measured_state(start, replayed, claimed);
    artifacts->spec.seed = seed;
    return {.artifacts = std::move(artifacts), .roots = {tree_root(start), tree_root(replayed), tree_root(claimed)}};
}

dispute::Measurement measure(
    const Measuring& measuring, const engine::EngineOptions& options,
    const std::shared_ptr<const Alteration>& alteration
) {
    Runner runner(measuring.artifacts, true, options, alteration);
    runner.run(0);
    return dispute::decode_measurement(canonical::tile_of(runner.state().front(), 0));
}

std::shared_ptr<const TaskArtifacts> with_seed(const TaskArtifacts& task, std::uint64_t seed) {
    auto artifacts = std::make_shared<TaskArtifacts>(task);
    artifacts->spec.seed = seed;
    return artifacts;
}

States run_natively(
    const TaskArtifacts& task, std::uint32_t segment, const States& before, const engine::EngineOptions& options
) {
    engine::NativeOptions native;
    native.device = options.device;
    native.threads = options.threads;
    engine::NativeEngine engine(task.program.step, task.dataset, native);
    engine.set_state(before);
    const std::uint64_t first = task.first_step(segment);
    for (std::uint64_t step = first; step < first + task.step_count(segment); ++step) {
        if (!engine.run_step({.seed = task.spec.seed, .step = step, .dataset = task.program.dataset})) {
            throw Diverged(step);
        }
    }
    return engine.state();
}

}  // namespace assay::worker
