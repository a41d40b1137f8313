// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include <unistd.h>

#include <client/http/http.hpp>
#include <tests/unit/http/raw_client.hpp>

using namespace assay::http;
using assay::http::test::RawClient;
using Clock = std::chrono::steady_clock;

namespace {

HttpResponse text(unsigned status, std::string body) {
    HttpResponse response;
    response.status = status;
    response.content_type = "text/plain";
    response.body = std::move(body);
    return response;
}

HttpResponse echo(const HttpRequest& request) {
    return text(200, request.method + " " + request.target + " " + request.body + "\n");
}

std::string url_of(const HttpServer& server, const std::string& target = "/") {
    return "http://127.0.0.1:" + std::to_string(server.port()) + target;
}

HttpServerOptions small_options() {
    HttpServerOptions options;
    options.body_max = 1'000;
    return options;
}

const std::string kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr auto kPrompt = std::chrono::seconds(3);

}  // namespace

TEST_CASE("a request reaches the handler and its answer the client") {
    HttpServer server({}, echo);
    CHECK(server.port() != 0);
    const HttpResponse got = http_get(url_of(server, "/path?q=1"));
    CHECK(got.status == 200);
    CHECK(got.content_type == "text/plain");
    CHECK(got.body == "GET /path?q=1 \n");
    CHECK(http_post(url_of(server), "body").body == "POST / body\n");
}

TEST_CASE("a connection serves one request after the other") {
    HttpServer server({}, echo);
    RawClient client(server.port());
    client.send(kGet);
    CHECK(client.read_until("GET /a").find("200") != std::string::npos);
    client.send(kGet + kGet);  // pipelined
    client.read_until("GET /a", 2);
    CHECK_FALSE(client.is_closed());
    client.send("GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    CHECK(client.read_all().find("GET /last") != std::string::npos);
    CHECK(client.is_closed());
}

TEST_CASE("a body over the limit is refused and never handled") {
    std::atomic<int> handled = 0;
    HttpServer server(small_options(), [&](const HttpRequest& request) {
        ++handled;
        return echo(request);
    });
    CHECK(http_post(url_of(server), std::string(1'000, 'x')).status == 200);
    CHECK(http_post(url_of(server), std::string(1'001, 'x')).status == 413);
    CHECK(http_post(url_of(server), std::string(3'000'000, 'x')).status == 413);
    RawClient chunked(server.port());
    chunked.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 3; ++i) {
        chunked.send("190\r\n" + std::string(400, 'x') + "\r\n");
    }
    CHECK(chunked.read_until("413").find("413") != std::string::npos);
    RawClient promised(server.port());
    promised.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n");
    CHECK(promised.read_until("413").find("413") != std::string::npos);
    CHECK(handled == 1);
}

TEST_CASE("what is not HTTP is answered with 400 and closed") {
    HttpServer server({}, echo);
    const std::vector<std::string> table{
        "garbage\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: minus\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n",
        std::string("\x16\x03\x01\x02\x00\x01\x00\x01", 8) + std::string(300, '\0'),
    };
    for (const std::string& request : table) {
        CAPTURE(request.substr(0, 40));
        RawClient client(server.port());
        client.send(request);
        CHECK(client.read_all().find("HTTP/1.1 400") == 0);
        CHECK(client.is_closed());
    }
    CHECK(http_get(url_of(server)).status == 200);
}

TEST_CASE("a connection that says nothing or stops in the middle is closed" * doctest::test_suite("full")) {
    HttpServerOptions options;
    options.idle_timeout = std::chrono::seconds(1);
    options.header_timeout = std::chrono::seconds(1);
    HttpServer server(options, echo);
    for (const std::string& start :
         {std::string(), std::string("GET / HT"),
          std::string("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")}) {
        RawClient client(server.port());
        client.send(start);
        client.read_all();
        CHECK(client.is_closed());
    }
}

TEST_CASE("a file is streamed whole and a missing one is 404") {
    const auto path = std::filesystem::temp_directory_path() / ("assay_http_" + std::to_string(::getpid()));
    std::string content;
    for (int i = 0; i < 3'000'000; ++i) {
        content.push_back(static_cast<char>(i * 31 + i / 256));
    }
    std::ofstream(path, std::ios::binary) << content;
    HttpServer server({}, [&](const HttpRequest& request) {
        HttpResponse response;
        response.content_type = "application/octet-stream";
        response.file = request.target == "/there" ? path : path / "missing";
        return response;
    });
    CHECK(http_get(url_of(server, "/there")).body == content);
    CHECK(http_get(url_of(server, "/gone")).status == 404);
    RawClient head(server.port());
    head.send("HEAD /there HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    const std::string answer = head.read_all();
    CHECK(answer.find("Content-Length: 3000000") != std::string::npos);
    CHECK(answer.ends_with("\r\n\r\n"));
    std::filesystem::remove(path);
}

TEST_CASE("a handler that throws answers 500 and the server goes on") {
    HttpServer server({}, [](const HttpRequest& request) -> HttpResponse {
        if (request.target == "/throw") {
            throw std::runtime_error("secret");
        }
        return echo(request);
    });
    const HttpResponse got = http_get(url_of(server, "/throw"));
    CHECK(got.status == 500);
    CHECK(got.body.find("secret") == std::string::npos);
    CHECK(http_get(url_of(server)).status == 200);
}

TEST_CASE("many clients at once are all answered") {
    HttpServer server({}, echo);
    std::atomic<int> good = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 20; ++i) {
                const std::string body = std::to_string(t * 100 + i);
                good += http_post(url_of(server), body).body == "POST / " + body + "\n" ? 1 : 0;
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    CHECK(good == 160);
}

TEST_CASE("stop ends idle connections at once and lets answers out") {
    std::atomic<bool> entered = false;
    std::atomic<bool> release = false;
    HttpServer server({}, [&](const HttpRequest& request) {
        if (request.target == "/slow") {
            entered = true;
            while (!release) {
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            }
        }
        return echo(request);
    });
    RawClient idle(server.port());
    idle.send(kGet);
    idle.read_until("GET /a");
    std::string answer;
    std::thread slow([&] { answer = http_get(url_of(server, "/slow")).body; });
    while (!entered) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::thread releaser([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        release = true;
    });
    const auto start = Clock::now();
    server.stop();
    CHECK(Clock::now() - start < kPrompt);
    server.stop();
    slow.join();
    releaser.join();
    CHECK(answer == "GET /slow \n");
    idle.read_all();
    CHECK(idle.is_closed());
    CHECK_THROWS_AS(http_get(url_of(server)), NetError);
}

TEST_CASE("stop does not wait for a client that takes no answer" * doctest::test_suite("full")) {
    HttpServer server({}, [](const HttpRequest&) { return text(200, std::string(64U << 20U, 'x')); });
    RawClient client(server.port());
    client.send(kGet);
    client.read_until("HTTP/1.1 200");
    const auto start = Clock::now();
    server.stop();
    CHECK(Clock::now() - start < kPrompt);
}

TEST_CASE("an address that is taken or none is named") {
    HttpServer server({}, echo);
    HttpServerOptions options;
    options.port = server.port();
    try {
        HttpServer second(options, echo);
        FAIL("two servers on one port");
    } catch (const NetError& error) {
        CHECK(std::string(error.what()).find("127.0.0.1:" + std::to_string(server.port())) != std::string::npos);
    }
    options.address = "nowhere";
    CHECK_THROWS_AS(HttpServer(options, echo), NetError);
}
