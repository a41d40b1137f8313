// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <client/http/http.hpp>
#include <client/http/kept_connections.hpp>
#include <tests/unit/http/listener.hpp>

using namespace assay::http;
using assay::http::test::Listener;
using namespace std::chrono_literals;

namespace {

/// Answers what it is sent, doubled.
std::unique_ptr<HttpServer> make_echo(std::uint16_t port = 0) {
    HttpServerOptions options;
    options.port = port;
    return std::make_unique<HttpServer>(options, [](const HttpRequest& request) {
        return HttpResponse{.body = request.body + request.body};
    });
}

std::string url_of(const HttpServer& server) { return "http://127.0.0.1:" + std::to_string(server.port()); }

}  // namespace

TEST_CASE("requests that follow each other share a connection, and each gets its own answer") {
    const auto server = make_echo();
    KeptConnections kept(url_of(*server), 5s, 1'000);
    for (int i = 0; i < 50; ++i) {
        const std::string body(static_cast<std::size_t>(i), static_cast<char>('a' + i % 26));
        REQUIRE(kept.post(body) == body + body);
        REQUIRE(server->connections() == 1);
    }
}

TEST_CASE("a connection that the server has closed is made anew") {
    auto server = make_echo();
    const std::uint16_t port = server->port();
    KeptConnections kept(url_of(*server), 5s, 1'000);
    CHECK(kept.post("a") == "aa");
    server.reset();
    CHECK_THROWS_AS(kept.post("b"), NetError);
    server = make_echo(port);
    CHECK(kept.post("c") == "cc");
    CHECK(kept.post("d") == "dd");
}

TEST_CASE("threads that call at once do not wait for each other's connection") {
    const auto server = make_echo();
    KeptConnections kept(url_of(*server), 5s, 1'000);
    std::atomic<int> wrong{0};
    {
        std::vector<std::jthread> threads;
        for (int number = 0; number < 4; ++number) {
            threads.emplace_back([&kept, &wrong, number] {
                const std::string body(10, static_cast<char>('a' + number));
                for (int i = 0; i < 100; ++i) {
                    wrong += kept.post(body) == body + body ? 0 : 1;
                }
            });
        }
    }
    CHECK(wrong == 0);
    CHECK(server->connections() <= 4);
}

TEST_CASE("an answer that is too long, late or none at all is an error that names the URL") {
    const auto server = make_echo();
    KeptConnections small(url_of(*server), 5s, 9);
    CHECK(small.post("1234") == "12341234");
    CHECK_THROWS_AS(small.post("12345"), NetTooLarge);
    CHECK(small.post("1234") == "12341234");

    const Listener silent;
    KeptConnections patient(silent.url(), 100ms, 9);
    CHECK_THROWS_AS(patient.post("x"), NetTimeout);
    std::string url;
    {
        const Listener gone;
        url = gone.url();
    }
    try {
        KeptConnections(url, 5s, 9).post("x");
        FAIL("somebody answered");
    } catch (const NetError& error) {
        CHECK(std::string(error.what()).find(url) == 0);
    }
}
