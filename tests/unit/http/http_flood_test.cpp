// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include <client/http/http.hpp>
#include <tests/unit/http/gate.hpp>
#include <tests/unit/http/raw_client.hpp>

using namespace assay::http;
using assay::http::test::Gate;
using assay::http::test::RawClient;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

const std::string kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

HttpResponse text(std::string body) { return {.status = 200, .content_type = "text/plain", .body = std::move(body)}; }

HttpResponse echo(const HttpRequest& request) { return text(request.method + " " + request.target + "\n"); }

std::string get(const std::string& target) { return "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n"; }

std::string post(std::size_t length) {
    return "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
}

std::string nth_address(int n) { return "127.1." + std::to_string(n / 250) + "." + std::to_string(1 + n % 250); }

/// A client and a server in one process need two descriptors for each connection.
void allow_descriptors() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, 8'192));
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    REQUIRE(limit.rlim_cur >= 4'096);
}

/// Connections that do nothing. Those that the server closes are opened again, as fast as may be, once told to.
class IdleFlood {
  public:
    IdleFlood(std::uint16_t port, int addresses, int of_each) {
        for (int i = 0; i < addresses * of_each; ++i) {
            open(port, i, addresses);
        }
        thread_ = std::thread([this, port, addresses] {
            for (int i = 0; !stopping_; i = (i + 1) % static_cast<int>(clients_.size())) {
                if (!reopens_) {
                    std::this_thread::sleep_for(1ms);
                    continue;
                }
                RawClient& client = *clients_[static_cast<std::size_t>(i)];
                client.read_until("never", 1, 0ms);
                if (client.is_closed()) {
                    open(port, i, addresses);
                    ++reopened_;
                }
            }
        });
    }
    ~IdleFlood() {
        stopping_ = true;
        thread_.join();
    }
    void reopen() { reopens_ = true; }
    int reopened() const { return reopened_; }
    std::size_t size() const { return clients_.size(); }

  private:
    void open(std::uint16_t port, int i, int addresses) {
        auto client = std::make_unique<RawClient>(port, nth_address(i % addresses));
        if (i % 3 == 1) {
            client->send("GET / HTTP/1.1\r\nHo");
        } else if (i % 3 == 2) {
            client->send(kGet);
        }
        if (static_cast<std::size_t>(i) < clients_.size()) {
            clients_[static_cast<std::size_t>(i)] = std::move(client);
        } else {
            clients_.push_back(std::move(client));
        }
    }

    std::vector<std::unique_ptr<RawClient>> clients_;
    std::atomic<bool> stopping_{false};
    std::atomic<bool> reopens_{false};
    std::atomic<int> reopened_{0};
    std::thread thread_;
};

/// Median and slowest of 50 requests, in milliseconds.
std::pair<double, double> honest_latency(std::uint16_t port) {
    std::vector<double> ms;
    for (int i = 0; i < 50; ++i) {
        const auto start = Clock::now();
        // The deadline is the client's own: ten seconds.
        CHECK(http_get("http://127.0.0.1:" + std::to_string(port) + "/honest").body == "GET /honest\n");
        ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    std::sort(ms.begin(), ms.end());
    return {ms[ms.size() / 2], ms.back()};
}

}  // namespace

