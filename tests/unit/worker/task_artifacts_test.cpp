// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <map>

#include <doctest/doctest.h>

#include <tests/unit/folders.hpp>
#include <tests/unit/sandbox/other_program.hpp>
#include <tests/unit/worker/small_task.hpp>

namespace assay::worker {
namespace {

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
    const contracts::Checkpoint none{Hash256{{1}}, "http://127.0.0.1:1", {}, {}};
    CHECK(load_state(*task.artifacts, none, {}, waiting_source(task.store)).error().defect == Defect::kUnreachable);
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
    const auto source = [&](const artifacts::Reference& artifact, std::uint64_t size_max) {
        asked[artifact.name] = size_max;
        return stored(artifact, size_max);
    };
    REQUIRE(load_task_artifacts(contracts::TaskId{{7}}, task.spec, source).has_value());
    constexpr std::uint64_t kHeader = 100'000'008;
    CHECK(asked.at(task.spec.program_artifact.sha256) == 64U << 20U);
    CHECK(asked.at(task.spec.dataset_artifact.sha256) == canonical::byte_count(program.dataset));
    CHECK(asked.at(task.spec.initial_artifact->sha256) == task.initial.at(0).data.size() + kHeader);
    const auto state = task.state_after(0);
    const contracts::Checkpoint checkpoint = task.post(state);
    CHECK(check_state(*task.artifacts, checkpoint, {}, source).has_value());
    CHECK(asked.at(checkpoint.state_root) == artifacts::encode_state(program, state).size());
    auto spec = task.spec;
    spec.program_artifact.size_bytes = (64U << 20U) + 1;
    CHECK(load_task_artifacts(contracts::TaskId{{7}}, spec, source).error().defect == Defect::kTooLarge);
}

TEST_CASE("a checkpoint's file that is damaged on the disk is put aside, and is fetched again") {
    test::SmallTask task;
    const auto state = task.state_after(0);
    const contracts::Checkpoint checkpoint = task.post(state);
    const ArtifactSource source = waiting_source(task.store);
    const auto load = [&] { return load_state(*task.artifacts, checkpoint, {}, source); };
    const auto check = [&] { return check_state(*task.artifacts, checkpoint, {}, source); };
    CHECK(load().value() == state);
    CHECK(check().has_value());
    const auto damage = [&](std::size_t at) {
        task.post(state);
        Bytes bytes = artifacts::encode_state(task.artifacts->program, state);
        bytes[at] ^= 1U;
        std::ofstream(task.store.path(checkpoint.state_root), std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    };
    const std::size_t last = artifacts::encode_state(task.artifacts->program, state).size() - 1;
    for (const std::size_t at : {std::size_t{9}, last}) {  // in the header, and in a tensor
        damage(at);
        CHECK(load().error().defect == Defect::kDamaged);
        CHECK(!task.store.has(checkpoint.state_root));
        CHECK(load().error().defect == Defect::kUnreachable);  // nobody else has it here
        damage(at);
        CHECK(check().error().defect == Defect::kDamaged);
        CHECK(!task.store.has(checkpoint.state_root));
    }
}

TEST_CASE("ART-10: checkpoints lack frozen tensors, but not the last one") {
    test::SmallTask task(test::Start::kFrozen);
    const program::Program& program = task.artifacts->program;
    const auto state = task.state_after(1);
    REQUIRE(state[0] == task.initial[0]);
    const artifacts::Frozen frozen = task.artifacts->frozen_in(1);
    CHECK(frozen.has(0));
    CHECK(task.artifacts->frozen_in(0).has(0));
    CHECK(!task.artifacts->frozen_in(3).is_any());
    const Bytes bytes = artifacts::encode_state(program, state, frozen);
    CHECK(bytes.size() + state[0].data.size() <= artifacts::encode_state(program, state).size());
    const contracts::Checkpoint checkpoint = task.post(state, frozen);
    const ArtifactSource source = waiting_source(task.store);
    CHECK(reference_to(*task.artifacts, checkpoint, frozen).size_bytes == bytes.size());
    CHECK(load_state(*task.artifacts, checkpoint, frozen, source).value() == state);
    CHECK(check_state(*task.artifacts, checkpoint, frozen, source).has_value());
    CHECK(load_state(*task.artifacts, checkpoint, {}, source).error().defect == Defect::kUnreachable);
    // Another frozen tensor than the task's cannot be fetched (ART-15). Here it is as if the disk were damaged.
    auto changed = state;
    changed[0].data[0] ^= 1U;
    const contracts::Checkpoint other = task.post(changed, frozen);
    CHECK(load_state(*task.artifacts, other, frozen, source).error().defect == Defect::kDamaged);
    CHECK(load_state(*task.artifacts, other, frozen, source).error().defect == Defect::kUnreachable);
}

TEST_CASE("ART-10: of a task with a parent, frozen tensors are those of its first checkpoint") {
    test::SmallTask task(test::Start::kFrozen);
    auto spec = task.spec;
    spec.parent = contracts::TaskId{{8}};
    spec.initial_artifact.reset();
    const auto before = task.state_after(3);  // the parent's last
    const contracts::Checkpoint start = task.post(before);
    const ArtifactSource source = waiting_source(task.store);
    const auto load = [&](const std::optional<contracts::Checkpoint>& first) {
        return load_task_artifacts(contracts::TaskId{{7}}, spec, source, {}, first);
    };
    CHECK(load({}).error().defect == Defect::kUnreachable);
    const std::shared_ptr<const TaskArtifacts> child = load(start).value();
    CHECK(child->initial.empty());
    CHECK(child->inherited.at(0) == before.at(0));
    CHECK(child->inherited.at(1).data.empty());
    CHECK(!child->frozen_in(0).is_any());
    CHECK(!child->frozen_in(3).is_any());
    const artifacts::Frozen frozen = child->frozen_in(1);
    REQUIRE(frozen.has(0));
    const auto after = run_segment(child, 1, before, {}, nullptr).value().state;
    const contracts::Checkpoint checkpoint = task.post(after, frozen);
    CHECK(load_state(*child, checkpoint, frozen, source).value() == after);
    CHECK(check_state(*child, checkpoint, frozen, source).has_value());
    // Its disk fails.
    contracts::Checkpoint other = start;
    other.state_root.data[0] ^= 1U;
    std::filesystem::copy_file(task.store.path(start.state_root), task.store.path(other.state_root));
    CHECK(load(other).error().defect == Defect::kDamaged);
    CHECK(load(other).error().defect == Defect::kUnreachable);
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

TEST_CASE("a parser that is stopped is a refusal, which blames nobody and ends nothing") {
    test::SmallTask task(test::Start::kGiven);
    const auto refused = [&task](const contracts::TaskSpec& spec) {
        const auto loaded = load_task_artifacts(contracts::TaskId{{7}}, spec, waiting_source(task.store));
        REQUIRE(!loaded.has_value());
        return loaded.error();
    };
    auto spec = task.spec;
    spec.program_artifact = task.put(to_bytes("crash"));
    {
        const sandbox::test::OtherProgram hostile(folders::build() + "/tests/hostile_parsers");
        const Unavailable crashed = refused(spec);
        CHECK(crashed.defect == Defect::kParser);
        CHECK(std::string(to_string(crashed.defect)) == "parser");
        CHECK(crashed.is_final);
        CHECK(crashed.is_ours());
        CHECK(crashed.reason.find("crashed") != std::string::npos);
    }
    {
        const sandbox::test::OtherProgram missing("/nonexistent");
        const Unavailable not_started = refused(task.spec);
        CHECK(not_started.defect == Defect::kNoSandbox);
        CHECK(std::string(to_string(not_started.defect)) == "no_sandbox");
        CHECK_FALSE(not_started.is_final);
        CHECK(not_started.is_ours());
    }
    CHECK(refused(spec).defect == Defect::kProgramFormat);
    CHECK_FALSE(stopped("the program", sandbox::make_refusal(sandbox::RefusalKind::kTooSlow)).is_final);
    const auto loaded = load_task_artifacts(contracts::TaskId{{7}}, task.spec, waiting_source(task.store));
    REQUIRE(loaded.has_value());
    CHECK((*loaded)->initial == task.initial);
}

}  // namespace
}  // namespace assay::worker
