// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include <core/codec/borsh.hpp>
#include <contracts/transaction/transaction.hpp>
#include <node/rpc/block_waits.hpp>
#include <node/rpc/host_names.hpp>
#include <node/rpc/server.hpp>
#include <tests/unit/http/raw_client.hpp>
#include <tests/unit/rpc/fake_node.hpp>

using namespace assay;
using assay::http::test::RawClient;
using assay::rpc::test::FakeNode;
using nlohmann::json;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

const std::string kStatus = R"({"jsonrpc":"2.0","id":1,"method":"node_status"})";

struct Running {
    explicit Running(rpc::RpcOptions options = {}) : server(options, node) {}

    /// The whole answer to a POST with these header lines.
    std::string post(const std::string& body, const std::string& lines, const std::string& method = "POST") {
        RawClient client(server.port());
        client.send(
            method + " / HTTP/1.1\r\n" + lines + "Connection: close\r\nContent-Length: " + std::to_string(body.size()) +
            "\r\n\r\n" + body
        );
        return client.read_all();
    }

    FakeNode node;
    rpc::RpcServer server;
};

std::string wait_call(int timeout_ms) {
    return json{
        {"jsonrpc", "2.0"}, {"id", 1}, {"method", "chain_wait"}, {"params", {{"after", 7}, {"timeout_ms", timeout_ms}}}}
        .dump();
}

std::string request(const std::string& body) {
    return "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
}

class FakeExchange final : public http::HttpExchange {
  public:
    bool is_over() const noexcept override { return is_gone || answers > 0; }
    void answer(http::HttpResponse response) override {
        text = response.body;
        ++answers;
    }
    std::atomic<bool> is_gone{false};
    std::atomic<int> answers{0};
    std::string text;
};

template <class Condition>
bool comes_true(Condition condition) {
    const auto deadline = Clock::now() + 20s;
    while (!condition() && Clock::now() < deadline) {
        std::this_thread::sleep_for(2ms);
    }
    return condition();
}

}  // namespace

TEST_CASE("only names of this node are served, so that no web page's name can lead here") {
    rpc::RpcOptions options;
    options.hosts = rpc::decode_host_names(" node.example , Other.Example,");
    Running running(options);
    const std::string json_type = "Content-Type: application/json\r\n";
    for (const char* host :
         {"localhost", "LocalHost:26600", "127.0.0.1:1", "192.0.2.7", "[::1]:26600", "[2001:db8::1]", "node.example:80",
          "OTHER.example"}) {
        CAPTURE(host);
        const std::string answer = running.post(kStatus, std::string("Host: ") + host + "\r\n" + json_type);
        CHECK(answer.find("HTTP/1.1 200") == 0);
    }
    for (const char* host :
         {"evil.example", "evil.example:26600", "localhost.evil.example", "127.0.0.1.evil.example", "node.example.evil",
          "[evil]", "[::1", "localhost:port", "0x7f000001"}) {
        CAPTURE(host);
        const std::string answer = running.post(kStatus, std::string("Host: ") + host + "\r\n" + json_type);
        CHECK(answer.find("HTTP/1.1 403") == 0);
        CHECK(answer.find(host) != std::string::npos);
        CHECK(answer.find("rpc.hosts") != std::string::npos);
    }
}

TEST_CASE("a body that a web page may send without asking is refused") {
    Running running;
    const std::string host = "Host: localhost\r\nOrigin: http://evil.example\r\n";
    for (const char* type :
         {"", "Content-Type: text/plain\r\n", "Content-Type: application/x-www-form-urlencoded\r\n",
          "Content-Type: multipart/form-data; boundary=application/json\r\n"}) {
        CAPTURE(type);
        const std::string answer = running.post(kStatus, host + type);
        CHECK(answer.find("HTTP/1.1 415") == 0);
        CHECK(answer.find("application/json") != std::string::npos);
    }
    CHECK(running.post(kStatus, host + "Content-Type: Application/JSON; charset=utf-8\r\n").find("HTTP/1.1 200") == 0);
    // What a browser asks first for such a type is not allowed to anybody.
    const std::string asked = running.post("", host + "Access-Control-Request-Method: POST\r\n", "OPTIONS");
    CHECK(asked.find("HTTP/1.1 405") == 0);
    CHECK(asked.find("Access-Control-Allow") == std::string::npos);
}

