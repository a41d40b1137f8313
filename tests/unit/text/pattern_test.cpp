// SPDX-License-Identifier: Apache-2.0
#include <verifier/text/pattern.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

using assay::text::Pattern;

namespace {

std::vector<std::string> cut(std::string_view regex, std::string_view text) {
    std::string problem;
    const auto pattern = Pattern::compile(regex, problem);
    REQUIRE_MESSAGE(pattern.has_value(), problem);
    std::vector<std::string_view> pieces;
    REQUIRE(pattern->cut(text, pieces));
    return {pieces.begin(), pieces.end()};
}

std::string problem_of(std::string_view regex) {
    std::string problem;
    CHECK_FALSE(Pattern::compile(regex, problem).has_value());
    return problem;
}

}  // namespace

TEST_CASE("a pattern keeps its matches and what lies between them") {
    using Pieces = std::vector<std::string>;
    CHECK(cut("\\d+", "ab12c345") == Pieces{"ab", "12", "c", "345"});
    CHECK(cut("x", "") == Pieces{});
    CHECK(cut("x", "abc") == Pieces{"abc"});
    CHECK(cut("\\p{L}+", "\xC3\xA4\xE4\xB8\xAD 1") == Pieces{"\xC3\xA4\xE4\xB8\xAD", " 1"});
}

TEST_CASE("a pattern's spaces are those of Unicode") {
    // U+180E was a space in old versions of Unicode; U+0085 and U+3000 are spaces.
    CHECK(
        cut("\\s+",
            "a\xC2\x85\xE3\x80\x80"
            "b\xE1\xA0\x8E")
            .size() == 3
    );
    CHECK(cut("\\S+", "a\xE1\xA0\x8E b") == std::vector<std::string>{"a\xE1\xA0\x8E", " ", "b"});
    CHECK(cut("[^\\s]+", "a\xE1\xA0\x8E b") == std::vector<std::string>{"a\xE1\xA0\x8E", " ", "b"});
}

TEST_CASE("a pattern that PCRE2 would read otherwise than Oniguruma is refused with a reason") {
    CHECK(problem_of("\\w+") == "\\w");
    CHECK(problem_of("[\\S]") == "\\S within [ ]");
    CHECK(problem_of("[a-z&&[b]]") == "a class within a class");
    CHECK(problem_of("a{1,3}+") == "}+");
    CHECK(problem_of("(?<name>a)").starts_with("a group other than"));
    CHECK(problem_of("(*UCP)a").starts_with("a group other than"));
    CHECK(problem_of("a*") == "it matches empty text");
    CHECK(problem_of("(a").find("parenthesis") != std::string::npos);
    CHECK(problem_of("a\\") == std::string("\\") + '\0');
}

TEST_CASE("a match that takes too many steps fails and does not hang") {
    std::string problem;
    const auto pattern = Pattern::compile("(?:a+)+b", problem);
    REQUIRE(pattern.has_value());
    std::vector<std::string_view> pieces;
    const std::string text = std::string(40, 'a') + "cb";
    CHECK_FALSE(pattern->cut(text, pieces));
}

TEST_CASE("UTF-8 is told from other bytes") {
    CHECK(assay::text::is_utf8(""));
    CHECK(assay::text::is_utf8("\xF0\x9F\x99\x82"));
    CHECK_FALSE(assay::text::is_utf8("\xC3"));
    CHECK_FALSE(assay::text::is_utf8("\xED\xA0\x80"));  // a surrogate
    CHECK_FALSE(assay::text::is_utf8("\xC0\x80"));      // not the shortest
}
