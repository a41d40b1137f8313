// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include <core/command/parse_errors.hpp>

using namespace assay;

namespace {

std::string complaint_about(const std::string& words) {
    CLI::App app;
    app.add_option("--known", "A number")->check(CLI::Number);
    app.add_subcommand("one", "A command");
    try {
        app.parse(words);
    } catch (const CLI::ParseError& error) {
        return command::text_of(app, error);
    }
    return {};
}

TEST_CASE("command: arguments that nobody expects are listed in the order in which they were typed") {
    CHECK(complaint_about("--a --b one --c") == "these arguments were not expected: --a --b --c");
    CHECK(complaint_about("one two") == "this argument was not expected: two");
    CHECK(complaint_about("--known x").find("--known") != std::string::npos);
    CHECK(complaint_about("one").empty());
}

}  // namespace
