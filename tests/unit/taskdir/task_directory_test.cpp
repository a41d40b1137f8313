// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/tasks/tasks.hpp>
#include <verifier/taskdir/task_directory.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <verifier/artifacts/sealing.hpp>
#include <verifier/artifacts/task_secrets.hpp>
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

TEST_CASE("PRV-1: of a private task stores get sealed files and nothing else") {
    const TemporaryDirectory directory;
    write_text(directory.path() / "task.toml", "private = true\n" + kGood);
    write_text(directory.path() / "text.txt", "the quick brown fox");
    artifacts::ContentStore store(directory.path() / "store");
    const auto key = crypto::SecretKey::from_bytes(Bytes(32, 7)).value();
    const Sealing sealing{.key = key, .chain_id = "test"};
    const auto spec = pack_task(directory.path(), store, "http://127.0.0.1:4000", sealing);
    CHECK(contracts::check_spec(spec).has_value());
    REQUIRE(spec.privacy.has_value());
    const auto plain = Packed(kGood).spec;
    CHECK(spec.program == plain.program);
    CHECK(spec.dataset_artifact == plain.dataset_artifact);
    const auto secret = artifacts::artifacts_secret(key, "test", spec);
    CHECK(spec.privacy->key == secret.key());
    CHECK(store.entries().size() == 2);
    CHECK(!store.has(spec.program_artifact.sha256));
    CHECK(!store.leaves(spec.dataset_artifact.sha256));  // hashes of the plaintext's chunks
    const artifacts::ContentStore opened(directory.path() / "opened");
    const auto program = artifacts::open_file(
        store.open(spec.privacy->program.root).value(), secret,
        artifacts::artifact_of(*spec.privacy, spec.program_artifact.sha256), spec.privacy->program.root, opened
    );
    REQUIRE(program.has_value());
    CHECK(program->size_bytes() == spec.program_artifact.size_bytes);
    CHECK(pack_task(directory.path(), store, "http://127.0.0.1:4000", sealing) == spec);
}

TEST_CASE("PRV-1: a private task needs a key to be packed, one solver and no parent") {
    check_refused("private = true\n" + kGood, "assay task submit");
    check_refused("private = true\nmembers = 2\n" + kGood, "one solver");
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

TEST_CASE("TASK-2.11: a task directory asks for an image and labels") {
    const std::string digest(64, 'a');
    const Packed packed(kGood + "[environment]\nimage = \"sha256:" + digest + "\"\nlabels = [\"b=2\", \"a=1\"]\n");
    REQUIRE(packed.spec.environment.has_value());
    CHECK(packed.spec.environment->image == fixed_from_hex<Hash256>(digest));
    CHECK(packed.spec.environment->labels == std::vector<std::string>{"a=1", "b=2"});
    CHECK(contracts::check_spec(packed.spec).has_value());
    CHECK_FALSE(Packed(kGood).spec.environment.has_value());
    check_refused(kGood + "[environment]\nimage = \"" + digest + "\"\n", "[environment] image: must be the digest");
    check_refused(kGood + "[environment]\nlabels = [\"cuda\"]\n", "[environment] labels: must be there");
    check_refused(kGood + "[environment]\n", "[environment] image: must be there");
    check_refused(kGood + "[environment]\nlabel = \"a=1\"\n", "unknown key; nearest: [environment] labels");
}

TEST_CASE("TASK-2.12: a task directory names checks by the tensors of its model") {
    const Packed packed(
        kGood +
        "[checks]\nfinite = [\"*\", \"hidden.bias\"]\n[checks.shape]\n\"hidden.bias\" = \"f32 1x8\"\n"
        "[checks.range]\n\"hidden.bias\" = [-1.5, 2]\n[checks.labels]\n\"hidden.bias\" = 3\n"
    );
    namespace check = contracts::check;
    REQUIRE(packed.spec.checks.size() == 5);
    const auto bias = std::get<check::Finite>(packed.spec.checks[1]).tensor;
    REQUIRE(bias.has_value());
    CHECK(packed.spec.checks[0] == contracts::ResultCheck{check::Finite{}});
    CHECK(
        packed.spec.checks[2] ==
        contracts::ResultCheck{check::Declared{.tensor = *bias, .dtype = canonical::DType::kF32, .shape = {1, 8}}}
    );
    const check::Range range = std::get<check::Range>(packed.spec.checks[3]);
    CHECK(range.least == 0xbfc00000);
    CHECK(range.most == 0x40000000);
    CHECK(packed.spec.checks[4] == contracts::ResultCheck{check::Labels{.tensor = *bias, .classes = 3}});
    CHECK(contracts::check_spec(packed.spec).has_value());
    const std::string checks = kGood + "[checks]\n";
    check_refused(checks + "finite = [\"hidden.bais\"]\n", "no tensor \"hidden.bais\"; nearest: \"hidden.bias\"");
    check_refused(
        checks + "[checks.shape]\n\"hidden.bias\" = \"f32 8x1\"\n", "this model's tensor is f32 1x8, not f32 8x1"
    );
    check_refused(checks + "[checks.shape]\n\"hidden.bias\" = \"f64 1x8\"\n", "must be a type and a shape");
    check_refused(checks + "[checks.shape]\n\"hidden.bias\" = \"f32 1x8x\"\n", "must be a type and a shape");
    check_refused(
        checks + "[checks.range]\n\"hidden.bias\" = [1.0, 0.0]\n", "must be the least and the greatest value"
    );
    check_refused(checks + "[checks.range]\n\"hidden.bias\" = [1.0]\n", "must be the least and the greatest value");
    check_refused(checks + "[checks.labels]\n\"hidden.bias\" = 0\n", "whole number from 1");
    check_refused(checks + "sorted = [\"*\"]\n", "unknown key");
    std::string many = checks + "finite = [\"*\"";
    for (int i = 0; i < 16; ++i) {
        many += ", \"*\"";
    }
    check_refused(many + "]\n", "a task has at most 16");
}

TEST_CASE("a directory without task.toml is refused") {
    const TemporaryDirectory empty;
    artifacts::ContentStore store(empty.path() / "store");
    CHECK_THROWS_AS(static_cast<void>(pack_task(empty.path(), store, "")), TaskDirectoryError);
}

}  // namespace
}  // namespace assay::taskdir
