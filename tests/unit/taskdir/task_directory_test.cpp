// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/tasks/tasks.hpp>
#include <verifier/taskdir/task_directory.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <verifier/compile/program/program.hpp>
#include <core/dispute/commitment.hpp>
#include <contracts/params/spec.hpp>

#include <tests/unit/cli/temporary.hpp>
#include <tests/unit/cli/tiny_task.hpp>

namespace assay::taskdir {
namespace {

using cli_test::replaced;
using cli_test::TemporaryDirectory;
using cli_test::write_text;

const std::string kGood = cli_test::kTaskHead + "seed = 3\n" + cli_test::kCharModel + cli_test::kAdam +
                          "learning_rate = 0.01\n" + cli_test::kTextData;

struct Packed {
    TemporaryDirectory directory;
    contracts::TaskSpec spec;

    explicit Packed(const std::string& toml, const std::string& text = "the quick brown fox") {
        write_text(directory.path() / "task.toml", toml);
        write_text(directory.path() / "text.txt", text);
        artifacts::ContentStore store(directory.path() / "store");
        spec = pack_task(directory.path(), store, "http://127.0.0.1:4000");
    }
};

void check_refused(const std::string& toml, const std::string& part) {
    CAPTURE(toml);
    CHECK_THROWS_WITH_AS(Packed{toml}, doctest::Contains(part.c_str()), TaskDirectoryError);
}

TEST_CASE("a packed task is one that the chain takes") {
    const Packed packed(kGood);
    CHECK(contracts::check_spec(packed.spec).has_value());
    CHECK(packed.spec.title == "tiny");
    CHECK(packed.spec.steps == 20);
    CHECK(packed.spec.checkpoint_interval == 10);
    CHECK(packed.spec.seed == 3);
    CHECK(packed.spec.reward == Amount{20'000'000'000});
    CHECK(packed.spec.verification_fee == Amount{500});
    CHECK(packed.spec.training_blocks == 100);
    CHECK(packed.spec.dataset_artifact.location == "http://127.0.0.1:4000");
}

TEST_CASE("a packed task's artifacts are what the spec names") {
    const Packed packed(kGood);
    const artifacts::ContentStore store(packed.directory.path() / "store");
    const auto bytes = store.get(packed.spec.program_artifact.sha256);
    REQUIRE(bytes.has_value());
    CHECK(bytes->size_bytes() == packed.spec.program_artifact.size_bytes);
    const auto program = program::decode_program(bytes->view());
    REQUIRE(program.has_value());
    const auto tensors = static_cast<std::uint32_t>(program->state.size());
    CHECK(
        dispute::commit_program(program->init, program->step, tensors, program->batch_size, program->dataset) ==
        packed.spec.program
    );
    const auto rows = store.get(packed.spec.dataset_artifact.sha256);
    REQUIRE(rows.has_value());
    const auto dataset = artifacts::Dataset::make(packed.spec.program.dataset, *rows);
    REQUIRE(dataset.has_value());
    CHECK(artifacts::dataset_root(*dataset) == packed.spec.dataset_root);
}

TEST_CASE("TOL-4: a model of more tensors than parts fit a graph can be trained in tolerance mode") {
    const std::string deep =
        "[model]\nkind = \"gpt\"\ncontext = 32\nlayers = 40\nwidth = 32\nheads = 1\nbatch_size = 2\n";
    const std::string toml =
        cli_test::kTaskHead + "mode = \"tolerance\"\n" + deep + cli_test::kAdam + cli_test::kTextData;
    const Packed packed(toml, std::string(100, 'a') + "b");
    CHECK(packed.spec.program.state_tensors > 1'361);
    REQUIRE(packed.spec.distance.has_value());
    CHECK(packed.spec.distance->nodes < canonical::kMaxNodes);
    CHECK(contracts::check_spec(packed.spec).has_value());
}

TEST_CASE("packing one directory twice gives one task") {
    CHECK(Packed(kGood).spec == Packed(kGood).spec);
    CHECK_FALSE(Packed(kGood).spec == Packed(kGood, "another text entirely").spec);
    CHECK_FALSE(Packed(kGood).spec.program == Packed(replaced(kGood, "0.01", "0.02")).spec.program);
}

TEST_CASE("settings that are left out have their defaults") {
    const Packed packed(replaced(replaced(kGood, "seed = 3\n", ""), "learning_rate = 0.01\n", ""));
    CHECK(packed.spec.seed == 1);
    CHECK(
        Packed(replaced(kGood, "\"adam\"", "\"sgd\"")).spec.program.state_tensors < packed.spec.program.state_tensors
    );
}

TEST_CASE("an unknown key is refused with the nearest one") {
    check_refused(replaced(kGood, "steps =", "step ="), "step: unknown key; nearest: steps");
    check_refused(replaced(kGood, "hidden =", "hiden ="), "[model] hiden: unknown key; nearest: [model] hidden");
    check_refused(replaced(kGood, "learning_rate", "lerning_rate"), "nearest: [optimizer] learning_rate");
    check_refused(replaced(kGood, "[data]\ntext", "[data]\ntest"), "nearest: [data] text");
    check_refused(replaced(kGood, "[model]", "[modell]"), "nearest: model");
    check_refused(replaced(kGood, "\"char\"", "\"chr\""), "\"chr\" is unknown; nearest: \"char\"");
    check_refused(replaced(kGood, "\"adam\"", "\"adm\""), "nearest: \"adam\"");
    check_refused(replaced(kGood, "learning_rate = 0.01", "momentum = 0.9"), "momentum: unknown key");
}

TEST_CASE("RET-1: a result is kept for a number of blocks and a fee, by a single solver") {
    const std::string kept = "retention_blocks = 60000\nretention_fee = \"1 ASY\"\n";
    CHECK_FALSE(Packed(kGood).spec.retention.has_value());
    const contracts::Retention asked{.blocks = 60'000, .fee = {1'000'000'000}};
    CHECK(Packed(kept + std::string(kGood)).spec.retention == asked);
    check_refused("retention_blocks = 60000\n" + std::string(kGood), "retention_fee: is needed too");
    check_refused("retention_fee = \"1 ASY\"\n" + std::string(kGood), "retention_blocks: is needed too");
    check_refused(kept + "members = 2\n" + std::string(kGood), "retention_blocks: is for tasks with one solver");
}

TEST_CASE("an error names file and line") {
    check_refused(replaced(kGood, "steps = 20", "steps = 0"), "task.toml:2: steps:");
    check_refused(replaced(kGood, "steps = 20", "steps = "), "task.toml:2:");
}

TEST_CASE("a missing key is named") {
    for (const char* line :
         {"title = \"tiny\"\n", "steps = 20\n", "checkpoint_interval = 10\n", "reward = \"20 ASY\"\n",
          "verification_fee = \"500 grains\"\n", "training_blocks = 100\n", "kind = \"char\"\n"}) {
        check_refused(replaced(kGood, line, ""), "is missing");
    }
    check_refused(replaced(kGood, "text = \"text.txt\"\n", ""), "either this is needed");
}

TEST_CASE("numbers out of range are refused") {
    check_refused(replaced(kGood, "steps = 20", "steps = -1"), "steps: must be a whole number");
    check_refused(replaced(kGood, "steps = 20", "steps = 2.5"), "steps: must be a whole number");
    check_refused(replaced(kGood, "steps = 20", "steps = \"20\""), "steps: must be a whole number");
    check_refused(replaced(kGood, "steps = 20", "steps = 20000"), "makes more than 1024 segments");
    check_refused(replaced(kGood, "checkpoint_interval = 10", "checkpoint_interval = 4294967296"), "whole number");
    check_refused(replaced(kGood, "training_blocks = 100", "training_blocks = 0"), "training_blocks");
    check_refused(replaced(kGood, "embedding = 32", "embedding = 33"), "multiple of 32");
    check_refused(replaced(kGood, "embedding = 32", "embedding = 16777216"), "context times embedding");
    check_refused(replaced(kGood, "context = 4", "context = 16777216"), "context");
    check_refused(replaced(kGood, "context = 4", "context = 0"), "context");
    check_refused(replaced(kGood, "hidden = 8", "hidden = 0"), "hidden");
    check_refused(replaced(kGood, "batch_size = 2", "batch_size = 0"), "batch_size");
    for (const char* rate : {"0", "-0.1", "nan", "inf", "1e-60", "\"x\""}) {
        check_refused(replaced(kGood, "0.01", rate), "learning_rate: must be a number above 0");
    }
}

TEST_CASE("amounts without a unit are refused") {
    check_refused(replaced(kGood, "\"20 ASY\"", "\"20\""), "reward: an amount needs its unit");
    check_refused(replaced(kGood, "\"20 ASY\"", "20"), "reward: must be a text");
}

TEST_CASE("a title that the chain would refuse is refused") {
    check_refused(replaced(kGood, "tiny", std::string(65, 'x')), "title");
    check_refused(replaced(kGood, "tiny", "größe"), "title");
}

TEST_CASE("a text that is missing, short or not UTF-8 is refused") {
    check_refused(replaced(kGood, "text.txt", "none.txt"), "cannot read");
    CHECK_THROWS_AS(Packed(kGood, "abcd"), TaskDirectoryError);
    CHECK_THROWS_AS(Packed(kGood, ""), TaskDirectoryError);
    CHECK_THROWS_AS(Packed(kGood, "ab\xff\xfe cdefgh"), TaskDirectoryError);
}

TEST_CASE("a directory without task.toml is refused") {
    const TemporaryDirectory empty;
    artifacts::ContentStore store(empty.path() / "store");
    CHECK_THROWS_AS(static_cast<void>(pack_task(empty.path(), store, "")), TaskDirectoryError);
}

}  // namespace
}  // namespace assay::taskdir
