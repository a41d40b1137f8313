// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <verifier/cell/meeting.hpp>

using namespace assay;
using nlohmann::json;

namespace {

const std::string kSecret = "sixteen letters!";

unsigned status_of(cell::Meeting& meeting, const std::string& target, const std::string& body) {
    return meeting.answer(target, {.method = "POST", .target = target, .body = cell::seal(kSecret, target, body)})
        .status;
}

}  // namespace

TEST_CASE("the words of a session take a limited amount of memory") {
    cell::Meeting meeting({"left"}, cell::by_secret(kSecret).second);
    const std::uint64_t session = meeting.open({"left"}, std::chrono::seconds(5));
    const auto set = [&](const std::string& key, std::size_t bytes) {
        const json request{{"session", session}, {"key", key}, {"value", std::string(2 * bytes, '0')}};
        return status_of(meeting, "/set", request.dump());
    };
    CHECK(set("a", 65'537) == 400);
    CHECK(set(std::string(65'537, 'k'), 1) == 400);
    std::size_t count = 0;
    while (set("word " + std::to_string(count), 65'536) == 200) {
        ++count;
        REQUIRE(count < 2'000);
    }
    CHECK(count == 1'023);                // of 64 KiB and their names, in 64 MiB
    CHECK(set("word 0", 65'536) == 200);  // in place of what it was
    CHECK(meeting.words(std::chrono::seconds(1))->get("word 7").size() == 65'536);
    meeting.open({"left"}, std::chrono::seconds(5));
    CHECK(status_of(meeting, "/set", json{{"session", session + 1}, {"key", "b"}, {"value", "00"}}.dump()) == 200);
}

TEST_CASE("what a lead answers is a seat, or none") {
    const auto seat = cell::decode_seat(R"({"session":7,"rank":2,"names":["a","b"],"timeout_ms":1000})");
    REQUIRE(seat.has_value());
    CHECK(seat->session == 7);
    CHECK(seat->rank == 2);
    CHECK(seat->size() == 3);
    CHECK(seat->timeout_ms == 1'000);
    CHECK(cell::decode_seat(R"({"session":0})")->session == 0);
    for (const char* wrong :
         {"", "[]", "7", R"({"session":-1})", R"({"session":"7"})", R"({"session":7})",
          R"({"session":7,"rank":0,"names":["a"]})", R"({"session":7,"rank":2,"names":["a"]})",
          R"({"session":7,"rank":4294967297,"names":["a"]})", R"({"session":7,"rank":1,"names":[1]})",
          R"({"session":7,"rank":1,"names":"a"})", R"({"session":7,"rank":1,"names":["a"],"timeout_ms":86400001})",
          R"({"session":7,"rank":1,"names":["a"],"timeout_ms":18446744073709551615})"}) {
        CHECK_MESSAGE(!cell::decode_seat(wrong), wrong);
    }
    std::string many = R"({"session":7,"rank":1,"names":["a")";
    for (int i = 0; i < 63; ++i) {
        many += ",\"b\"";
    }
    CHECK_FALSE(cell::decode_seat(many + "]}"));
}
