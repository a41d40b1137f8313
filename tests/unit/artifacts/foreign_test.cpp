// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <core/codec/borsh.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <tests/unit/folders.hpp>
#include <tests/unit/sandbox/other_program.hpp>
#include <verifier/artifacts/foreign.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/compile/program/models.hpp>

namespace assay::artifacts {
namespace {

using sandbox::RefusalKind;
using sandbox::test::Inside;
using sandbox::test::OtherProgram;

/// A file in a directory of its own.
class FileOf {
  public:
    explicit FileOf(ByteView bytes) { test::write_file(home_.path() / "file", bytes); }
    StoredFile open() const { return StoredFile::open(home_.path() / "file").value(); }

  private:
    test::TemporaryDirectory home_;
};

template <class T, class E>
RefusalKind refusal_of(const Result<T, ForeignError<E>>& result) {
    REQUIRE_FALSE(result);
    REQUIRE(std::holds_alternative<sandbox::Refusal>(result.error()));
    return std::get<sandbox::Refusal>(result.error()).kind;
}

program::Program char_model() {
    program::CharModelConfig config;
    config.vocabulary = 65;
    config.dataset_rows = 1'000;
    return program::build_char_model(config, {});
}

/// A file as others write it: in another order than the program's, with metadata.
SafetensorsFile foreign_tensors() {
    SafetensorsFile file;
    for (const auto& [name, shape] :
         {std::pair{"count", canonical::Shape{1, 1}}, std::pair{"weight", canonical::Shape{40, 3}}}) {
        file.tensors.push_back({.name = name, .tensor = canonical::make_tensor(canonical::DType::kF32, shape)});
        file.tensors.back().tensor.data[0] = 1;
    }
    file.metadata = {{"format", "pt"}};
    return file;
}

program::Program program_of(const SafetensorsFile& file) {
    program::Program program;
    for (const NamedTensor& named : file.tensors) {
        program.state.insert(
            program.state.begin(),
            {.name = named.name, .type = {.dtype = named.tensor.dtype, .shape = named.tensor.shape}}
        );
    }
    program.initial = program.state;
    return program;
}

}  // namespace

TEST_CASE("PRG-1: a program is read in the sandbox as it is read outside") {
    const FileOf file(codec::encode(char_model()));
    const auto begin = std::chrono::steady_clock::now();
    const auto inside = decode_foreign_program(file.open());
    MESSAGE(
        "a program of " << file.open().size_bytes() << " bytes took "
                        << std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count()
                        << " ms"
    );
    REQUIRE(inside);
    CHECK(codec::encode(*inside) == codec::encode(char_model()));
    const Inside off;
    CHECK(codec::encode(decode_foreign_program(file.open()).value()) == codec::encode(*inside));
}

TEST_CASE("PRG-5: what is wrong with a program has the same number in the sandbox") {
    program::Program endless = char_model();
    endless.loss_node = 1'000'000;
    program::Program nameless = char_model();
    nameless.state[0].name.clear();
    for (const Bytes& bytes : {Bytes{}, Bytes{1, 2, 3}, codec::encode(endless), codec::encode(nameless)}) {
        const FileOf file(bytes);
        const auto expected = program::decode_program(bytes).error();
        CHECK(std::get<program::ProgramError>(decode_foreign_program(file.open()).error()) == expected);
        const Inside off;
        CHECK(std::get<program::ProgramError>(decode_foreign_program(file.open()).error()) == expected);
    }
}

TEST_CASE("ART-2: a header is read in the sandbox as it is read outside") {
    const Bytes bytes = encode_safetensors(foreign_tensors());
    const FileOf file(bytes);
    const auto layout = decode_foreign_layout(file.open());
    REQUIRE(layout);
    CHECK(*layout == decode_safetensors_layout(bytes).value());
    CHECK(take_tensors(*layout, bytes) == foreign_tensors());
    for (const Bytes& bad : {Bytes{}, Bytes(bytes.begin(), bytes.end() - 1), Bytes(9, 0x7b)}) {
        const FileOf other(bad);
        CHECK(
            std::get<SafetensorsError>(decode_foreign_layout(other.open()).error()) ==
            decode_safetensors_layout(bad).error()
        );
    }
}

TEST_CASE("ART-11: initial tensors are read in the sandbox, in whatever order the file has them") {
    const SafetensorsFile tensors = foreign_tensors();
    const FileOf file(encode_safetensors(tensors));
    const auto initial = decode_initial(program_of(tensors), file.open());
    REQUIRE(initial);
    CHECK(*initial == std::vector{tensors.tensors[1].tensor, tensors.tensors[0].tensor});
    auto other = program_of(tensors);
    other.initial[0].name = "other";
    CHECK(std::get<StateError>(decode_initial(other, file.open()).error()) == StateError::kTensors);
}

TEST_CASE("ART-5: a checkpoint with the one encoding needs no parser") {
    const test::TemporaryDirectory home;
    const ContentStore store(home.path());
    const SafetensorsFile tensors = foreign_tensors();
    const auto program = program_of(tensors);
    const std::vector state{tensors.tensors[1].tensor, tensors.tensors[0].tensor};
    const auto own = store.open(store_state(program, state, leaves_of(state), store).hash).value();
    const FileOf file(encode_safetensors(tensors));
    CHECK(decode_state(program, file.open()).value() == state);
    const OtherProgram missing("/nonexistent");
    CHECK(decode_state(program, own).value() == state);
    CHECK(root_of_state(program, own).value() == state_root_of(state));
    CHECK(decode_state(program, file.open()).error() == StateError::kStopped);
}

TEST_CASE("answers of strangers' servers are read in the sandbox as they are read outside") {
    const auto key = crypto::SecretKey::generate();
    const std::string losses =
        to_json(sign_losses(key, contracts::TaskId{{3}}, {{.segment = 1, .step = 9, .loss = 7}}));
    const auto read = decode_foreign_losses(losses).value();
    REQUIRE(read);
    CHECK(read->account == key.account());
    CHECK(read->losses == decode_losses(losses).value().losses);
    std::string changed = losses;
    changed.replace(changed.find("\"bits\":7"), 8, "\"bits\":8");
    CHECK_FALSE(decode_foreign_losses(changed).value().has_value());
    CHECK_FALSE(decode_foreign_losses("{").value().has_value());
    CHECK_FALSE(decode_foreign_losses(std::string(kMaxLossesBytes + 1, ' ')).value().has_value());

    const std::string seats = R"({"seats": [")" + std::string(64, 'a') + R"("], "together": true, "from": 3})";
    const auto offered = decode_foreign_seats(seats).value();
    REQUIRE(offered);
    CHECK(*offered == decode_offered_seats(seats).value());
    CHECK(offered->from == 3);
    CHECK_FALSE(decode_foreign_seats(R"({"seats": ["a"]})").value().has_value());
    const OtherProgram hostile(folders::build() + "/tests/hostile_parsers");
    CHECK(decode_foreign_losses("crash").error().kind == RefusalKind::kCrashed);
    CHECK(decode_foreign_seats("garbage").error().kind == RefusalKind::kGarbage);
}

TEST_CASE("a parser that lies about a file is refused for garbage") {
    const OtherProgram hostile(folders::build() + "/tests/hostile_parsers");
    // Its answer is the file itself: that it is a program, an error that there is not, and nothing.
    for (const Bytes& answer : {Bytes{0}, Bytes{200}, Bytes{}}) {
        CHECK(refusal_of(decode_foreign_program(FileOf(answer).open())) == RefusalKind::kGarbage);
    }
    CHECK(
        std::get<program::ProgramError>(decode_foreign_program(FileOf(Bytes{1}).open()).error()) ==
        program::ProgramError::kMalformed
    );
    const Bytes layout =
        codec::encode(LayoutAnswer(decode_safetensors_layout(encode_safetensors(foreign_tensors())).value()));
    for (const Bytes& answer : {layout, codec::encode(LayoutAnswer(std::uint8_t{99})), Bytes{7, 7}}) {
        CHECK(refusal_of(decode_foreign_layout(FileOf(answer).open())) == RefusalKind::kGarbage);
    }
}

TEST_CASE("a parser that crashes on a file is refused, and the next file is read") {
    const FileOf bad(to_bytes("crash"));
    {
        const OtherProgram hostile(folders::build() + "/tests/hostile_parsers");
        CHECK(refusal_of(decode_foreign_program(bad.open())) == RefusalKind::kCrashed);
        CHECK(refusal_of(decode_foreign_layout(bad.open())) == RefusalKind::kCrashed);
        CHECK(refusal_of(decode_initial(char_model(), bad.open())) == RefusalKind::kCrashed);
    }
    CHECK(decode_foreign_program(FileOf(codec::encode(char_model())).open()).has_value());
}

TEST_CASE("ART-4: a layout is a file's only if its ranges cover the file") {
    const Bytes bytes = encode_safetensors(foreign_tensors());
    const SafetensorsLayout good = decode_safetensors_layout(bytes).value();
    CHECK(is_layout_of(good, bytes));
    const std::array<std::function<void(SafetensorsLayout&)>, 9> lies{
        [](auto& layout) { layout.tensors[0].offset = 0; },
        [](auto& layout) { layout.tensors[1].offset = UINT64_MAX - 3; },
        [](auto& layout) { layout.tensors[1].size_bytes += 4; },
        [](auto& layout) { layout.tensors[1].type.shape.rows *= 2; },
        [](auto& layout) {
            layout.tensors[0].type.shape = {0, 0};
        },
        [](auto& layout) { layout.tensors[0].type.dtype = canonical::DType::kI64; },
        [](auto& layout) { layout.tensors[0].name = "weight"; },
        [](auto& layout) { layout.tensors.pop_back(); },
        [](auto& layout) { std::swap(layout.tensors[0].offset, layout.tensors[1].offset); }};
    for (std::size_t i = 0; i < lies.size(); ++i) {
        CAPTURE(i);
        SafetensorsLayout layout = good;
        lies[i](layout);
        CHECK_FALSE(is_layout_of(layout, bytes));
    }
    CHECK_FALSE(is_layout_of(good, Bytes(bytes.begin(), bytes.end() - 1)));
    CHECK_FALSE(is_layout_of({}, Bytes{}));
}

}  // namespace assay::artifacts
