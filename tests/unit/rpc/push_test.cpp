// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <contracts/transaction/transaction.hpp>
#include <node/rpc/feed.hpp>
#include <node/rpc/host_names.hpp>
#include <node/rpc/server.hpp>
#include <node/rpc/subscriptions.hpp>
#include <tests/unit/http/raw_client.hpp>
#include <tests/unit/rpc/fake_node.hpp>
#include <tests/unit/rpc/schema_check.hpp>
#include <node/rpc/describe/methods.hpp>

using namespace assay;
using assay::http::test::RawClient;
using assay::rpc::Json;
using assay::rpc::test::FakeNode;
using assay::rpc::test::id;
using assay::rpc::test::key;
using namespace std::chrono_literals;

namespace {

Bytes transfer(std::uint64_t nonce) {
    const contracts::Action action = contracts::Transfer{key(2).account(), Amount{7}};
    return codec::encode(
        contracts::sign_tx(contracts::TxBody{"fake-1", key(1).account(), nonce, Amount{5}, action}, key(1))
    );
}

contracts::HistoryRecord event(std::uint64_t height, std::uint32_t index, contracts::HistoryEvent event) {
    return {
        .task = id<contracts::TaskId>(4),
        .index = index,
        .height = Height{height},
        .tx = {},
        .actor = {},
        .event = std::move(event)};
}

std::string get(const std::string& target, const std::string& lines = {}) {
    return "GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + lines + "\r\n";
}

std::string upgrade(const std::string& lines = {}) {
    return get(
        "/ws",
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
            lines
    );
}

/// A text message as a client sends it, with a mask of zeros.
std::string frame(const std::string& text) {
    std::string out{static_cast<char>(0x81)};
    if (text.size() < 126) {
        out.push_back(static_cast<char>(0x80U | text.size()));
    } else {
        out.push_back(static_cast<char>(0x80U | 126U));
        out.push_back(static_cast<char>(text.size() >> 8U));
        out.push_back(static_cast<char>(text.size() & 255U));
    }
    return out + std::string(4, '\0') + text;
}

std::string subscribe(const Json& params) {
    return frame(Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "subscribe"}, {"params", params}}.dump());
}

std::size_t count_of(const std::string& text, const std::string& mark) {
    std::size_t count = 0;
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
        ++count;
    }
    return count;
}

struct Running {
    explicit Running(rpc::RpcOptions options = {}) : server(options, node) {}
    FakeNode node;
    rpc::RpcServer server;
};

}  // namespace

TEST_CASE("a block's feed has the block, its transactions and its events, each with whom it concerns") {
    FakeNode node;
    REQUIRE(node.submit(transfer(0)).has_value());
    node.wait_for_block(Height{7}, 0ms);
    node.history = {
        event(7, 0, contracts::history::Completed{}),
        event(8, 1, contracts::history::SolverDrawn{.solver = key(3).account()}),
        event(8, 2, contracts::history::DisputeOpened{.dispute = id<contracts::DisputeId>(9), .segment = 1})};
    const auto feed = rpc::make_feed(node, Height{8});
    REQUIRE(feed.items.size() == 4);
    const auto concerned = [&](const Json& topic) {
        std::string out;
        for (const rpc::FeedItem& item : feed.items) {
            out += rpc::concerns(rpc::topic_argument(topic), item) ? '1' : '0';
        }
        return out;
    };
    const auto account = [](std::uint8_t seed) {
        return Json{{"topic", "account"}, {"account", crypto::to_address(key(seed).account())}};
    };
    CHECK(concerned({{"topic", "blocks"}}) == "1000");
    CHECK(concerned({{"topic", "events"}}) == "0011");
    CHECK(concerned(account(1)) == "0100");  // who sent
    CHECK(concerned(account(2)) == "0100");  // who received
    CHECK(concerned(account(3)) == "0010");
    CHECK(concerned(account(4)) == "0000");
    CHECK(concerned({{"topic", "task"}, {"task", to_hex(id<contracts::TaskId>(4).view())}}) == "0011");
    CHECK(concerned({{"topic", "dispute"}, {"dispute", to_hex(id<contracts::DisputeId>(9).view())}}) == "0001");
    const Json document = rpc::describe::openrpc_document("test");
    const auto shape = [&](const char* name, const std::string& data) {
        return rpc::test::find_mismatch(document, document.at("components").at("schemas").at(name), Json::parse(data));
    };
    CHECK(shape("BlockHead", feed.items[0].data) == "");
    CHECK(shape("TxSummary", feed.items[1].data) == "");
    CHECK(shape("Event", feed.items[2].data) == "");
}

