// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include <core/codec/borsh.hpp>
#include <tests/unit/cli/temporary.hpp>
#include <tests/unit/folders.hpp>
#include <tests/unit/onnx/model_builder.hpp>
#include <tests/unit/onnx/models.hpp>
#include <tests/unit/sandbox/other_program.hpp>
#include <verifier/taskdir/findings.hpp>
#include <verifier/taskdir/foreign_model.hpp>
#include <verifier/taskdir/foreign_text.hpp>
#include <verifier/taskdir/open_file.hpp>
#include <verifier/taskdir/parser_orders.hpp>

namespace assay::taskdir {
namespace {

using cli_test::TemporaryDirectory;
using cli_test::write_text;
using sandbox::RefusalKind;
using sandbox::test::Inside;
using sandbox::test::OtherProgram;

const onnx::TrainingConfig kConfig{.batch_size = 8, .dataset_rows = 8};

void write_bytes(const std::filesystem::path& path, ByteView bytes) { write_text(path, std::string(as_text(bytes))); }

void check_equal(const onnx::TrainingImport& one, const onnx::TrainingImport& other) {
    CHECK(codec::encode(one.program) == codec::encode(other.program));
    CHECK(one.initial == other.initial);
    CHECK(one.notes == other.notes);
}

RefusalKind refusal_of(const ModelError& error) {
    REQUIRE(std::holds_alternative<sandbox::Refusal>(error));
    return std::get<sandbox::Refusal>(error).kind;
}

/// The MLP of the importer's tests with its first weight at byte 8 of "data/weights.bin".
struct ModelInTwoFiles {
    TemporaryDirectory at;
    onnx::test::ModelBuilder model = onnx::test::mlp();

