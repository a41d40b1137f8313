// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <node/rpc/jsonrpc.hpp>

using namespace assay::rpc;

namespace {

struct Calls {
    int count = 0;
    Dispatcher dispatcher;

    Calls() {
        dispatcher.add("echo", [this](const Json& params, Work&) {
            ++count;
            return params;
        });
        dispatcher.add("missing", [this](const Json&, Work&) -> Json {
            ++count;
            throw Fault(kNotFound, "no such thing", {{"what", "thing"}});
        });
        dispatcher.add("broken", [](const Json&, Work&) -> Json { throw std::runtime_error("the secret path"); });
    }
    std::string text_of(const std::string& text) const {
        Work work;
        return dispatcher.handle(text, work);
    }
    Json handle(const std::string& text) const { return Json::parse(text_of(text)); }
};

void check_error(const Json& answer, int code, const char* name, const Json& id) {
    CHECK(answer.at("jsonrpc") == "2.0");
    CHECK(answer.at("id") == id);
    CHECK_FALSE(answer.contains("result"));
    CHECK(answer.at("error").at("code") == code);
    CHECK(answer.at("error").at("message").is_string());
    CHECK(answer.at("error").at("data").at("name") == name);
    CHECK(answer.at("error").at("data").at("hint").is_string());
}

}  // namespace

TEST_CASE("an id comes back with its type") {
    const Calls calls;
    for (const char* id : {"1", "\"a\"", "null", "-7", "1.5", "18446744073709551615", "\"\""}) {
        const Json got =
            calls.handle(std::string(R"({"jsonrpc":"2.0","method":"echo","params":{"a":1},"id":)") + id + "}");
        CHECK(got == Json{{"jsonrpc", "2.0"}, {"id", Json::parse(id)}, {"result", {{"a", 1}}}});
    }
}

TEST_CASE("an observer is told of each call of a batch, and of no name that is not a method's") {
    Calls calls;
    std::vector<std::pair<std::string, int>> seen;
    calls.dispatcher.observe([&seen](const CallReport& report) {
        CHECK(report.time.count() >= 0);
        seen.emplace_back(report.method, report.code);
    });
    static_cast<void>(
        calls.text_of(R"([{"jsonrpc":"2.0","method":"echo","id":1},{"jsonrpc":"2.0","method":"missing"},)"
                      R"({"jsonrpc":"2.0","method":"broken","id":2},{"jsonrpc":"2.0","method":"x\"}\n","id":3},)"
                      R"({"jsonrpc":"2.0","method":"echo","params":[1],"id":4},7])")
    );
    const std::vector<std::pair<std::string, int>> expected{
        {"echo", 0},
        {"missing", kNotFound},
        {"broken", kInternalError},
        {"", kMethodNotFound},
        {"echo", kInvalidParams}};
    CHECK(seen == expected);
}

TEST_CASE("what is no request is answered with its code") {
    const Calls calls;
    struct Row {
        const char* text;
        int code;
        const char* name;
        Json id;
    };
    const std::vector<Row> table{
        {"", kParseError, "parse_error", nullptr},
        {"{", kParseError, "parse_error", nullptr},
        {R"({"jsonrpc":"2.0","method":"echo,"params":"bar","baz])", kParseError, "parse_error", nullptr},
        {"[{\"jsonrpc\":\"2.0\",\"method\":\"echo\",\"id\":1},{\"jsonrpc\"]", kParseError, "parse_error", nullptr},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\",\"id\":1}", kParseError, "parse_error", nullptr},
        {R"({"jsonrpc":"2.0","method":"echo","id":1} trailing)", kParseError, "parse_error", nullptr},
        {R"({"jsonrpc":"2.0","method":"echo","id":1e999})", kParseError, "parse_error", nullptr},
        {"[]", kInvalidRequest, "invalid_request", nullptr},
        {"1", kInvalidRequest, "invalid_request", nullptr},
        {"\"text\"", kInvalidRequest, "invalid_request", nullptr},
        {"null", kInvalidRequest, "invalid_request", nullptr},
        {"{}", kInvalidRequest, "invalid_request", nullptr},
        {R"({"jsonrpc":"2.0","method":1,"params":"bar"})", kInvalidRequest, "invalid_request", nullptr},
        {R"({"method":"echo","id":5})", kInvalidRequest, "invalid_request", 5},
        {R"({"jsonrpc":"1.0","method":"echo","id":5})", kInvalidRequest, "invalid_request", 5},
        {R"({"jsonrpc":2.0,"method":"echo","id":5})", kInvalidRequest, "invalid_request", 5},
        {R"({"jsonrpc":"2.0","id":5})", kInvalidRequest, "invalid_request", 5},
        {R"({"jsonrpc":"2.0","method":"echo","id":[1]})", kInvalidRequest, "invalid_request", nullptr},
        {R"({"jsonrpc":"2.0","method":"echo","id":{}})", kInvalidRequest, "invalid_request", nullptr},
        {R"({"jsonrpc":"2.0","method":"echo","id":true})", kInvalidRequest, "invalid_request", nullptr},
        {R"({"jsonrpc":"2.0","method":"echo","params":1,"id":5})", kInvalidRequest, "invalid_request", 5},
        {R"({"jsonrpc":"2.0","method":"echo","params":null,"id":5})", kInvalidRequest, "invalid_request", 5},
        {R"({"jsonrpc":"2.0","method":"echo","params":[1],"id":5})", kInvalidParams, "invalid_params", 5},
        {R"({"jsonrpc":"2.0","method":"nothing","id":5})", kMethodNotFound, "method_not_found", 5},
        {R"({"jsonrpc":"2.0","method":"rpc.nothing","id":5})", kMethodNotFound, "method_not_found", 5},
        {R"({"jsonrpc":"2.0","method":"","id":5})", kMethodNotFound, "method_not_found", 5},
        {R"({"jsonrpc":"2.0","method":"missing","id":5})", kNotFound, "not_found", 5},
        {R"({"jsonrpc":"2.0","method":"broken","id":5})", kInternalError, "internal_error", 5},
    };
    for (const Row& row : table) {
        CAPTURE(row.text);
        check_error(calls.handle(row.text), row.code, row.name, row.id);
    }
}

