// SPDX-License-Identifier: Apache-2.0
#include <verifier/ui/guard.hpp>

#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace assay::ui {
namespace {

constexpr std::uint16_t kPort = 4'321;

struct Door {
    Guard::Time now{};
    std::string token = new_token();
    Guard guard{token, kPort, [this] { return now; }};

    http::HttpRequest request() const {
        http::HttpRequest out;
        out.method = "GET";
        out.target = "/api/state";
        out.host = "127.0.0.1:4321";
        out.authorization = "Bearer " + token;
        return out;
    }
    unsigned status(const http::HttpRequest& request, bool needs_token = true) {
        const auto refused = guard.refuse(request, needs_token);
        return refused ? refused->status : 200;
    }
};

}  // namespace

TEST_CASE("ui: the owner's page is let in, and tokens differ") {
    Door door;
    CHECK(door.status(door.request()) == 200);
    auto request = door.request();
    request.host = "localhost:4321";
    request.origin = "http://localhost:4321";
    CHECK(door.status(request) == 200);
    CHECK(new_token() != new_token());
    CHECK(door.token.size() == 64);
}

TEST_CASE("ui: another name for this machine is refused, with the token and for files: DNS rebinding") {
    Door door;
    for (const char* host :
         {"", "evil.example", "evil.example:4321", "127.0.0.1", "127.0.0.1:4322", "127.0.0.1:4321.evil.example"}) {
        CAPTURE(host);
        auto request = door.request();
        request.host = host;
        CHECK(door.status(request) == 403);
        CHECK(door.status(request, false) == 403);
    }
    CHECK(door.guard.refused() == 12);
}

TEST_CASE("ui: another origin is refused, with the token too: requests of other pages") {
    Door door;
    for (const char* origin :
         {"null", "http://evil.example", "https://127.0.0.1:4321", "http://127.0.0.1:80", "http://localhost:4321"}) {
        CAPTURE(origin);
        auto request = door.request();
        request.origin = origin;
        CHECK(door.status(request) == 403);
    }
}

TEST_CASE("ui: without the token nothing is answered") {
    Door door;
    auto request = door.request();
    std::string last = door.token;
    last.back() = last.back() == '0' ? '1' : '0';
    const std::vector<std::string> wrong{
        "",
        door.token,
        "Basic " + door.token,
        "Bearer ",
        "Bearer " + last,
        "Bearer " + door.token + "0",
        "bearer " + door.token};
    for (const std::string& authorization : wrong) {
        CAPTURE(authorization);
        request.authorization = authorization;
        CHECK(door.status(request) == 401);
    }
    CHECK(door.status(request, false) == 200);  // a file of the page
}

TEST_CASE("ui: who has no token cannot keep the owner out by asking often") {
    Door door;
    auto stranger = door.request();
    stranger.authorization = "Bearer wrong";
    unsigned last = 0;
    for (int i = 0; i < 100; ++i) {
        last = door.status(stranger);
    }
    CHECK(last == 429);
    CHECK(door.status(door.request()) == 200);
    door.now += std::chrono::seconds(1);
    CHECK(door.status(stranger) == 401);
}

TEST_CASE("ui: a page that asks without end is slowed down, and served again a second later") {
    Door door;
    unsigned answered = 0;
    for (int i = 0; i < 1'000; ++i) {
        answered += door.status(door.request()) == 200 ? 1U : 0U;
    }
    CHECK(answered == 2 * Guard::kCallsPerSecond);
    door.now += std::chrono::seconds(1);
    CHECK(door.status(door.request()) == 200);
}

}  // namespace assay::ui