    ModelInTwoFiles() {
        auto& weight = *model.proto().mutable_graph()->mutable_initializer(0);
        const std::vector<float> values(weight.float_data().begin(), weight.float_data().end());
        weight.clear_float_data();
        weight.set_data_location(::onnx::TensorProto::EXTERNAL);
        set("location", "data/weights.bin");
        set("offset", "8");
        Bytes data(8 + values.size() * sizeof(float));
        std::memcpy(data.data() + 8, values.data(), values.size() * sizeof(float));
        std::filesystem::create_directory(at.path() / "data");
        write_bytes(at.path() / "data" / "weights.bin", data);
        write_bytes(path(), model.bytes());
    }
    std::filesystem::path path() const { return at.path() / "model.onnx"; }
    void set(const std::string& key, const std::string& value) {
        auto* const entry = model.proto().mutable_graph()->mutable_initializer(0)->add_external_data();
        entry->set_key(key);
        entry->set_value(value);
    }
};

text::TokenizerError problem_of(const TokensError& error) {
    REQUIRE(std::holds_alternative<text::TokenizerProblem>(error));
    CHECK_FALSE(std::get<text::TokenizerProblem>(error).message.empty());
    return std::get<text::TokenizerProblem>(error).error;
}

std::filesystem::path tokenizers() { return std::filesystem::path(folders::source()) / "tests/vectors/tokenizers"; }

}  // namespace

TEST_CASE("a model becomes the same program in the sandbox as outside") {
    const TemporaryDirectory at;
    write_bytes(at.path() / "model.onnx", onnx::test::mlp().bytes());
    const auto in_sandbox = import_foreign_model(at.path() / "model.onnx", kConfig);
    REQUIRE(in_sandbox);
    check_equal(*in_sandbox, onnx::import_training(onnx::test::mlp().bytes(), kConfig).value());
    const Inside off;
    check_equal(import_foreign_model(at.path() / "model.onnx", kConfig).value(), *in_sandbox);
}

TEST_CASE("a model gets its weights in other files, opened outside, and no others") {
    ModelInTwoFiles files;
    const auto in_sandbox = import_foreign_model(files.path(), kConfig);
    REQUIRE(in_sandbox);
    check_equal(*in_sandbox, onnx::import_training(onnx::test::mlp().bytes(), kConfig).value());
    {
        const Inside off;
        check_equal(import_foreign_model(files.path(), kConfig).value(), *in_sandbox);
    }
    auto& location = *files.model.proto().mutable_graph()->mutable_initializer(0)->mutable_external_data(0);
    for (const std::string name : {"../weights.bin", "/etc/hostname", "data", "none.bin", ""}) {
        CAPTURE(name);
        location.set_value(name);
        write_bytes(files.path(), files.model.bytes());
        const auto refused = import_foreign_model(files.path(), kConfig);
        REQUIRE_FALSE(refused);
        CHECK(message_of(refused.error()).find("cannot be read there") != std::string::npos);
    }
}

TEST_CASE("what is wrong with a model has the same message in the sandbox") {
    const TemporaryDirectory at;
    const auto path = at.path() / "model.onnx";
    write_text(path, "no model");
    const auto expected = onnx::import_training(as_bytes("no model"), kConfig).error();
    const auto refused = import_foreign_model(path, kConfig);
    REQUIRE_FALSE(refused);
    CHECK(std::get<onnx::ImportError>(refused.error()).kind == expected.kind);
    CHECK(message_of(refused.error()) == expected.message);
    CHECK_THROWS_AS(static_cast<void>(import_foreign_model(at.path() / "none", kConfig)), TaskDirectoryError);
    CHECK_THROWS_AS(static_cast<void>(import_foreign_model(at.path(), kConfig)), TaskDirectoryError);
}

TEST_CASE("every setting of a training reaches the parser") {
    onnx::TrainingConfig config = kConfig;
    config.loss = "loss";
    config.optimizer = {
        .kind = program::OptimizerKind::kNesterov,
        .learning_rate = 0.25F,
        .momentum = 0.5F,
        .clip_norm = 2.0F,
        .accumulation = 3,
        .schedule =
            {.kind = program::ScheduleKind::kPoints,
             .warms_from_zero = true,
             .points = {{0.5F, 1.0F}, {7.0F, 0.125F}},
             .is_curved = true},
        .replicas = {.count = 2, .block = 512}};
    config.profile = program::kXg8;
    config.frozen = {"a"};
    config.decayed = {"b", "c"};
    config.rates = {{"d", 0.5F}};
    config.dimensions = {{"sequence", 16}};
    const ModelOrder order = to_order(config);
    const onnx::TrainingConfig back = to_config(codec::decode<ModelOrder>(codec::encode(order)).value());
    CHECK(codec::encode(to_order(back)) == codec::encode(order));
    CHECK(back.loss == config.loss);
    CHECK(back.profile == config.profile);
    CHECK(back.decayed == config.decayed);
    CHECK(back.rates == config.rates);
    CHECK(back.optimizer.kind == config.optimizer.kind);
    CHECK(back.optimizer.clip_norm == config.optimizer.clip_norm);
    CHECK(back.optimizer.schedule.points.at(1).factor == 0.125F);
    CHECK(back.optimizer.replicas.block == 512);
}

TEST_CASE("a text is cut in the sandbox as it is outside") {
    const TemporaryDirectory at;
    write_text(at.path() / "text.txt", "The quick brown fox, 42 times.\n\nIt is there.");
    const auto tokenizer = open_file(tokenizers() / "gpt2.json");
    const auto text = open_file(at.path() / "text.txt");
    const auto in_sandbox = cut_by_foreign_tokenizer(tokenizer, text);
    REQUIRE(in_sandbox);
    CHECK(in_sandbox->ids.size() > 8);
    {
        const Inside off;
        const auto inside = cut_by_foreign_tokenizer(tokenizer, text).value();
        CHECK(inside.ids == in_sandbox->ids);
        CHECK(inside.vocabulary_size == in_sandbox->vocabulary_size);
    }
    CHECK(problem_of(cut_by_foreign_tokenizer(text, text).error()) == text::TokenizerError::kJson);
    write_text(at.path() / "text.txt", "\xff");
    CHECK(
        std::get<text::EncodeError>(cut_by_foreign_tokenizer(tokenizer, open_file(at.path() / "text.txt")).error()) ==
        text::EncodeError::kNotUtf8
    );
}

TEST_CASE("a parser that lies about a model or a text is refused for garbage") {
    const OtherProgram hostile(folders::build() + "/tests/hostile_parsers");
    const TemporaryDirectory at;
    const auto answered = [&](const auto& answer, ByteView rest) {
        Bytes out = length_of(codec::encode(answer));
        append(out, codec::encode(answer));
        append(out, rest);
        write_bytes(at.path() / "file", out);
        return at.path() / "file";
    };
    const auto made = onnx::import_training(onnx::test::mlp().bytes(), kConfig).value();
    const ModelMade good{
        .program = made.program, .initial = program::types_of(made.program.initial), .notes = made.notes};
    Bytes values;
    for (const canonical::Tensor& tensor : made.initial) {
        append(values, tensor.data);
    }
    check_equal(import_foreign_model(answered(ModelAnswer(good), values), kConfig).value(), made);
    const auto kind_of = [&](const ModelAnswer& answer, ByteView rest) {
        return refusal_of(import_foreign_model(answered(answer, rest), kConfig).error());
    };
    CHECK(kind_of(good, ByteView(values).first(values.size() - 1)) == RefusalKind::kGarbage);
    ModelMade other = good;
    other.initial.pop_back();
    CHECK(kind_of(other, values) == RefusalKind::kGarbage);
    other = good;
    other.program.loss_node = 1'000'000;
    CHECK(kind_of(other, values) == RefusalKind::kGarbage);
    CHECK(kind_of(ModelProblem{.kind = 77}, {}) == RefusalKind::kGarbage);
    CHECK(kind_of(ModelNeeds{{"file"}}, {}) == RefusalKind::kGarbage);  // it never has enough
    write_text(at.path() / "file", "no answer");
    CHECK(refusal_of(import_foreign_model(at.path() / "file", kConfig).error()) == RefusalKind::kGarbage);

    write_text(at.path() / "text", "abc");
    const auto kind_of_tokens = [&](const TextAnswer& answer, ByteView words) {
        const auto cut = cut_by_foreign_tokenizer(open_file(answered(answer, words)), open_file(at.path() / "text"));
        REQUIRE_FALSE(cut);
        return std::get<sandbox::Refusal>(cut.error()).kind;
    };
    CHECK(kind_of_tokens(TextMade{1}, Bytes{1, 0, 0, 0}) == RefusalKind::kGarbage);
    CHECK(kind_of_tokens(TextMade{2}, Bytes{1, 0, 0}) == RefusalKind::kGarbage);
    CHECK(kind_of_tokens(TextMade{2}, Bytes(400)) == RefusalKind::kGarbage);
    CHECK(kind_of_tokens(TextMade{UINT32_MAX}, {}) == RefusalKind::kGarbage);
    CHECK(kind_of_tokens(TextProblem{.error = 9}, {}) == RefusalKind::kGarbage);
}

TEST_CASE("an answer is cut off by its length") {
    const Bytes answer{1, 2, 3};
    Bytes bytes = length_of(answer);
    append(bytes, answer);
    append(bytes, Bytes{9});
    ByteView rest = bytes;
    const auto taken = take_answer(rest);
    REQUIRE(taken);
    CHECK(Bytes(taken->begin(), taken->end()) == answer);
    CHECK(Bytes(rest.begin(), rest.end()) == Bytes{9});
    for (const Bytes& bad : {Bytes{}, Bytes{1, 2}, Bytes(8, 0xff), Bytes{4, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3}}) {
        ByteView view = bad;
        CHECK_FALSE(take_answer(view));
    }
}

}  // namespace assay::taskdir