TEST_CASE("a topic needs the id that belongs to it") {
    for (const Json& params : std::vector<Json>{
             Json::object(), {{"topic", "weather"}}, {{"topic", "task"}}, {{"topic", "account"}, {"account", "x"}}}) {
        CAPTURE(params.dump());
        CHECK_THROWS_AS(rpc::topic_argument(params), rpc::Fault);
    }
}

TEST_CASE("a query's words are the parameters of subscribe") {
    CHECK(rpc::query_arguments("") == Json::object());
    CHECK(
        rpc::query_arguments("topic=task&task=ab12&after=7") == Json{{"topic", "task"}, {"task", "ab12"}, {"after", 7}}
    );
    CHECK(rpc::query_arguments("topic") == Json{{"topic", ""}});
    CHECK_THROWS_AS(rpc::query_arguments("after=-1"), rpc::Fault);
    CHECK_THROWS_AS(rpc::query_arguments("after="), rpc::Fault);
}

TEST_CASE("a stream of events goes on behind the last one that its reader has") {
    Running running;
    const std::string head = "HTTP/1.1 200 OK";
    {
        RawClient all(running.server.port());
        all.send(get("/events?topic=blocks&after=0"));
        const std::string text = all.read_until("\n\n", 7);
        CHECK(text.substr(0, head.size()) == head);
        CHECK(count_of(text, "event: block\n") == 7);
        CHECK(text.find("\"prev\":null") != std::string::npos);
    }
    RawClient rest(running.server.port());
    rest.send(get("/events?topic=blocks", "Last-Event-ID: " + std::to_string(rpc::sequence_of(Height{5}, 0)) + "\r\n"));
    const std::string text = rest.read_until("\n\n", 2);
    CHECK(text.find("id: " + std::to_string(rpc::sequence_of(Height{6}, 0)) + "\n") != std::string::npos);
    CHECK(text.find("id: " + std::to_string(rpc::sequence_of(Height{5}, 0)) + "\n") == std::string::npos);
    // The next block is told when it is made.
    REQUIRE(running.node.submit(transfer(0)).has_value());
    running.node.wait_for_block(Height{7}, 0ms);
    const std::string later = rest.read_until("\n\n");
    CHECK(later.find("id: " + std::to_string(rpc::sequence_of(Height{8}, 0)) + "\n") != std::string::npos);
    CHECK(later.find("\"prev\":" + std::to_string(rpc::sequence_of(Height{7}, 0))) != std::string::npos);
}

TEST_CASE("a stream that cannot be had says why") {
    Running running;
    running.node.first_block = 5;
    const auto answers = [&](const std::string& target, const std::string& expected) {
        RawClient client(running.server.port());
        client.send(get(target));
        return client.read_until(expected).find(expected) != std::string::npos;
    };
    CHECK(answers("/events?topic=nothing", "400 Bad Request"));
    CHECK(answers("/events?topic=blocks&colour=red", "unknown parameter"));
    CHECK(answers("/events?topic=blocks&after=0", "410 Gone"));
}

TEST_CASE("behind the last place of a block comes the next block, also before there is any") {
    Running running;
    const auto first_behind = [&](Height height) {
        RawClient client(running.server.port());
        client.send(
            get("/events?topic=blocks&after=" + std::to_string(rpc::sequence_of(Height{height.value + 1}, 0) - 1))
        );
        return client.read_until("\n\n", 2);
    };
    CHECK(
        first_behind(Height{0}).find("id: " + std::to_string(rpc::sequence_of(Height{1}, 0)) + "\n") !=
        std::string::npos
    );
    CHECK(
        first_behind(Height{4}).find("id: " + std::to_string(rpc::sequence_of(Height{5}, 0)) + "\n") !=
        std::string::npos
    );
    running.node.first_block = 5;
    CHECK(
        first_behind(Height{4}).find("id: " + std::to_string(rpc::sequence_of(Height{5}, 0)) + "\n") !=
        std::string::npos
    );
    CHECK(first_behind(Height{3}).find("410 Gone") != std::string::npos);
}

