// SPDX-License-Identifier: Apache-2.0
#include <map>

#include <doctest/doctest.h>

#include <tests/unit/worker/small_task.hpp>

namespace assay::worker {
namespace {

using artifacts::StateFile;

TEST_CASE("ART-7: a task whose artifacts are not what it commits to is not worked on") {
    test::SmallTask task;
    const auto refused = [&task](const contracts::TaskSpec& spec) {
        const auto loaded = load_task_artifacts(contracts::TaskId{{7}}, spec, waiting_source(task.store));
        REQUIRE(!loaded.has_value());
        return loaded.error();
    };
    auto spec = task.spec;
    spec.program.step_root = Hash256{{1}};
    CHECK(refused(spec).is_final);
    spec = task.spec;
    spec.dataset_root = Hash256{{1}};
    CHECK(refused(spec).is_final);
    spec = task.spec;
    spec.program_artifact = task.put({1, 2, 3});
    CHECK(refused(spec).is_final);
    spec = task.spec;
    spec.dataset_artifact =
        task.put(artifacts::build_text_dataset("another text of another size", 4)->dataset.stored());
    CHECK(refused(spec).is_final);
    spec = task.spec;
    spec.dataset_artifact.sha256 = Hash256{{1}};
    CHECK(!refused(spec).is_final);
}

TEST_CASE("LIN-1: a task with a parent is worked on without its program's initial tensors") {
    test::SmallTask task(test::Start::kGiven);
    auto spec = task.spec;
    spec.parent = contracts::TaskId{{8}};
    spec.initial_artifact.reset();
    const auto loaded = load_task_artifacts(contracts::TaskId{{7}}, spec, waiting_source(task.store));
    REQUIRE(loaded.has_value());
    CHECK((*loaded)->initial.empty());
    const auto before = task.state_after(0);
    const auto end = run_segment(*loaded, 1, before, {}, nullptr).value();
    CHECK(artifacts::state_root_of(end.state) == artifacts::state_root_of(task.state_after(1)));
}

TEST_CASE("what is wrong with a task has a name") {
    test::SmallTask task;
    const auto defect_of = [&task](const contracts::TaskSpec& spec) {
        const auto loaded = load_task_artifacts(contracts::TaskId{{7}}, spec, waiting_source(task.store));
        REQUIRE(!loaded.has_value());
        return loaded.error().defect;
    };
    auto spec = task.spec;
    spec.program.step_root = Hash256{{1}};
    CHECK(defect_of(spec) == Defect::kProgramOther);
    spec = task.spec;
    spec.program_artifact = task.put({1, 2, 3});
    CHECK(defect_of(spec) == Defect::kProgramFormat);
    spec = task.spec;
    spec.dataset_root = Hash256{{1}};
    CHECK(defect_of(spec) == Defect::kDatasetOther);
    spec = task.spec;
    spec.dataset_artifact.sha256 = Hash256{{1}};
    CHECK(defect_of(spec) == Defect::kUnreachable);
    const Bytes state = artifacts::encode_state(task.artifacts->program, task.state_after(0));
    const contracts::Checkpoint other{Hash256{{1}}, task.put(state), {}};
    CHECK(
        load_state(*task.artifacts, other, StateFile::kWhole, waiting_source(task.store)).error().defect ==
        Defect::kStateOther
    );
    const contracts::Checkpoint none{Hash256{{1}}, task.put({1}), {}};
    CHECK(
        load_state(*task.artifacts, none, StateFile::kWhole, waiting_source(task.store)).error().defect ==
        Defect::kStateFormat
    );
    CHECK(std::string(to_string(Defect::kDatasetSize)) == "dataset_size");
}

TEST_CASE("ART-11: a task whose initial tensors are not those that it commits to is not worked on") {
    test::SmallTask task(test::Start::kGiven);
    CHECK(task.artifacts->initial == task.initial);
    const auto refused = [&task](const contracts::TaskSpec& spec) {
        const auto loaded = load_task_artifacts(contracts::TaskId{{7}}, spec, waiting_source(task.store));
        REQUIRE(!loaded.has_value());
        return loaded.error();
    };
    auto spec = task.spec;
    spec.program.initial_root = Hash256{{1}};
    CHECK(refused(spec).is_final);
    CHECK(refused(spec).reason.find("initial tensors") != std::string::npos);
    spec = task.spec;
    spec.program.initial_tensors = 2;
    CHECK(refused(spec).is_final);
    spec = task.spec;
    spec.initial_artifact.reset();
    CHECK(refused(spec).is_final);
    spec = task.spec;
    spec.initial_artifact = task.put({1, 2, 3});
    CHECK(refused(spec).is_final);
    spec.initial_artifact = task.put(artifacts::encode_state(task.artifacts->program, task.state_after(0)));
    CHECK(refused(spec).is_final);
    auto other = task.initial;
    other[0].data[0] ^= 1U;
    spec.initial_artifact = task.put(artifacts::encode_initial(task.artifacts->program, other));
    CHECK(refused(spec).is_final);
    spec = task.spec;
    spec.initial_artifact->sha256 = Hash256{{1}};
    CHECK(!refused(spec).is_final);
}

TEST_CASE("ART-12: what may be fetched follows from the task") {
    test::SmallTask task(test::Start::kGiven);
    const program::Program& program = task.artifacts->program;
    std::map<Hash256, std::uint64_t> asked;
    const auto stored = waiting_source(task.store);
    const auto source = [&](const contracts::ArtifactRef& artifact, std::uint64_t size_max, const auto& state) {
        asked[artifact.sha256] = size_max;
        return stored(artifact, size_max, state);
    };
    REQUIRE(load_task_artifacts(contracts::TaskId{{7}}, task.spec, source).has_value());
    constexpr std::uint64_t kHeader = 100'000'008;
    CHECK(asked.at(task.spec.program_artifact.sha256) == 64U << 20U);
    CHECK(asked.at(task.spec.dataset_artifact.sha256) == canonical::byte_count(program.dataset));
    CHECK(asked.at(task.spec.initial_artifact->sha256) == task.initial.at(0).data.size() + kHeader);
    std::uint64_t state_bytes = 0;
    for (const canonical::Tensor& tensor : task.state_after(0)) {
        state_bytes += tensor.data.size();
    }
    contracts::Checkpoint checkpoint{Hash256{{1}}, task.put({1}), {}};
    CHECK(check_state(*task.artifacts, checkpoint, StateFile::kWhole, source).error().defect == Defect::kStateFormat);
    CHECK(asked.at(checkpoint.artifact.sha256) == state_bytes + kHeader);
    checkpoint.artifact.size_bytes = state_bytes + kHeader + 1;
    CHECK(check_state(*task.artifacts, checkpoint, StateFile::kWhole, source).error().defect == Defect::kTooLarge);
    CHECK(load_state(*task.artifacts, checkpoint, StateFile::kWhole, source).error().is_final);
    auto spec = task.spec;
    spec.program_artifact.size_bytes = (64U << 20U) + 1;
    CHECK(load_task_artifacts(contracts::TaskId{{7}}, spec, source).error().defect == Defect::kTooLarge);
}

TEST_CASE("a checkpoint is used only when its file has the posted root") {
    test::SmallTask task;
    const auto state = task.state_after(0);
    const Bytes bytes = artifacts::encode_state(task.artifacts->program, state);
    contracts::Checkpoint checkpoint;
    checkpoint.artifact = task.put(bytes);
    checkpoint.state_root = artifacts::state_root_of(state);
    CHECK(load_state(*task.artifacts, checkpoint, StateFile::kWhole, waiting_source(task.store)).value() == state);
    CHECK(check_state(*task.artifacts, checkpoint, StateFile::kWhole, waiting_source(task.store)).has_value());
    checkpoint.state_root.data[0] ^= 1U;
    CHECK(!load_state(*task.artifacts, checkpoint, StateFile::kWhole, waiting_source(task.store)).has_value());
    CHECK(
        check_state(*task.artifacts, checkpoint, StateFile::kWhole, waiting_source(task.store)).error().defect ==
        Defect::kStateOther
    );
    checkpoint.artifact = task.put({1, 2, 3});
    CHECK(!load_state(*task.artifacts, checkpoint, StateFile::kWhole, waiting_source(task.store)).has_value());
}

TEST_CASE("ART-10: a checkpoint may lack frozen tensors, but not the last one") {
    test::SmallTask task(test::Start::kFrozen);
    const program::Program& program = task.artifacts->program;
    const auto state = task.state_after(1);
    REQUIRE(state[0] == task.initial[0]);
    const Bytes bytes = artifacts::encode_state(program, state, StateFile::kTrained);
    CHECK(bytes.size() + state[0].data.size() <= artifacts::encode_state(program, state).size());
    const contracts::Checkpoint checkpoint{artifacts::state_root_of(state), task.put(bytes), {}};
    const ArtifactSource source = waiting_source(task.store);
    CHECK(least_file(*task.artifacts, 1) == StateFile::kTrained);
    CHECK(load_state(*task.artifacts, checkpoint, StateFile::kTrained, source).value() == state);
    CHECK(check_state(*task.artifacts, checkpoint, StateFile::kTrained, source).has_value());
    CHECK(least_file(*task.artifacts, 3) == StateFile::kWhole);
    CHECK(load_state(*task.artifacts, checkpoint, StateFile::kWhole, source).error().defect == Defect::kStateFormat);
    CHECK(check_state(*task.artifacts, checkpoint, StateFile::kWhole, source).error().defect == Defect::kStateFormat);
    // Of a task that has a parent nobody fetches initial tensors.
    TaskArtifacts child = *task.artifacts;
    child.initial.clear();
    CHECK(least_file(child, 1) == StateFile::kWhole);
    // A frozen tensor that somebody has changed has another root.
    auto changed = state;
    changed[0].data[0] ^= 1U;
    const contracts::Checkpoint other{artifacts::state_root_of(changed), task.put(bytes), {}};
    CHECK(load_state(*task.artifacts, other, StateFile::kTrained, source).error().defect == Defect::kStateOther);
}

TEST_CASE("segments cut the run at the checkpoint interval, the last may be short") {
    test::SmallTask task;
    TaskArtifacts artifacts = *task.artifacts;
    artifacts.spec.steps = 10;
    CHECK(artifacts.first_step(1) == 0);
    CHECK(artifacts.first_step(3) == 8);
    CHECK(artifacts.step_count(2) == 4);
    CHECK(artifacts.step_count(3) == 2);
}

}  // namespace
}  // namespace assay::worker
