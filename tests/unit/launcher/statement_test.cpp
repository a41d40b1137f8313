// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include <tests/unit/cli/temporary.hpp>
#include <verifier/launcher/statement.hpp>

namespace assay::launcher {
namespace {

const std::string kDigits(64, 'a');
const std::string kDigest = "sha256:" + kDigits;

}  // namespace

TEST_CASE("a digest is sha256 and 64 hex digits in lower case") {
    CHECK(digest_text(decode_digest(kDigest)) == kDigest);
    for (const std::string& wrong :
         {kDigits, std::string("sha256:"), kDigest + "a", "sha512:" + kDigits, "sha256:" + std::string(64, 'A'),
          "sha256:" + std::string(64, 'g'), std::string()}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(decode_digest(wrong), StatementError);
    }
}

TEST_CASE("ENV-1: the labels of a statement are sorted, and a wrong one is named") {
    const auto made = make_environment(std::nullopt, {"b=2", "a=1"});
    CHECK(made.labels == std::vector<std::string>{"a=1", "b=2"});
    CHECK_THROWS_WITH_AS(make_environment({}, {"a=1", "cuda"}), doctest::Contains("\"cuda\""), StatementError);
    CHECK_THROWS_AS(make_environment({}, {}), StatementError);
    CHECK_THROWS_AS(make_environment({}, {"a=1", "a=1"}), StatementError);
}

TEST_CASE("ENV-4: a statement is decoded as it was written, and nothing else is one") {
    const auto whole = make_environment(decode_digest(kDigest), {"cuda=12.4"});
    CHECK(decode_statement(statement_text(whole)) == whole);
    const auto labels = make_environment({}, {"cuda=12.4", "x="});
    CHECK(decode_statement(statement_text(labels)) == labels);
    for (const char* const wrong :
         {"", "[]", "{}", R"({"image":null})", R"({"image":null,"labels":"a=1"})", R"({"image":null,"labels":[]})",
          R"({"image":1,"labels":["a=1"]})", R"({"image":"x","labels":[]})", R"({"image":null,"labels":[1]})",
          R"({"image":null,"labels":["no label"]})"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(decode_statement(wrong), StatementError);
    }
}

TEST_CASE("a statement's file is named by what is wrong with it") {
    const cli_test::TemporaryDirectory directory;
    const auto file = directory.path() / "environment.json";
    CHECK_THROWS_WITH_AS(read_statement(file), doctest::Contains("cannot read"), StatementError);
    std::ofstream(file) << "{}";
    CHECK_THROWS_WITH_AS(read_statement(file), doctest::Contains("environment.json"), StatementError);
    std::ofstream(file) << std::string(5'000, ' ');
    CHECK_THROWS_WITH_AS(read_statement(file), doctest::Contains("longer"), StatementError);
}

}  // namespace assay::launcher