TEST_CASE("a WebSocket subscribes, is answered, told and unsubscribed") {
    Running running;
    RawClient client(running.server.port());
    client.send(upgrade());
    const std::string head = client.read_until("\r\n\r\n");
    CHECK(head.find("101 Switching Protocols") != std::string::npos);
    CHECK(head.find("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") != std::string::npos);  // RFC 6455, 1.3
    client.send(subscribe({{"topic", "blocks"}, {"after", rpc::sequence_of(Height{5}, 0)}}));
    const std::string told = client.read_until("\"method\":\"subscription\"", 2);
    CHECK(told.find(R"("result":{"height":7,"subscription":1})") != std::string::npos);
    CHECK(told.find("\"result\"") < told.find("\"method\""));
    client.send(frame(R"({"jsonrpc":"2.0","id":2,"method":"unsubscribe","params":{"subscription":1}})"));
    CHECK(client.read_until("\"unsubscribed\":1").find("\"unsubscribed\":1") != std::string::npos);
    client.send(frame(R"({"jsonrpc":"2.0","id":3,"method":"unsubscribe","params":{"subscription":1}})"));
    CHECK(client.read_until("not_found").find("not_found") != std::string::npos);
    client.send(frame(R"({"jsonrpc":"2.0","id":4,"method":"node_status"})"));
    CHECK(client.read_until("method_not_found").find("method_not_found") != std::string::npos);
    client.send(subscribe({{"topic", "blocks"}, {"colour", "red"}}));
    CHECK(client.read_until("unknown parameter").find("unknown parameter") != std::string::npos);
    for (std::size_t i = 0; i <= rpc::Subscriptions::kPerConnection; ++i) {
        client.send(subscribe({{"topic", "events"}}));
    }
    CHECK(client.read_until("limit_exceeded").find("limit_exceeded") != std::string::npos);
}

TEST_CASE("another site's page opens no WebSocket, and plain requests are told what /ws is") {
    Running running;
    const auto answer = [&](const std::string& request) {
        RawClient client(running.server.port());
        client.send(request);
        return client.read_until("\r\n");
    };
    CHECK(answer(upgrade("Origin: http://evil.example\r\n")).find("403 Forbidden") != std::string::npos);
    CHECK(answer(upgrade("Origin: null\r\n")).find("403 Forbidden") != std::string::npos);
    CHECK(answer(upgrade("Origin: http://127.0.0.1\r\n")).find("101 Switching") != std::string::npos);
    CHECK(answer(get("/ws")).find("426 Upgrade Required") != std::string::npos);
    CHECK(rpc::is_same_origin("https://node.example:443", "node.example:443"));
    CHECK_FALSE(rpc::is_same_origin("https://node.example", ""));
}

TEST_CASE("a client that does not read is told everything later, and the node keeps little for it") {
    Running running;
    for (std::uint32_t i = 0; i < 40'000; ++i) {
        running.node.history.push_back(event(7, i, contracts::history::Completed{}));
    }
    RawClient client(running.server.port());
    client.send(get("/events?topic=events&after=0"));
    CHECK(client.read_until("\n\n").find("200 OK") != std::string::npos);
    std::this_thread::sleep_for(300ms);
    // Another client is served meanwhile.
    RawClient other(running.server.port());
    other.send(get("/events?topic=blocks&after=0"));
    CHECK(count_of(other.read_until("\n\n", 7), "event: block") == 7);
    const std::string text = client.read_until("\n\n", 39'999, 60s);
    const std::string last = "id: " + std::to_string(rpc::sequence_of(Height{7}, 40'000)) + "\n";
    CHECK(text.find(last) != std::string::npos);
}

TEST_CASE("a server that stops ends its streams") {
    auto running = std::make_unique<Running>();
    RawClient stream(running->server.port());
    stream.send(get("/events?topic=blocks&after=0"));
    stream.read_until("\n\n", 7);
    RawClient socket(running->server.port());
    socket.send(upgrade());
    socket.read_until("\r\n\r\n");
    running->server.stop();
    stream.read_all();
    CHECK(stream.is_closed());
    socket.read_all();
    CHECK(socket.is_closed());
}