TEST_CASE("a browser gets the explorer, and again only what it does not have") {
    Running running;
    const std::string page = running.post("", "Host: localhost\r\n", "GET");
    CHECK(page.find("HTTP/1.1 200") == 0);
    CHECK(page.find("Content-Type: text/html") != std::string::npos);
    CHECK(page.find("Content-Security-Policy: default-src 'none'; script-src 'self'") != std::string::npos);
    CHECK(page.find("<!doctype html>") != std::string::npos);
    const auto tag = page.find("ETag: \"");
    REQUIRE(tag != std::string::npos);
    const std::string etag = page.substr(tag + 6, 66);
    const std::string known = running.post("", "Host: localhost\r\nIf-None-Match: " + etag + "\r\n", "GET");
    CHECK(known.find("HTTP/1.1 304") == 0);
    CHECK(known.find("<!doctype") == std::string::npos);
    CHECK(known.find("Content-Length") == std::string::npos);
    const std::string head = running.post("", "Host: localhost\r\n", "HEAD");
    CHECK(head.find("HTTP/1.1 200") == 0);
    CHECK(head.find("<!doctype") == std::string::npos);
    // A name that leads here from a web page gets nothing of it.
    CHECK(running.post("", "Host: evil.example\r\n", "GET").find("HTTP/1.1 403") == 0);
}

TEST_CASE("requests that wait keep no thread from others") {
    Running running;
    running.node.makes_blocks = false;
    std::list<RawClient> waiting;
    for (int i = 0; i < 100; ++i) {
        waiting.emplace_back(running.server.port()).send(request(wait_call(30'000)));
    }
    RawClient asking(running.server.port());
    asking.send(request(kStatus));
    CHECK(asking.read_until("chain_id").find("HTTP/1.1 200") == 0);
    // One connection may ask on after its wait, which ends with the server at the latest.
    RawClient brief(running.server.port());
    brief.send(request(wait_call(50)));
    CHECK(brief.read_until("\"height\":7", 1, 20s).find("200") != std::string::npos);
    brief.send(request(kStatus));
    CHECK(brief.read_until("chain_id").find("200") != std::string::npos);
    running.server.stop();
    for (RawClient& client : waiting) {
        CHECK(client.read_until("\"height\":7", 1, 20s).find("HTTP/1.1 200") == 0);
    }
}

TEST_CASE("a batch of waits is refused and not waited for") {
    Running running;
    running.node.makes_blocks = false;
    json batch = json::array();
    for (int i = 0; i < 20; ++i) {
        batch.push_back(json::parse(wait_call(30'000)));
    }
    RawClient client(running.server.port());
    client.send(request(batch.dump()));
    const std::string answer = client.read_until("chain_wait cannot be in a batch", 20, 20s);
    CHECK(answer.find("HTTP/1.1 200") == 0);
}

TEST_CASE("waits end with a block, in time, and with their client") {
    FakeNode node;
    rpc::BlockWaits waits(node);
    const auto later = Clock::now() + 10min;
    const auto add = [&](std::uint64_t after, Clock::time_point until) {
        const auto exchange = std::make_shared<FakeExchange>();
        waits.add({.after = Height{after}, .until = until, .id = after}, exchange);
        return exchange;
    };
    const auto over = add(6, later);
    CHECK(over->answers == 1);
    CHECK(json::parse(over->text) == json{{"jsonrpc", "2.0"}, {"id", 6}, {"result", {{"height", 7}}}});
    const auto next = add(7, later);
    const auto far = add(8, later);
    const auto brief = add(9, Clock::now() + 50ms);
    const auto gone = add(10, later);
    CHECK(comes_true([&] { return brief->answers == 1; }));
    CHECK(next->answers == 0);
    CHECK(waits.count() == 3);
    gone->is_gone = true;
    CHECK(comes_true([&] { return waits.count() == 2; }));
    const auto key = rpc::test::key(1);
    const contracts::Action transfer = contracts::Transfer{rpc::test::key(2).account(), Amount{7}};
    REQUIRE(node.submit(codec::encode(contracts::sign_tx({"fake-1", key.account(), 0, Amount{5}, transfer}, key))));
    CHECK(comes_true([&] { return next->answers == 1; }));
    CHECK(far->answers == 0);
    waits.stop();
    CHECK(far->answers == 1);
    CHECK(gone->answers == 0);
    CHECK(add(9, later)->answers == 1);
}
