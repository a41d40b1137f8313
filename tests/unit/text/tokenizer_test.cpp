// SPDX-License-Identifier: Apache-2.0
#include <verifier/text/tokenizer.hpp>

#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <tests/unit/folders.hpp>
#include <verifier/text/byte_alphabet.hpp>

using namespace assay;
using namespace assay::text;
using Json = nlohmann::json;

namespace {

std::string read(const std::string& name) {
    std::ifstream in(folders::source() + "/tests/vectors/tokenizers/" + name, std::ios::binary);
    REQUIRE(in.good());
    return {std::istreambuf_iterator<char>(in), {}};
}

Tokenizer tokenizer(const std::string& json) {
    auto out = Tokenizer::from_json(as_bytes(json));
    REQUIRE_MESSAGE(out.has_value(), out.error().message);
    return *std::move(out);
}

/// What is wrong with GPT-2's file once `change` has changed it.
TokenizerProblem problem_after(const std::function<void(Json&)>& change) {
    Json json = Json::parse(read("gpt2.json"));
    change(json);
    const std::string text = json.dump();
    const auto out = Tokenizer::from_json(as_bytes(text));
    REQUIRE_FALSE(out.has_value());
    CHECK_FALSE(out.error().message.empty());
    return out.error();
}

}  // namespace

TEST_CASE("tokens are those of the package tokenizers, and decode to the text") {
    for (const std::string kind : {"gpt2", "prefix", "llama3"}) {
        CAPTURE(kind);
        const Tokenizer mine = tokenizer(read(kind + ".json"));
        const Json cases = Json::parse(read(kind + ".vectors.json"));
        REQUIRE(cases.size() > 70);
        for (const Json& one : cases) {
            const auto text = one.at("text").get<std::string>();
            CAPTURE(text);
            const auto tokens = mine.encode(text);
            REQUIRE(tokens.has_value());
            CHECK(*tokens == one.at("ids").get<std::vector<std::uint32_t>>());
            const auto back = mine.decode(*tokens);
            REQUIRE(back.has_value());
            if (kind != "prefix") {
                CHECK(*back == text);
            }
        }
    }
}

TEST_CASE("a vocabulary has room for the largest token") {
    CHECK(tokenizer(read("gpt2.json")).vocabulary_size() == 600);
    CHECK(tokenizer(read("llama3.json")).vocabulary_size() == 604);  // four were added
    CHECK_FALSE(tokenizer(read("gpt2.json")).decode({600}).has_value());
}

TEST_CASE("text that is not UTF-8 has no tokens") {
    const auto tokens = tokenizer(read("gpt2.json")).encode("a\xFFz");
    REQUIRE_FALSE(tokens.has_value());
    CHECK(tokens.error() == EncodeError::kNotUtf8);
    CHECK(std::string(to_string(tokens.error())) == "the text is not UTF-8");
}

TEST_CASE("a piece without end takes no quadratic time") {
    const std::string text(1U << 20U, 'e');
    const Tokenizer mine = tokenizer(read("gpt2.json"));
    const auto tokens = mine.encode(text);
    REQUIRE(tokens.has_value());
    CHECK(mine.decode(*tokens) == text);
}

TEST_CASE("of two merges that make one token the file's order decides") {
    // "abc" may be a+bc or ab+c; the pair that comes first in the file is joined first.
    Json json = Json::parse(read("gpt2.json"));
    json["model"]["vocab"] = Json::object();
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        json["model"]["vocab"][symbol_of(static_cast<std::uint8_t>(byte))] = byte + 1;
    }
    json["model"]["vocab"].update({{"ab", 257}, {"bc", 258}, {"abc", 259}});
    json["added_tokens"] = Json::array();
    json["model"]["merges"] = {"b c", "a b"};
    CHECK(*tokenizer(json.dump()).encode("abc") == std::vector<std::uint32_t>{'a' + 1, 258});
    json["model"]["merges"] = {"a b", "b c"};
    CHECK(*tokenizer(json.dump()).encode("abc") == std::vector<std::uint32_t>{257, 'c' + 1});
    json["model"]["merges"] = Json::array();
    json["model"]["ignore_merges"] = true;
    CHECK(*tokenizer(json.dump()).encode("abc") == std::vector<std::uint32_t>{259});
}

