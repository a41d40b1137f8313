// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include <core/crypto/hash.hpp>
#include <tests/unit/cli/temporary.hpp>
#include <tests/unit/cli/tiny_task.hpp>
#include <verifier/taskdir/task_build.hpp>
#include <verifier/taskdir/task_directory.hpp>
#include <tools/cli/task/task_lint.hpp>
#include <verifier/artifacts/safetensors.hpp>

namespace assay::cli {
namespace {

using namespace taskdir;

using canonical::DType;
using cli_test::replaced;
using cli_test::TemporaryDirectory;
using cli_test::write_text;

const std::string kMlp = cli_test::kTaskHead + R"([model]
kind = "mlp"
hidden = [8]
classes = 3
batch_size = 2
[optimizer]
kind = "sgd"
[data]
rows = "rows.safetensors"
)";
const std::string kCnn = cli_test::kTaskHead + R"([model]
kind = "cnn"
height = 4
width = 4
filters = [2]
classes = 3
batch_size = 2
[optimizer]
kind = "adam"
[data]
rows = "rows.safetensors"
)";
const std::string kGpt = cli_test::kTaskHead + R"([model]
kind = "gpt"
context = 32
layers = 1
heads = 1
width = 32
batch_size = 2
[optimizer]
kind = "adamw"
weight_decay = 0.1
clip_norm = 1.0
accumulation = 2
[schedule]
kind = "cosine"
warmup_updates = 2
final_fraction = 0.1
[numerics]
profile = "XG-24"
[data]
text = "text.txt"
)";

canonical::Tensor integers(std::uint32_t rows, std::uint32_t cols, const std::vector<std::int32_t>& values) {
    REQUIRE(values.size() == std::size_t{rows} * cols);
    canonical::Tensor out = canonical::make_tensor(DType::kI32, {rows, cols});
    for (std::size_t i = 0; i < values.size(); ++i) {
        for (std::size_t b = 0; b < 4; ++b) {
            out.data[4 * i + b] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(values[i]) >> (8 * b));
        }
    }
    return out;
}

canonical::Tensor reals(std::uint32_t rows, std::uint32_t cols, const std::vector<float>& values) {
    std::vector<std::int32_t> bits;
    for (const float value : values) {
        bits.push_back(std::bit_cast<std::int32_t>(value));
    }
    canonical::Tensor out = integers(rows, cols, bits);
    out.dtype = DType::kF32;
    return out;
}

canonical::Tensor wide(std::uint32_t rows, std::uint32_t cols, const std::vector<std::int64_t>& values) {
    canonical::Tensor out = canonical::make_tensor(DType::kI64, {rows, cols});
    for (std::size_t i = 0; i < values.size(); ++i) {
        for (std::size_t b = 0; b < 8; ++b) {
            out.data[8 * i + b] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(values[i]) >> (8 * b));
        }
    }
    return out;
}

struct Directory {
    TemporaryDirectory at;

    Directory(const std::string& toml, std::vector<artifacts::NamedTensor> tensors) {
        write_text(at.path() / "task.toml", toml);
        write_text(at.path() / "text.txt", "the quick brown fox jumps over the lazy dog, twice");
        const Bytes bytes = artifacts::encode_safetensors({.tensors = std::move(tensors), .metadata = {}});
        write_text(at.path() / "rows.safetensors", std::string(bytes.begin(), bytes.end()));
    }
    BuiltTask build() const {
        Findings findings(task_file_name(at.path()));
        auto task = build_task(at.path(), findings);
        findings.throw_if_wrong();
        REQUIRE(task.has_value());
        return *std::move(task);
    }
    void check_refused(const std::string& part) const {
        CAPTURE(cli_test::read_text(at.path() / "task.toml"));
        CHECK_THROWS_WITH_AS(build(), doctest::Contains(part.c_str()), TaskDirectoryError);
    }
};

/// Two features and a class.
std::vector<artifacts::NamedTensor> small_rows() {
    return {{"rows", integers(4, 3, {1, 2, 0, 3, 4, 1, 5, 6, 2, 7, 8, 0})}};
}

std::vector<std::uint32_t> words_of(const BuiltTask& task, std::uint64_t row) {
    std::vector<std::uint32_t> out;
    const Bytes bytes = task.data.dataset->row(row);
    for (std::size_t i = 0; i < bytes.size(); i += 4) {
        out.push_back(
            bytes[i] | std::uint32_t{bytes[i + 1]} << 8U | std::uint32_t{bytes[i + 2]} << 16U |
            std::uint32_t{bytes[i + 3]} << 24U
        );
    }
    return out;
}

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
    const std::string vectors = std::string(ASSAY_SOURCE_DIR) + "/tests/vectors/tokenizers/";
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

