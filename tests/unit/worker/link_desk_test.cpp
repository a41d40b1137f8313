// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <core/crypto/keys.hpp>
#include <verifier/worker/link_desk.hpp>

using namespace assay;
using nlohmann::json;
using worker::LinkDesk;

namespace {

crypto::SecretKey member_key(std::uint8_t number) {
    Hash256 seed;
    seed.data[31] = number;
    return crypto::SecretKey::from_bytes(seed.view()).value();
}
std::string member_name(const crypto::SecretKey& key) { return to_hex(key.account().view()); }

struct Desk {
    LinkDesk desk;
    contracts::TaskId task{{7}};
    crypto::SecretKey first = member_key(2);
    crypto::SecretKey second = member_key(3);
    std::shared_ptr<cell::Meeting> meeting = desk.meeting(task, {first.account(), second.account()});

    http::HttpResponse post(
        const std::string& target, const json& request, const crypto::SecretKey& key, const Hash256& subject
    ) {
        const std::string body = cell::by_account(key, subject)(target, request.dump());
        return *desk.answer({.method = "POST", .target = worker::links_path(task) + target, .body = body});
    }
    http::HttpResponse post(const std::string& target, const json& request, const crypto::SecretKey& key) {
        return post(target, request, key, Hash256{task.data});
    }
    http::HttpResponse ask(const crypto::SecretKey& key, const std::string& name) {
        return post("/seat", {{"name", name}, {"served", 0}}, key);
    }
};

}  // namespace

TEST_CASE("GRP-11: members meet at their lead by what they sign, and nobody takes another's seat") {
    Desk at;
    CHECK(at.ask(at.first, member_name(at.first)).status == 200);
    CHECK(at.ask(at.first, member_name(at.second)).status == 403);
    CHECK(at.ask(member_key(9), member_name(member_key(9))).status == 403);
    CHECK(at.post("/seat", {{"name", member_name(at.first)}}, at.first, Hash256{}).status == 403);  // of another task
    CHECK(at.meeting->waiting() == std::vector{member_name(at.first)});

    const std::uint64_t session = at.meeting->open({member_name(at.second)}, std::chrono::seconds(5));
    CHECK(json::parse(at.ask(at.first, member_name(at.first)).body).at("session") == 0);
    const json seat = json::parse(at.ask(at.second, member_name(at.second)).body);
    CHECK(seat.at("session") == session);
    CHECK(seat.at("rank") == 1);
    CHECK(seat.at("names") == json::array({member_name(at.second)}));
    CHECK(at.post("/set", {{"session", session}, {"key", "tls/1"}, {"value", "ab"}}, at.second).status == 200);
    CHECK(at.post("/set", {{"session", session - 1}, {"key", "tls/1"}, {"value", "cd"}}, at.second).status == 410);
    CHECK(at.meeting->words(std::chrono::seconds(1))->get("tls/1") == Bytes{0xab});
}

TEST_CASE("GRP-11: a member says where it listens itself, and nobody says it of another one") {
    Desk at;
    const std::uint64_t session =
        at.meeting->open({member_name(at.first), member_name(at.second)}, std::chrono::seconds(5));
    const auto set = [&](const crypto::SecretKey& key, const char* word, const std::string& value) {
        return at.post("/set", {{"session", session}, {"key", word}, {"value", value}}, key).status;
    };
    CHECK(set(at.first, "tls/1", "ab") == 200);
    CHECK(set(at.second, "tls/2", "cd") == 200);
    CHECK(set(at.first, "tls/2", "ef") == 403);
    CHECK(set(at.first, "tls/0", "ef") == 403);
    CHECK(set(at.first, "anything", "ef") == 403);
    CHECK(set(at.first, "tls/1", "no hex") == 400);
    CHECK(set(at.first, "tls/1", std::string(2 * 65'537, '0')) == 400);
    CHECK(at.meeting->words(std::chrono::seconds(1))->get("tls/2") == Bytes{0xcd});
    // Who has no rank in the session says nothing.
    const std::uint64_t next = at.meeting->open({member_name(at.second)}, std::chrono::seconds(5));
    CHECK(at.post("/set", {{"session", next}, {"key", "tls/1"}, {"value", "ab"}}, at.first).status == 403);
}

TEST_CASE("GRP-11: what is no member's request to a meeting is refused") {
    Desk at;
    const auto status = [&](const std::string& target, const std::string& body) {
        return at.desk.answer({.method = "POST", .target = target, .body = body})->status;
    };
    const std::string path = worker::links_path(at.task);
    CHECK(status(path + "/seat", "") == 403);
    CHECK(status(path + "/seat", std::string(193, '0')) == 403);
    CHECK(status(path, "") == 404);
    CHECK(status("/links/" + std::string(64, '0') + "/seat", "") == 200);  // its lead has not begun yet
    CHECK(status("/links/" + std::string(64, '0') + "/get", "") == 404);
    CHECK(status("/links/", "") == 404);
    CHECK_FALSE(at.desk.answer({.method = "GET", .target = "/artifact/00", .body = {}}).has_value());
    // What was signed for one page is none of another.
    const std::string sealed = cell::by_account(at.first, Hash256{at.task.data})("/seat", R"({"name": "x"})");
    CHECK(status(path + "/get", sealed) == 403);
    at.desk.forget(at.task);
    CHECK(status(path + "/get", sealed) == 404);
}

TEST_CASE("GRP-13: who says that it leaves is not waited for until it asks again") {
    Desk at;
    CHECK(at.ask(at.first, member_name(at.first)).status == 200);
    CHECK(at.post("/leave", {{"name", member_name(at.second)}}, at.first).status == 403);  // another's name
    CHECK(at.post("/leave", {{"name", "nobody"}}, member_key(9)).status == 403);
    CHECK(at.meeting->left().empty());
    CHECK(at.post("/leave", {{"name", member_name(at.first)}}, at.first).status == 200);
    CHECK(at.meeting->left() == std::vector{member_name(at.first)});
    CHECK(at.meeting->waiting().empty());
    CHECK(at.ask(at.first, member_name(at.first)).status == 200);
    CHECK(at.meeting->left().empty());
    CHECK(at.meeting->waiting() == std::vector{member_name(at.first)});
}