TEST_CASE("no parameters may be left out or an empty list") {
    const Calls calls;
    CHECK(calls.handle(R"({"jsonrpc":"2.0","method":"echo","id":1})").at("result") == Json::object());
    CHECK(calls.handle(R"({"jsonrpc":"2.0","method":"echo","params":[],"id":1})").at("result") == Json::object());
}

TEST_CASE("a fault keeps its data and an exception its secrets") {
    const Calls calls;
    CHECK(calls.handle(R"({"jsonrpc":"2.0","method":"missing","id":1})").at("error").at("data").at("what") == "thing");
    const std::string broken = calls.text_of(R"({"jsonrpc":"2.0","method":"broken","id":1})");
    CHECK(broken.find("secret") == std::string::npos);
}

TEST_CASE("a notification is executed and never answered") {
    const Calls calls;
    CHECK(calls.text_of(R"({"jsonrpc":"2.0","method":"echo"})").empty());
    CHECK(calls.count == 1);
    CHECK(calls.text_of(R"({"jsonrpc":"2.0","method":"missing"})").empty());
    CHECK(calls.text_of(R"({"jsonrpc":"2.0","method":"nothing"})").empty());
    CHECK(calls.text_of(R"([{"jsonrpc":"2.0","method":"echo"},{"jsonrpc":"2.0","method":"echo"}])").empty());
    CHECK(calls.count == 4);
}

TEST_CASE("a batch has an answer for everything but notifications") {
    const Calls calls;
    const Json got = calls.handle(
        R"([{"jsonrpc":"2.0","method":"echo","id":1},{"jsonrpc":"2.0","method":"echo"},{"foo":"boo"},7,
            {"jsonrpc":"2.0","method":"missing","id":"x"}])"
    );
    REQUIRE(got.size() == 4);
    CHECK(got[0].at("id") == 1);
    check_error(got[1], kInvalidRequest, "invalid_request", nullptr);
    check_error(got[2], kInvalidRequest, "invalid_request", nullptr);
    check_error(got[3], kNotFound, "not_found", "x");
    const Json two = calls.handle("[1,2]");
    REQUIRE(two.size() == 2);
    check_error(two[0], kInvalidRequest, "invalid_request", nullptr);
    check_error(calls.handle("[[]]")[0], kInvalidRequest, "invalid_request", nullptr);
}

TEST_CASE("a batch of more than twenty is refused whole") {
    const Calls calls;
    Json batch = Json::array();
    for (int i = 0; i < 20; ++i) {
        batch.push_back({{"jsonrpc", "2.0"}, {"method", "echo"}, {"id", i}});
    }
    CHECK(calls.handle(batch.dump()).size() == 20);
    batch.push_back({{"jsonrpc", "2.0"}, {"method", "echo"}, {"id", 20}});
    check_error(calls.handle(batch.dump()), kLimitExceeded, "limit_exceeded", nullptr);
    CHECK(calls.count == 20);
}

TEST_CASE("nesting is bounded") {
    const Calls calls;
    const std::string deep = R"({"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":)" + std::string(500'000, '[');
    check_error(calls.handle(deep), kParseError, "parse_error", nullptr);
    const std::string brackets =
        R"({"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"\")" + std::string(100, '[') + "\"}}";
    CHECK(calls.handle(brackets).contains("result"));
}
