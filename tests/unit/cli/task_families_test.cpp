// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include <core/crypto/hash.hpp>
#include <tests/unit/cli/task_families.hpp>
#include <tests/unit/cli/temporary.hpp>
#include <tests/unit/cli/tiny_task.hpp>
#include <tests/unit/folders.hpp>
#include <verifier/taskdir/task_build.hpp>
#include <verifier/taskdir/task_directory.hpp>
#include <tools/cli/task/task_lint.hpp>
#include <verifier/artifacts/safetensors.hpp>

namespace assay::cli {
namespace {

using namespace taskdir;

using canonical::DType;
using namespace cli_test;

TEST_CASE("a multilayer perceptron takes its number of features from the data") {
    const BuiltTask task = Directory(kMlp, small_rows()).build();
    CHECK(std::get<program::MlpConfig>(task.file.model).features == 2);
    CHECK(task.program.dataset == canonical::DatasetShape{.rows = 4, .width = 3, .storage = canonical::Storage::kU8});
    CHECK(task.program.batch_size == 2);
    CHECK(words_of(task, 1) == std::vector<std::uint32_t>{3, 4, 1});
    // Two layers and their momentum.
    CHECK(task.program.state.size() == 8);
    CHECK(
        Directory(replaced(kMlp, "kind = \"sgd\"", "kind = \"sgd\"\nmomentum = 0"), small_rows())
            .build()
            .program.state.size() == 4
    );
}

TEST_CASE("features may be reals, with the class in a tensor of its own") {
    const std::vector<artifacts::NamedTensor> columns = {
        {"inputs", reals(3, 2, {0.5F, -1.0F, 2.0F, 3.0F, 0.0F, 1.0F})}, {"targets", wide(1, 3, {2, 0, 1})}};
    const BuiltTask task = Directory(kMlp, columns).build();
    CHECK(std::get<program::MlpConfig>(task.file.model).encoding == program::Encoding::kFloatBits);
    CHECK(words_of(task, 0) == std::vector<std::uint32_t>{0x3f000000U, 0xbf800000U, 2});
    // One tensor of reals: its last column is the class all the same.
    const BuiltTask together =
        Directory(kMlp, {{"rows", reals(3, 3, {0.5F, -1.0F, 2.0F, 2.0F, 3.0F, 0.0F, 0.0F, 1.0F, 1.0F})}}).build();
    CHECK(std::ranges::equal(together.data.dataset->stored(), task.data.dataset->stored()));
}

TEST_CASE("columns are named by the task") {
    const std::vector<artifacts::NamedTensor> tensors = {
        {"label", integers(2, 1, {2, 0})}, {"point", integers(2, 2, {5, 6, 7, 8})}};
    const std::string toml =
        replaced(kMlp, "rows.safetensors\"", "rows.safetensors\"\ncolumns = [\"point\", \"label\"]");
    CHECK(words_of(Directory(toml, tensors).build(), 0) == std::vector<std::uint32_t>{5, 6, 2});
    Directory(kMlp, tensors).check_refused("has no tensor \"inputs\", and none named \"rows\"");
}

TEST_CASE("a convolutional network wants as many values as its image has, and the class") {
    std::vector<std::int32_t> values(2 * 17, 1);
    const BuiltTask task = Directory(kCnn, {{"rows", integers(2, 17, values)}}).build();
    CHECK(task.program.dataset.width == 17);
    CHECK(task.program.batch_size == 2);
    Directory(kCnn, small_rows())
        .check_refused("rows have 3 values; this model reads 17: height * width * channels + 1");
    Directory(replaced(kCnn, "height = 4", "height = 4\nkernel = 2"), small_rows())
        .check_refused("kernel: must be odd");
    Directory(
        replaced(kCnn, "filters = [2]", "filters = [2, 2, 2]"), {{"rows", integers(2, 17, values)}}
    ).check_refused("pooling leaves nothing");
}

TEST_CASE("a transformer takes its vocabulary from the text") {
    const BuiltTask task = Directory(kGpt, {}).build();
    const auto& model = std::get<program::GptConfig>(task.file.model);
    CHECK(model.vocabulary == 28);  // 26 letters, space, comma
    CHECK(model.profile == program::kXg24);
    CHECK(task.program.dataset.width == 33);
    const program::OptimizerConfig& optimizer = task.file.optimizer;
    CHECK(optimizer.kind == program::OptimizerKind::kAdamW);
    CHECK(optimizer.weight_decay == 0.1F);
    CHECK(optimizer.clip_norm == 1.0F);
    CHECK(optimizer.accumulation == 2);
    CHECK(optimizer.schedule.kind == program::ScheduleKind::kCosine);
    CHECK(optimizer.schedule.warmup_updates == 2);
    CHECK(optimizer.schedule.total_updates == 10);  // 20 steps, two of which make an update
    CHECK(optimizer.schedule.final_fraction == 0.1F);
    const BuiltTask larger = Directory(replaced(kGpt, "layers = 1", "layers = 1\nvocabulary = 64"), {}).build();
    CHECK(std::get<program::GptConfig>(larger.file.model).vocabulary == 64);
    Directory(replaced(kGpt, "layers = 1", "layers = 1\nvocabulary = 20"), {}).check_refused("28 different tokens");
}

TEST_CASE("a text becomes the tokens of its tokenizer, which is the hold-out text's too") {
    const std::string vectors = folders::source() + "/tests/vectors/tokenizers/";
    const std::string toml = replaced(kGpt, "text = \"text.txt\"", R"(text = "text.txt"
tokenizer = "tokenizer.json"
[evaluation]
text = "text.txt")");
    const auto published = nlohmann::json::parse(cli_test::read_text(vectors + "gpt2.vectors.json"));
    const auto longest = std::ranges::max_element(published, {}, [](const auto& one) { return one.at("ids").size(); });
    static const std::string kText = longest->at("text");
    struct Tokens : Directory {
        Tokens(const std::string& task, const std::string& tokenizer) : Directory(task, {}) {
            write_text(at.path() / "text.txt", kText);
            write_text(at.path() / "tokenizer.json", tokenizer);
        }
    };
    const std::string file = cli_test::read_text(vectors + "gpt2.json");
    const BuiltTask task = Tokens(toml, file).build();
    const auto ids = longest->at("ids").get<std::vector<std::uint32_t>>();
    REQUIRE(task.program.dataset.rows == ids.size() - 32);
    for (std::size_t row = 0; row < task.program.dataset.rows; ++row) {
        const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(row);
        CHECK(words_of(task, row) == std::vector<std::uint32_t>(begin, begin + 33));
    }
    CHECK(task.program.dataset.storage == canonical::Storage::kU16);
    CHECK(task.program.dataset.overlap == 32);
    CHECK(std::get<program::GptConfig>(task.file.model).vocabulary == 600);
    CHECK(task.data.tokenizer == crypto::sha256(as_bytes(file)));
    const Tokens packed(toml, file);
    artifacts::ContentStore store(packed.at.path() / "store");
    const contracts::TaskSpec spec = pack_task(packed.at.path(), store, "");
    CHECK(spec.tokenizer == crypto::sha256(as_bytes(file)));
    REQUIRE(task.evaluation.has_value());
    const Bytes first(task.evaluation->holdout.data.begin(), task.evaluation->holdout.data.begin() + 33 * 4);
    CHECK(first == task.data.dataset->row(0));

    Tokens(toml, "{}").check_refused("[data] tokenizer");
    Tokens(replaced(toml, "context = 32", "context = 1024"), file).check_refused("shorter than one row");
    Tokens(replaced(toml, "text = \"text.txt\"\ntokenizer", "rows = \"rows.safetensors\"\ntokenizer"), file)
        .check_refused("[data] tokenizer: is for text");
}

TEST_CASE("a Llama has the usual sizes where the task says nothing") {
    const std::string toml = replaced(kGpt, "kind = \"gpt\"", "kind = \"llama\"");
    const BuiltTask task = Directory(toml, {}).build();
    CHECK(std::string(kind_of(task.file.model)) == "llama");
    const auto& model = std::get<program::GptConfig>(task.file.model);
    CHECK(model.vocabulary == 28);
    CHECK(model.rotary);
    CHECK_FALSE(model.tied_head);
    REQUIRE(model.llama.has_value());
    CHECK(model.llama->key_heads == 1);
    CHECK(model.llama->hidden == 96);  // 8/3 of 32, to a multiple of 32
    CHECK(task.program.state.size() == 12 * 4 + 2);
    const BuiltTask chosen =
        Directory(
            replaced(
                replaced(toml, "heads = 1", "heads = 4\nkey_heads = 2\nhidden = 40\ntied_head = true"), "width = 32",
                "width = 128"
            ),
            {}
        )
            .build();
    CHECK(std::get<program::GptConfig>(chosen.file.model).llama->key_heads == 2);
    CHECK(std::get<program::GptConfig>(chosen.file.model).llama->hidden == 40);
    CHECK(chosen.program.state.size() == 11 * 4 + 2);
    const auto refused = [&](const std::string& to, const std::string& part) {
        Directory(replaced(toml, "heads = 1", to), {}).check_refused(part);
    };
    refused("heads = 1\nkey_heads = 2", "[model] key_heads: must divide heads");
    refused("heads = 1\nhidden = 0", "[model] hidden: must be a whole number from 1");
    refused("heads = 1\npositions = \"learned\"", "[model] positions: unknown key");
}

TEST_CASE("a Llama can be judged by its distance") {
    const std::string toml =
        replaced(replaced(kGpt, "kind = \"gpt\"", "kind = \"llama\""), "[model]", "mode = \"tolerance\"\n[model]");
    const BuiltTask task = Directory(toml, {}).build();
    CHECK(task.spec.mode == contracts::Mode::kTolerance);
    REQUIRE(task.spec.distance.has_value());
    CHECK(task.spec.distance->nodes > 0);
}

TEST_CASE("a schedule may go from point to point") {
    const std::string section = kGpt.substr(kGpt.find("[schedule]"), kGpt.find("[numerics]") - kGpt.find("[schedule]"));
    const auto with = [&](const std::string& keys) {
        return Directory(replaced(kGpt, section, "[schedule]\nkind = \"points\"\n" + keys + "\n"), {});
    };
    const program::Schedule schedule =
        with("updates = [0, 2.5, 9]\nfactors = [0.5, 10, 0]\ncurved = true").build().file.optimizer.schedule;
    REQUIRE(schedule.points.size() == 3);
    CHECK(schedule.points[1].update == 2.5F);
    CHECK(schedule.points[1].factor == 10.0F);
    CHECK(schedule.is_curved);
    with("updates = [0, 2]\nfactors = [1]").check_refused("[schedule] factors: must have as many numbers");
    with("updates = [0, 2, 2]\nfactors = [1, 2, 3]").check_refused("[schedule] updates: must grow");
    with("updates = [0]\nfactors = [-1]").check_refused("[schedule] factors: must be a list");
    with("factors = [1]").check_refused("[schedule] updates: is missing");
    with("updates = [0]\nfactors = [1]\nwarmup_updates = 1").check_refused("unknown key");
}

TEST_CASE("tokens may come as rows, and then the vocabulary must be given") {
    const std::string toml = replaced(kGpt, "text = \"text.txt\"", "rows = \"rows.safetensors\"");
    std::vector<std::int32_t> tokens(2 * 33, 4);
    Directory(toml, {{"rows", integers(2, 33, tokens)}}).check_refused("[model] vocabulary: is missing");
    const std::string with = replaced(toml, "layers = 1", "layers = 1\nvocabulary = 5");
    CHECK(Directory(with, {{"rows", integers(2, 33, tokens)}}).build().program.dataset.rows == 2);
    tokens[40] = 5;
    Directory(with, {{"rows", integers(2, 33, tokens)}}).check_refused("value 7 of row 1 is 5; tokens are 0 to 4");
    Directory(with, {{"rows", reals(2, 33, std::vector<float>(66))}}).check_refused("tokens are integers");
    Directory(with, {{"rows", integers(2, 32, std::vector<std::int32_t>(64))}}).check_refused("context + 1");
}

TEST_CASE("values that the model cannot mean are refused") {
    Directory(
        kMlp, {{"rows", integers(2, 3, {1, 2, 0, 3, 4, 3})}}
    ).check_refused("value 2 of row 1 is 3; classes are 0 to 2");
    Directory(kMlp, {{"rows", integers(1, 3, {1, 2, -1})}}).check_refused("is -1; classes");
    const float infinite = std::numeric_limits<float>::infinity();
    Directory(kMlp, {{"rows", reals(1, 3, {1.0F, infinite, 0.0F})}}).check_refused("not finite");
    Directory(kMlp, {{"rows", reals(1, 3, {1.0F, 2.0F, 0.5F})}}).check_refused("no 32-bit integer");
    Directory(
        kMlp, {{"inputs", integers(2, 1, {1, 2})}, {"targets", wide(2, 1, {1, std::int64_t{1} << 40U})}}
    ).check_refused("no 32-bit integer");
    Directory(kMlp, {{"inputs", integers(2, 1, {1, 2})}, {"targets", integers(3, 1, {1, 1, 1})}}).check_refused("rows");
    constexpr std::uint32_t kTooWide = canonical::kMaxDimension + 1;
    Directory(
        kMlp, {{"rows", integers(1, kTooWide, std::vector<std::int32_t>(kTooWide))}}
    ).check_refused("at most 16777216");
    Directory(kMlp, {{"rows", integers(2, 1, {1, 2})}}).check_refused("rows have one value");
}

TEST_CASE("data that is no safetensors file, or of the wrong kind, is refused") {
    const Directory broken(kMlp, small_rows());
    write_text(broken.at.path() / "rows.safetensors", "rows");
    broken.check_refused("is not a safetensors file");
    Directory(replaced(kMlp, "rows = \"rows.safetensors\"", "text = \"text.txt\""), {}).check_refused("takes no text");
    Directory(replaced(kMlp, "rows = \"rows.safetensors\"", "rows = \"none\""), {}).check_refused("cannot read");
    Directory(replaced(kMlp, "rows = \"rows.safetensors\"", ""), {})
        .check_refused("[data] text: either this is needed");
    Directory(replaced(kMlp, "[data]", "[data]\ntext = \"text.txt\""), {}).check_refused("and not both");
    Directory(replaced(kGpt, "[data]", "[data]\ncolumns = [\"a\"]"), {}).check_refused("for rows, not for text");
}

TEST_CASE("keys of the wrong type name what is accepted") {
    const auto refused = [](const std::string& from, const std::string& to, const std::string& part) {
        Directory(replaced(kGpt, from, to), {}).check_refused(part);
    };
    refused("\"adamw\"", "\"adagrad\"", "known: \"adam\", \"adamw\", \"sgd\", \"rmsprop\"");
    refused(
        "\"cosine\"", "3", "[schedule] kind: must be one of \"constant\", \"cosine\", \"linear\", \"step\", \"points\""
    );
    refused("\"XG-24\"", "\"XG-25\"", "known: \"XG-21\", \"XG-24\", \"XG-11\", \"XG-8\", \"XG-7\"");
    refused("\"gpt\"", "\"rnn\"", "known: \"char\", \"mlp\", \"cnn\", \"gpt\", \"llama\", \"onnx\"");
    refused("layers = 1", "layers = 1\ntied_head = 1", "[model] tied_head: must be true or false");
    refused("layers = 1", "layers = 1\npositions = \"none\"", "known: \"learned\", \"rotary\"");
    refused("width = 32", "width = 48", "[model] width: must be heads times a multiple of 32");
    refused("context = 32", "context = 40", "[model] context: must be a multiple of 32");
    refused("layers = 1", "layers = 1\ndropout = 1.0", "[model] dropout: must be a number from 0 and below 1");
    refused("accumulation = 2", "accumulation = 0", "[optimizer] accumulation: must be a whole number from 1");
    refused("final_fraction = 0.1", "final_fraction = 2", "[schedule] final_fraction: must be a number from 0 to 1");
    refused("warmup_updates = 2", "warmup_updates = 10", "leaves no updates after the warm-up: 10 of 10");
    refused("weight_decay = 0.1", "momentum = 0.9", "[optimizer] momentum: unknown key");
    refused("[numerics]", "numerics = 1\n[numericz]", "task.toml");
    Directory(replaced(kMlp, "hidden = [8]", "hidden = 8"), small_rows()).check_refused("must be a list of at most");
    Directory(replaced(kMlp, "hidden = [8]", "hidden = [8, 0]"), small_rows())
        .check_refused("must be a list of at most");
    Directory(replaced(kMlp, "classes = 3\n", ""), small_rows()).check_refused("[model] classes: is missing");
}

TEST_CASE("a model beyond the limits of programs is refused and not built") {
    Directory(replaced(kGpt, "layers = 1", "layers = 4000"), {}).check_refused("too large");
    Directory(
        replaced(
            replaced(kGpt, "layers = 1", "layers = 700"),
            "kind = \"adamw\"\nweight_decay = 0.1\nclip_norm = 1.0\naccumulation = 2", "kind = \"sgd\"\nmomentum = 0.0"
        ),
        {}
    )
        .check_refused("too large");
}

TEST_CASE("an mlp without hidden layers is a linear classifier") {
    const BuiltTask task = Directory(replaced(kMlp, "hidden = [8]", "hidden = []"), small_rows()).build();
    CHECK(task.program.state.size() == 4);
}

TEST_CASE("each example directory packs and has nothing to warn of") {
    std::size_t count = 0;
    for (const char* const name : {"char", "mlp", "cnn", "gpt", "llama"}) {
        CAPTURE(name);
        const auto directory = std::filesystem::path(folders::source()) / "examples" / name;
        const Findings findings = lint_task(directory);
        CAPTURE(findings_text(findings));
        CHECK(findings.count(Severity::kError) + findings.count(Severity::kWarning) == 0);
        const TemporaryDirectory temporary;
        artifacts::ContentStore store(temporary.path() / "store");
        CHECK(store.has(pack_task(directory, store, "").program_artifact.sha256));
        ++count;
    }
    CHECK(count == 5);
}

}  // namespace
}  // namespace assay::cli