TEST_CASE("an honest request is answered while 2000 connections do nothing" * doctest::test_suite("full")) {
    allow_descriptors();
    HttpServerOptions options;
    options.connections_per_address = 16;
    HttpServer server(options, echo);
    IdleFlood flood(server.port(), 125, 16);
    REQUIRE(flood.size() == 2'000);
    const auto idle = honest_latency(server.port());
    MESSAGE("under 2000 idle connections: median ", idle.first, " ms, slowest of 50 ", idle.second, " ms");
    flood.reopen();
    const auto deadline = Clock::now() + 30s;
    while (flood.reopened() < 100 && Clock::now() < deadline) {
        std::this_thread::sleep_for(5ms);
    }
    CHECK(flood.reopened() >= 100);
    const auto pressed = honest_latency(server.port());
    MESSAGE(
        "while those that were closed for others are opened again (", flood.reopened(), " times): median ",
        pressed.first, " ms, slowest of 50 ", pressed.second, " ms"
    );
}

TEST_CASE("many connections of one address leave the others theirs") {
    HttpServerOptions options;
    options.connections_per_address = 4;
    Gate gate;
    HttpServer server(options, [&](const HttpRequest& request) {
        if (request.target == "/slow") {
            gate.pass();
        }
        return echo(request);
    });
    const Gate::Opener opener(gate);
    std::list<RawClient> greedy;
    for (int i = 0; i < 4; ++i) {
        greedy.emplace_back(server.port(), "127.0.0.2").send(get(i < 3 ? "/slow" : "/a"));
    }
    REQUIRE(gate.wait_for(3));
    CHECK(greedy.back().read_until("GET /a").find("200") != std::string::npos);
    // The fifth takes the place of the one that is idle.
    RawClient fifth(server.port(), "127.0.0.2");
    fifth.send(kGet);
    CHECK(fifth.read_until("GET /a").find("200") != std::string::npos);
    greedy.back().read_all();
    CHECK(greedy.back().is_closed());
    fifth.send(get("/slow"));
    REQUIRE(gate.wait_for(4));
    // Nothing of its own is idle now.
    RawClient sixth(server.port(), "127.0.0.2");
    CHECK(sixth.read_all().find("HTTP/1.1 503") == 0);
    RawClient other(server.port(), "127.0.0.3");
    gate.open();
    other.send(kGet);
    CHECK(other.read_until("GET /a").find("200") != std::string::npos);
}

TEST_CASE("connections beyond the limit are told to come back when all are busy") {
    HttpServerOptions options;
    options.connections_max = 2;
    Gate gate;
    HttpServer server(options, [&](const HttpRequest& request) {
        gate.pass();
        return echo(request);
    });
    const Gate::Opener opener(gate);
    RawClient first(server.port(), "127.0.0.2");
    RawClient second(server.port(), "127.0.0.3");
    first.send(kGet);
    second.send(kGet);
    REQUIRE(gate.wait_for(2));
    RawClient third(server.port(), "127.0.0.4");
    CHECK(third.read_all().find("HTTP/1.1 503") == 0);
    gate.open();
    CHECK(first.read_until("GET /a").find("200") != std::string::npos);
    // Its place is free for others as soon as it has its answer.
    RawClient fourth(server.port(), "127.0.0.4");
    fourth.send(kGet);
    CHECK(fourth.read_until("GET /a").find("200") != std::string::npos);
}

TEST_CASE("a head or a body that trickles in is cut off though bytes keep coming" * doctest::test_suite("full")) {
    HttpServerOptions options;
    options.header_timeout = 1s;
    options.idle_timeout = 1s;
    HttpServer server(options, echo);
    for (const std::string& start : {std::string("GET / HTTP/1.1\r\nX: "), post(1'000)}) {
        RawClient client(server.port());
        client.send(start);
        const auto deadline = Clock::now() + 20s;
        while (!client.is_closed() && Clock::now() < deadline) {
            client.send("x");
            client.read_until("never", 1, 50ms);
        }
        CHECK(client.is_closed());
    }
}

TEST_CASE("a waiting request takes no thread and is answered from another") {
    HttpServerOptions options;
    options.threads = 1;
    std::mutex mutex;
    std::vector<std::shared_ptr<HttpExchange>> waiting;
    Gate kept;
    kept.open();
    HttpServer server(
        options,
        [&](const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange) -> std::optional<HttpResponse> {
            if (request.target != "/wait") {
                return echo(request);
            }
            const std::lock_guard lock(mutex);
            waiting.push_back(exchange);
            kept.pass();
            return std::nullopt;
        }
    );
    std::list<RawClient> clients;
    for (int i = 0; i < 8; ++i) {
        clients.emplace_back(server.port()).send(get("/wait"));
    }
    REQUIRE(kept.wait_for(8));
    CHECK(http_get("http://127.0.0.1:" + std::to_string(server.port()) + "/now").body == "GET /now\n");
    for (const auto& exchange : waiting) {
        CHECK_FALSE(exchange->is_over());
        exchange->answer(text("late\n"));
        CHECK(exchange->is_over());
        exchange->answer(text("later\n"));
    }
    for (RawClient& client : clients) {
        CHECK(client.read_until("late\n").find("200") != std::string::npos);
        // The connection goes on.
        client.send(get("/next"));
        CHECK(client.read_until("/next").find("GET /next") != std::string::npos);
    }
}

TEST_CASE("work for a client that has gone is over") {
    std::mutex mutex;
    std::vector<std::shared_ptr<HttpExchange>> begun;
    Gate gate;
    HttpServer server(
        {},
        [&](const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange) -> std::optional<HttpResponse> {
            {
                const std::lock_guard lock(mutex);
                begun.push_back(exchange);
            }
            gate.pass();
            return request.target == "/wait" ? std::nullopt : std::optional(echo(request));
        }
    );
    const Gate::Opener opener(gate);
    {
        RawClient running(server.port());
        RawClient waiting(server.port());
        running.send(get("/run"));
        waiting.send(get("/wait"));
        REQUIRE(gate.wait_for(2));
    }
    const auto deadline = Clock::now() + 20s;
    const auto all_over = [&] {
        return std::all_of(begun.begin(), begun.end(), [](const auto& exchange) { return exchange->is_over(); });
    };
    while (!all_over() && Clock::now() < deadline) {
        std::this_thread::sleep_for(5ms);
    }
    CHECK(all_over());
}

TEST_CASE("addresses take turns for the threads") {
    HttpServerOptions options;
    options.threads = 1;
    Gate gate;
    std::mutex mutex;
    std::vector<std::string> order;
    HttpServer server(options, [&](const HttpRequest& request) {
        {
            const std::lock_guard lock(mutex);
            order.push_back(request.target);
        }
        gate.pass();
        return echo(request);
    });
    const Gate::Opener opener(gate);
    std::list<RawClient> greedy;
    for (int i = 0; i < 8; ++i) {
        greedy.emplace_back(server.port(), "127.0.0.2").send(get("/greedy"));
    }
    REQUIRE(gate.wait_for(1));
    RawClient other(server.port(), "127.0.0.3");
    other.send(get("/other"));
    // All of them have been read when something later of the same loop is: a refused one.
    RawClient probe(server.port(), "127.0.0.4");
    probe.send("garbage\r\n\r\n");
    probe.read_all();
    gate.open();
    CHECK(other.read_until("/other").find("200") != std::string::npos);
    for (RawClient& client : greedy) {
        CHECK(client.read_until("/greedy").find("200") != std::string::npos);
    }
    const std::lock_guard lock(mutex);
    CHECK(std::find(order.begin(), order.end(), "/other") - order.begin() == 1);
}

TEST_CASE("the address that fills the memory pays for it") {
    HttpServerOptions options;
    options.body_max = 100'000;
    options.memory_max = 300'000;
    HttpServer server(options, [](const HttpRequest& request) {
        return text(std::to_string(request.body.size()) + "\n");
    });
    std::list<RawClient> greedy;
    for (int i = 0; i < 4; ++i) {
        greedy.emplace_back(server.port(), "127.0.0.2").send(post(100'000) + std::string(70'000, 'x'));
    }
    // Announcing costs nothing: only what has come counts.
    RawClient announcing(server.port(), "127.0.0.3");
    announcing.send(post(100'000));
    RawClient modest(server.port(), "127.0.0.4");
    modest.send(post(90'000) + std::string(90'000, 'x'));
    CHECK(modest.read_until("90000").find("200") != std::string::npos);
    int closed = 0;
    for (RawClient& client : greedy) {
        client.read_until("never", 1, 200ms);
        closed += client.is_closed() ? 1 : 0;
    }
    CHECK(closed >= 1);
    CHECK(closed < 4);
    // Its own further requests are refused, with a reason, not those of others.
    RawClient more(server.port(), "127.0.0.2");
    more.send(post(100'000) + std::string(100'000, 'x'));
    CHECK(more.read_until("memory").find("HTTP/1.1 503") == 0);
}

TEST_CASE("stop refuses what has not begun, ends what waits and lets what runs answer") {
    HttpServerOptions options;
    options.threads = 1;
    Gate gate;
    std::mutex mutex;
    std::shared_ptr<HttpExchange> kept;
    HttpServer server(
        options,
        [&](const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange) -> std::optional<HttpResponse> {
            if (request.target == "/wait") {
                const std::lock_guard lock(mutex);
                kept = exchange;
                return std::nullopt;
            }
            gate.pass();
            return echo(request);
        }
    );
    const Gate::Opener opener(gate);
    RawClient waiting(server.port(), "127.0.0.2");
    waiting.send(get("/wait"));
    while (true) {
        const std::lock_guard lock(mutex);
        if (kept) {
            break;
        }
    }
    RawClient running(server.port(), "127.0.0.3");
    running.send(get("/run"));
    REQUIRE(gate.wait_for(1));
    RawClient queued(server.port(), "127.0.0.4");
    queued.send(get("/queued"));
    RawClient probe(server.port(), "127.0.0.5");
    probe.send("garbage\r\n\r\n");
    probe.read_all();
    std::thread stopper([&] { server.stop(); });
    CHECK(queued.read_until("stopping").find("HTTP/1.1 503") == 0);
    waiting.read_all();
    CHECK(waiting.is_closed());
    CHECK(kept->is_over());
    gate.open();
    CHECK(running.read_until("/run").find("200") != std::string::npos);
    stopper.join();
    kept->answer(text("too late"));
}

TEST_CASE("a large file goes to a slow reader while others are answered") {
    const auto path = std::filesystem::temp_directory_path() / ("assay_http_large_" + std::to_string(::getpid()));
    constexpr std::size_t kSize = 48U << 20U;
    std::ofstream(path, std::ios::binary) << std::string(kSize, 'x');
    HttpServer server({}, [&](const HttpRequest& request) {
        return request.target == "/large" ? HttpResponse{.status = 200, .content_type = "", .body = {}, .file = path}
                                          : echo(request);
    });
    RawClient slow(server.port());
    slow.send("GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    slow.read_until("200");
    CHECK(http_get("http://127.0.0.1:" + std::to_string(server.port()) + "/now").body == "GET /now\n");
    const std::string rest = slow.read_all(30s);
    CHECK(std::count(rest.begin(), rest.end(), 'x') > static_cast<std::ptrdiff_t>(kSize) - 8'192);
    CHECK(slow.is_closed());
    std::filesystem::remove(path);
}