TEST_CASE("files that ask for something else are refused with what and where") {
    struct Row {
        TokenizerError error;
        const char* says;
        std::function<void(Json&)> change;
    };
    const std::vector<Row> rows{
        {TokenizerError::kJson, "not a JSON object", [](Json& j) { j = Json::array(); }},
        {TokenizerError::kModel, "\"WordPiece\"", [](Json& j) { j["model"]["type"] = "WordPiece"; }},
        {TokenizerError::kModel, "\"Unigram\"", [](Json& j) { j["model"]["type"] = "Unigram"; }},
        {TokenizerError::kModel, "only byte-level BPE", [](Json& j) { j.erase("model"); }},
        {TokenizerError::kModel, "dropout", [](Json& j) { j["model"]["dropout"] = 0.1; }},
        {TokenizerError::kModel, "byte_fallback", [](Json& j) { j["model"]["byte_fallback"] = true; }},
        {TokenizerError::kModel, "end_of_word_suffix", [](Json& j) { j["model"]["end_of_word_suffix"] = "</w>"; }},
        {TokenizerError::kNormalizer, "\"NFC\"",
         [](Json& j) {
             j["normalizer"] = {{"type", "NFC"}};
         }},
        {TokenizerError::kPreTokenizer, "\"Metaspace\"",
         [](Json& j) {
             j["pre_tokenizer"] = {{"type", "Metaspace"}};
         }},
        {TokenizerError::kPreTokenizer, "only ByteLevel", [](Json& j) { j["pre_tokenizer"] = nullptr; }},
        {TokenizerError::kVocabulary, "not an object", [](Json& j) { j["model"]["vocab"] = 1; }},
        {TokenizerError::kVocabulary, "not an integer", [](Json& j) { j["model"]["vocab"]["!"] = -1; }},
        {TokenizerError::kVocabulary, "the id 3", [](Json& j) { j["model"]["vocab"]["!!!!!"] = 3; }},
        {TokenizerError::kVocabulary, "byte 33 has no token", [](Json& j) { j["model"]["vocab"].erase("!"); }},
        {TokenizerError::kMerges, "not a list", [](Json& j) { j["model"]["merges"] = 1; }},
        {TokenizerError::kMerges, "number 0 is not a pair", [](Json& j) { j["model"]["merges"] = {"ab"}; }},
        {TokenizerError::kMerges, "number 0 joins", [](Json& j) { j["model"]["merges"] = {"q z"}; }},
        {TokenizerError::kAddedTokens, "lstrip", [](Json& j) { j["added_tokens"][0]["lstrip"] = true; }},
        {TokenizerError::kAddedTokens, "another id", [](Json& j) { j["added_tokens"][0]["id"] = 7; }},
        {TokenizerError::kAddedTokens, "is taken", [](Json& j) { j["added_tokens"][0]["content"] = "<new>"; }},
        {TokenizerError::kAddedTokens, "no content", [](Json& j) { j["added_tokens"][0]["content"] = ""; }},
    };
    for (const Row& row : rows) {
        CAPTURE(row.says);
        const TokenizerProblem problem = problem_after(row.change);
        CHECK(problem.error == row.error);
        CHECK_MESSAGE(problem.message.find(row.says) != std::string::npos, problem.message);
    }
    CHECK(Tokenizer::from_json(as_bytes(std::string("{"))).error().error == TokenizerError::kJson);
}

TEST_CASE("splits other than isolated matches of a regular expression are refused") {
    const auto with_split = [](const Json& split) {
        return problem_after([&split](Json& j) {
            j["pre_tokenizer"] = {
                {"type", "Sequence"},
                {"pretokenizers", {split, {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
        });
    };
    const Json regex{{"Regex", "\\d"}};
    const Json removed{{"type", "Split"}, {"pattern", regex}, {"behavior", "Removed"}, {"invert", false}};
    CHECK(with_split(removed).error == TokenizerError::kPreTokenizer);
    const Json inverted{{"type", "Split"}, {"pattern", regex}, {"behavior", "Isolated"}, {"invert", true}};
    CHECK(with_split(inverted).error == TokenizerError::kPreTokenizer);
    CHECK(with_split({{"type", "Digits"}}).error == TokenizerError::kPreTokenizer);
    const Json word{{"type", "Split"}, {"pattern", {{"Regex", "\\w+"}}}, {"behavior", "Isolated"}};
    CHECK(with_split(word).error == TokenizerError::kPattern);
}