TEST_CASE("a section of replicas makes a program of them, and says what does not go together") {
    const auto with = [](const std::string& replicas, const std::string& optimizer) {
        return Directory(replaced(kMlp, "kind = \"sgd\"\n", optimizer + "[replicas]\n" + replicas), small_rows());
    };
    const std::string sgd = "kind = \"sgd\"\n";
    const BuiltTask dgc = with("count = 2\nexchange = \"dgc\"\nblock = 16\ndense_below = 8\n", sgd).build();
    const program::Replicas& replicas = dgc.file.optimizer.replicas;
    CHECK(replicas.count == 2);
    CHECK(replicas.exchange == program::ExchangeKind::kDgc);
    CHECK(replicas.block == 16);
    CHECK(replicas.dense_below == 8);
    CHECK(std::any_of(dgc.program.state.begin(), dgc.program.state.end(), [](const program::StateTensor& tensor) {
        return tensor.name == "accumulated.replica.1.hidden1.weight";
    }));
    CHECK(with("count = 2\n", "kind = \"adamw\"\n").build().file.optimizer.replicas.count == 2);
    const std::string by_dgc = "count = 2\nexchange = \"dgc\"\n";
    with("count = 3\n", sgd).check_refused("[replicas] count: must divide [model] batch_size, which is 2");
    with("exchange = \"dgc\"\n", sgd).check_refused("[replicas] count: is missing");
    with("count = 2\nexchange = \"sparse\"\n", sgd).check_refused("known: \"dense\", \"dgc\", \"diloco\"");
    with("count = 2\nblock = 16\n", sgd).check_refused("[replicas] block: is for the exchange dgc");
    with(by_dgc, "kind = \"adamw\"\n").check_refused("[replicas] exchange: dgc is for the optimizer sgd");
    with(by_dgc, sgd + "nesterov = true\n").check_refused("[replicas] exchange: dgc is for the optimizer sgd");
    with(by_dgc, sgd + "accumulation = 2\n").check_refused("leave [optimizer] accumulation out");
}

TEST_CASE("a section of local replicas makes a program of them, for models of any kind") {
    const auto with = [](const std::string& replicas) {
        return Directory(replaced(kMlp, "kind = \"sgd\"\n", "kind = \"adamw\"\n[replicas]\n" + replicas), small_rows());
    };
    const BuiltTask diloco =
        with("count = 3\nexchange = \"diloco\"\nouter_rate = 0.5\nouter_momentum = 0.25\n").build();
    const program::LocalReplicas expected{
        .count = 3,
        .turn_steps = diloco.spec.checkpoint_interval,
        .outer_rate = 0.5F,
        .outer_momentum = 0.25F,
        .sent = program::SentForm::kInt8};
    CHECK(diloco.file.local == expected);
    CHECK(diloco.file.optimizer.replicas.count == 1);
    CHECK(std::any_of(diloco.program.state.begin(), diloco.program.state.end(), [](const program::StateTensor& tensor) {
        return tensor.name == "adam.replica.2.first.hidden1.weight";
    }));
    CHECK(
        with("count = 2\nexchange = \"diloco\"\nsent = \"f32\"\n").build().file.local->sent == program::SentForm::kWhole
    );
    const BuiltTask sparse =
        with("count = 2\nexchange = \"sparseloco\"\nturn_steps = 7\nblock = 32\nkept_share = 0.5\n").build();
    CHECK(sparse.file.local->sent == program::SentForm::kSparse);
    CHECK(sparse.file.local->turn_steps == 7);
    CHECK(sparse.file.local->block == 32);
    CHECK(sparse.file.local->kept_share == 0.5F);
    CHECK(sparse.file.local->outer_momentum == 0.0F);
    with("count = 1\nexchange = \"diloco\"\n").check_refused("[replicas] count");
    with("count = 2\nexchange = \"diloco\"\nblock = 8\n").check_refused("block: is for the exchange sparseloco");
    with("count = 2\nexchange = \"sparseloco\"\nsent = \"int8\"\n").check_refused("sent: is for the exchange diloco");
    with("count = 2\nexchange = \"diloco\"\nouter_momentum = 1.0\n").check_refused("outer_momentum");
    with("count = 2\nexchange = \"diloco\"\nturn_steps = 9000000\n").check_refused("more than 2^24 steps");
}

TEST_CASE("moments of type bf16 and int8 make a smaller state, and say what does not go together") {
    const std::string wide = replaced(kGpt, "width = 32", "width = 64");
    const auto with = [&](const std::string& moments) {
        return replaced(wide, "accumulation = 2", "accumulation = 2\nmoments = \"" + moments + "\"");
    };
    const BuiltTask of_f32 = Directory(with("f32"), {}).build();
    const BuiltTask plain = Directory(wide, {}).build();
    CHECK(of_f32.program_artifact == plain.program_artifact);
    const std::uint64_t whole = size_bytes(of_f32.program.state);
    const BuiltTask half = Directory(with("bf16"), {}).build();
    const BuiltTask byte = Directory(with("int8"), {}).build();
    // Parameters and sums of gradients stay f32, so a half is a quarter less.
    CHECK(size_bytes(half.program.state) == doctest::Approx(0.75 * static_cast<double>(whole)).epsilon(0.01));
    CHECK(size_bytes(byte.program.state) == doctest::Approx(0.66 * static_cast<double>(whole)).epsilon(0.01));
    Directory(replaced(kMlp, "kind = \"sgd\"", "kind = \"sgd\"\nmomentum = 0.0\nmoments = \"bf16\""), small_rows())
        .check_refused("sgd without a momentum keeps none");
    Directory(replaced(kMlp, "kind = \"sgd\"", "kind = \"sgd\"\nmoments = \"int8\""), small_rows())
        .check_refused("fewer than 4,096 elements");
    Directory(with("int4"), {}).check_refused("moments");
    Directory(with("int8") + "[replicas]\ncount = 2\nexchange = \"diloco\"\n", {}).check_refused("moments of type f32");
    const std::string tolerant = "mode = \"tolerance\"\n";
    Directory(tolerant + with("int8"), {}).check_refused("8-bit");
    CHECK(Directory(tolerant + with("bf16"), {}).build().spec.distance.has_value());
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
        const auto directory = std::filesystem::path(ASSAY_SOURCE_DIR) / "examples" / name;
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
