// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <sstream>
#include <string>

#include <contracts/params/work.hpp>
#include <tests/unit/cli/temporary.hpp>
#include <tests/unit/folders.hpp>
#include <tools/cli/common/session.hpp>
#include <tools/cli/task/task_init.hpp>
#include <tools/cli/task/task_lint.hpp>

namespace assay::cli {
namespace {

using cli_test::TemporaryDirectory;

const std::filesystem::path kSource = folders::source();
const Dialogue kDefaults{.takes_defaults = true};
const Dialogue kNobody{};

/// A directory with a text that is as small as it may be.
struct Place {
    TemporaryDirectory at;
    std::string text = (at.path() / "the text.txt").string();
    std::filesystem::path task = at.path() / "tasks" / "new";

    Place() {
        std::string content;
        for (int i = 0; i < 5; ++i) {
            content += "the quick brown fox jumps over the lazy dog. ";
        }
        cli_test::write_text(text, content);
    }
    std::string written() const { return cli_test::read_text(task / "task.toml"); }
};

taskdir::BuiltTask build(const std::filesystem::path& directory) {
    taskdir::Findings findings(taskdir::task_file_name(directory));
    auto task = taskdir::build_task(directory, findings);
    findings.throw_if_wrong();
    REQUIRE(task.has_value());
    return *std::move(task);
}

void check_refused(const Answers& given, const Dialogue& dialogue, const std::string& part) {
    CAPTURE(part);
    CHECK_THROWS_WITH_AS(complete_answers(given, dialogue), doctest::Contains(part.c_str()), Failure);
}

TEST_CASE("a directory that init makes has no errors, for every model family") {
    const std::string points = (kSource / "examples/mlp/points.safetensors").string();
    const std::string images = (kSource / "examples/cnn/images.safetensors").string();
    const std::string fixture = (kSource / "tests/vectors/onnx/gpt").string();
    const Place place;
    const auto with = [&](Answers answers) {
        answers.insert({{"steps", "20"}, {"segments", "2"}});
        return answers;
    };
    for (const Answers& given :
         {with({{"model", "gpt"}, {"data", place.text}, {"context", "32"}}),
          with({{"model", "llama"}, {"data", place.text}, {"context", "32"}}),
          with({{"model", "char"}, {"data", place.text}}),
          with({{"model", "mlp"}, {"data", points}, {"classes", "3"}, {"hidden", "16,8"}}),
          with({{"model", "cnn"}, {"data", images}, {"classes", "4"}, {"height", "8"}, {"width", "8"}}),
          with(
              {{"model", "onnx"},
               {"onnx", fixture + "/program.onnx"},
               {"data", fixture + "/dataset.safetensors"},
               {"batch-size", "6"}}
          )}) {
        CAPTURE(given.at("model"));
        const NewTask task = write_task(place.task, complete_answers(given, kDefaults));
        CAPTURE(place.written());
        const taskdir::Findings findings = lint_task(place.task);
        CHECK_MESSAGE(findings.count(taskdir::Severity::kError) == 0, findings_text(findings));
        CHECK(findings.all().size() == task.findings.size());
        const taskdir::BuiltTask built = build(place.task);
        CHECK(taskdir::kind_of(built.file.model) == given.at("model"));
        CHECK(built.spec == task.built.spec);
        CHECK(built.spec.checkpoint_interval == 10);
        CHECK(to_json(task).at("segments") == 2);
    }
}

TEST_CASE("answers reach the keys that they are for") {
    const Place place;
    const Answers given{
        {"model", "llama"},
        {"data", place.text},
        {"context", "32"},
        {"heads", "2"},
        {"key-heads", "1"},
        {"width", "64"},
        {"hidden", "40"},
        {"layers", "1"},
        {"batch-size", "3"},
        {"steps", "100"},
        {"segments", "3"},
        {"mode", "tolerance"},
        {"reward", "7 ASY"},
        {"title", "say \"hi\""},
        {"seed", "9"},
        {"profile", "XG-8"},
        {"learning-rate", "5e-4"},
        {"verification-fee", "2 ASY"},
        {"training-blocks", "777"}};
    (void)write_task(place.task, complete_answers(given, kDefaults));
    const taskdir::BuiltTask task = build(place.task);
    const auto& model = std::get<program::GptConfig>(task.file.model);
    CHECK(model.heads == 2);
    CHECK(model.llama->key_heads == 1);
    CHECK(model.width == 64);
    CHECK(model.llama->hidden == 40);
    CHECK(model.layers == 1);
    CHECK(model.batch_size == 3);
    CHECK(model.profile == program::kXg8);
    CHECK(task.spec.steps == 100);
    CHECK(task.spec.checkpoint_interval == 34);
    CHECK(task.spec.mode == contracts::Mode::kTolerance);
    CHECK(task.spec.reward == Amount{7 * kGrainsPerAsy});
    CHECK(task.spec.verification_fee == Amount{2 * kGrainsPerAsy});
    CHECK(task.spec.training_blocks == 777);
    CHECK(task.spec.title == "say \"hi\"");
    CHECK(task.spec.seed == 9);
    CHECK(task.file.optimizer.learning_rate == 5e-4F);
    CHECK(task.file.optimizer.epsilon == 1e-6F);  // lint warns of less in tolerance mode
    CHECK(place.written().find("learning_rate = 5e-4\n") != std::string::npos);
    CHECK(place.written().find("text = \"../../the text.txt\"") != std::string::npos);
}

TEST_CASE("answers about replicas make a program of them") {
    const Place place;
    const Answers given{{"model", "char"},   {"data", place.text}, {"context", "4"},  {"hidden", "8"},
                        {"batch-size", "6"}, {"steps", "20"},      {"segments", "2"}, {"optimizer", "sgd"},
                        {"momentum", "0.8"}, {"clip-norm", "2.0"}, {"replicas", "3"}, {"exchange", "dgc"},
                        {"dgc-block", "100"}};
    (void)write_task(place.task, complete_answers(given, kDefaults));
    const program::OptimizerConfig optimizer = build(place.task).file.optimizer;
    CHECK(optimizer.momentum == 0.8F);
    CHECK(optimizer.clip_norm == 2.0F);
    CHECK(optimizer.replicas.count == 3);
    CHECK(optimizer.replicas.exchange == program::ExchangeKind::kDgc);
    CHECK(optimizer.replicas.block == 100);
    Answers local = given;
    local["exchange"] = "diloco";
    local["turn-steps"] = "5";
    local.erase("dgc-block");
    (void)write_task(place.task, complete_answers(local, kDefaults));
    const auto replicas = build(place.task).file.local;
    REQUIRE(replicas.has_value());
    CHECK(replicas->count == 3);
    CHECK(replicas->turn_steps == 5);
    Answers wrong = given;
    wrong["replicas"] = "4";
    CHECK_THROWS_WITH_AS(
        (void)write_task(place.task, complete_answers(wrong, kDefaults)),
        doctest::Contains("[replicas] count: must divide [model] batch_size, which is 6"), Failure
    );
    wrong = given;
    wrong["exchange"] = "ring";
    check_refused(wrong, kDefaults, "--exchange");
}

TEST_CASE("a tokenizer, a hold-out set and a schedule have sections only when they are named") {
    const Place place;
    const std::string tokenizer = (kSource / "tests/vectors/tokenizers/gpt2.json").string();
    const Answers given{{"model", "gpt"},        {"data", place.text}, {"tokenizer", tokenizer},
                        {"holdout", place.text}, {"context", "32"},    {"batch-size", "2"},
                        {"steps", "20"},         {"segments", "2"},    {"schedule", "cosine"},
                        {"warmup-updates", "3"}};
    (void)write_task(place.task, complete_answers(given, kDefaults));
    const taskdir::BuiltTask task = build(place.task);
    CHECK(task.data.tokenizer.has_value());
    CHECK(std::get<program::GptConfig>(task.file.model).vocabulary == 600);
    REQUIRE(task.evaluation.has_value());
    CHECK(task.file.optimizer.schedule.warmup_updates == 3);
    CHECK(task.file.optimizer.schedule.kind == program::ScheduleKind::kCosine);
    CHECK(place.written().find("[evaluation]\ntext = \"../../the text.txt\"\n") != std::string::npos);
    Answers plain = given;
    for (const char* const name : {"tokenizer", "holdout", "schedule", "warmup-updates"}) {
        plain.erase(name);
    }
    (void)write_task(place.task, complete_answers(plain, kDefaults));
    CHECK(place.written().find("[evaluation]") == std::string::npos);
    CHECK(place.written().find("[schedule]") == std::string::npos);
    const std::string points = (kSource / "examples/mlp/points.safetensors").string();
    check_refused(
        {{"model", "mlp"}, {"data", points}, {"classes", "3"}, {"tokenizer", tokenizer}}, kDefaults, "--tokenizer"
    );
}

TEST_CASE("numbers that TOML does not know are written as it does") {
    const Place place;
    for (const auto& [typed, written] : {std::pair<std::string, std::string>{".5", "0.5"}, {"5.", "5.0"}, {"3", "3"}}) {
        const Answers given{{"model", "char"}, {"data", place.text}, {"learning-rate", typed}};
        (void)write_task(place.task, complete_answers(given, kDefaults));
        CHECK(place.written().find("learning_rate = " + written + "\n") != std::string::npos);
        CHECK(build(place.task).file.optimizer.learning_rate == std::stof(typed));
    }
}

TEST_CASE("a fee and a time that nobody names follow from the work") {
    const Place place;
    const Answers given{
        {"model", "gpt"}, {"data", place.text}, {"context", "32"}, {"steps", "4000000"}, {"segments", "1000"}};
    const NewTask task = write_task(place.task, complete_answers(given, kDefaults));
    CHECK(contracts::check_work({}, task.built.spec).has_value());
    CHECK(task.built.spec.training_blocks == 2 * contracts::training_blocks_min({}, task.built.spec));
    CHECK(task.built.spec.training_blocks > 600);
}

TEST_CASE("what is missing is asked for, and a wrong answer again") {
    const Place place;
    std::istringstream in("rnn\nchar\n/no/such/file\n" + place.text + "\n0\n\n16\n\n\n\n\n\nabout 7\n7 ASY\n\n");
    std::ostringstream out;
    const Answers answers = complete_answers({{"steps", "40"}}, {.in = &in, .out = &out});
    CHECK(answers.at("model") == "char");
    CHECK(answers.at("data") == place.text);
    CHECK(answers.at("context") == "16");
    CHECK(answers.at("hidden") == "16");
    CHECK(answers.at("steps") == "40");
    CHECK(answers.at("reward") == "7 ASY");
    CHECK(answers.at("title") == "char on the text.txt");
    CHECK(out.str().find("Model family (gpt, llama, cnn, mlp, char, onnx) [gpt]: ") == 0);
    CHECK(out.str().find("  must be one of gpt, llama") != std::string::npos);
    CHECK(out.str().find("  there is no file \"/no/such/file\"") != std::string::npos);
    CHECK(out.str().find("Training steps") == std::string::npos);
    (void)write_task(place.task, answers);
    CHECK(lint_task(place.task).count(taskdir::Severity::kError) == 0);
    std::istringstream ended("gpt\n");
    check_refused({}, {.in = &ended, .out = &out}, "the answers ended before --data; nothing is written");
}

TEST_CASE("with nobody to ask, the answers that are missing are named") {
    const Place place;
    check_refused({}, kNobody, "standard input is not a terminal, and these answers are missing: --model, --data");
    check_refused({{"model", "cnn"}}, kDefaults, "no default: --data, --height, --width, --classes");
    check_refused({{"model", "gpt"}, {"data", "/none"}}, kDefaults, "--data: there is no file \"/none\"");
    check_refused(
        {{"data", (kSource / "examples/mlp/points.safetensors").string()}}, kDefaults, "no default: --vocabulary"
    );
    check_refused({{"data", place.text}, {"classes", "3"}}, kDefaults, "not for gpt models with these data: --classes");
    check_refused({{"data", place.text}, {"columns", "a"}}, kDefaults, "not for gpt models with these data: --columns");
    check_refused({{"data", place.text}, {"steps", "many"}}, kDefaults, "--steps: must be a whole number from 1");
    check_refused({{"data", place.text}, {"reward", "20"}}, kDefaults, "--reward: ");
    check_refused({{"data", place.text}, {"learning-rate", "0"}}, kDefaults, "--learning-rate: must be a number above");
    check_refused({{"data", place.text}, {"mode", "strict"}}, kDefaults, "--mode: must be one of exact, tolerance");
}

TEST_CASE("answers that make no task leave nothing behind") {
    const Place place;
    for (const auto& [key, answer, part] :
         {std::array<std::string, 3>{"width", "65", "[model] width: must be heads times a multiple of 32"},
          {"context", "512", "[data] text"},
          {"layers", "1000", "too large"},
          {"segments", "2000", "checkpoint_interval"}}) {
        const std::string name = key;  // clang 14 captures no structured binding
        CAPTURE(name);
        const Answers answers = complete_answers({{"data", place.text}, {"steps", "5000"}, {name, answer}}, kDefaults);
        CHECK_THROWS_WITH_AS(write_task(place.task, answers), doctest::Contains(part.c_str()), Failure);
        CHECK_FALSE(std::filesystem::exists(place.task));
    }
}

}  // namespace
}  // namespace assay::cli
