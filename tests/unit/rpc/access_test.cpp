// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include <client/rpc_client.hpp>
#include <client/rpc_codes.hpp>
#include <core/keys/key_file.hpp>
#include <node/rpc/access_token.hpp>
#include <node/rpc/rate_limiter.hpp>
#include <node/rpc/readiness.hpp>
#include <node/rpc/server.hpp>
#include <tests/unit/folders.hpp>
#include <tests/unit/http/raw_client.hpp>
#include <tests/unit/rpc/fake_node.hpp>

using namespace assay;
using namespace std::chrono_literals;
using assay::client::NodeAddress;
using assay::client::RpcClient;
using assay::http::test::RawClient;
using assay::rpc::RateLimiter;
using assay::rpc::test::FakeNode;
using nlohmann::json;
using RateClass = assay::rpc::describe::RateClass;

namespace {

const std::string kToken = "0123456789abcdef0123456789abcdef";
const std::string kCall = R"({"jsonrpc":"2.0","id":1,"method":"node_status"})";

/// A directory of its own that goes with it.
class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "assay-access-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::filesystem::path operator/(const char* name) const { return path_ / name; }

  private:
    std::filesystem::path path_;
};

std::filesystem::path write_secret(const std::filesystem::path& file, const std::string& text) {
    crypto::write_private_file(file, text);
    return file;
}

struct Node {
    explicit Node(rpc::RpcOptions options) : server(options, api) {}

    std::string url(const std::string& scheme = "http") const {
        return scheme + "://127.0.0.1:" + std::to_string(server.port());
    }
    std::string ask(const std::string& head, const std::string& body = "") const {
        RawClient client(server.port());
        client.send(
            head + "Host: localhost\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
            "\r\n\r\n" + body
        );
        return client.read_all();
    }
    std::string post(const std::string& lines, const std::string& body = kCall) const {
        return ask("POST / HTTP/1.1\r\nContent-Type: application/json\r\n" + lines, body);
    }

    FakeNode api;
    rpc::RpcServer server;
};

json body_of(const std::string& answer) { return json::parse(answer.substr(answer.find("\r\n\r\n") + 4)); }

http::ClientAddress client_of(std::uint32_t number) {
    http::ClientAddress out{};
    for (std::size_t i = 0; i < 4; ++i) {
        out[4 + i] = static_cast<std::uint8_t>(number >> (8 * i));
    }
    return out;
}

}  // namespace

TEST_CASE("a token admits who sends it and nobody else") {
    const rpc::AccessToken token(kToken);
    CHECK(token.admits("Bearer " + kToken));
    CHECK(token.admits("bearer " + kToken));
    CHECK_FALSE(token.admits(""));
    CHECK_FALSE(token.admits(kToken));
    CHECK_FALSE(token.admits("Basic " + kToken));
    CHECK_FALSE(token.admits("Bearer " + kToken + "0"));
    CHECK_FALSE(token.admits("Bearer " + kToken.substr(1)));
    CHECK_FALSE(token.admits("Bearer  " + kToken));
}

TEST_CASE("a node with a token answers 401 to calls, subscriptions and events without it, and probes stay open") {
    const Node node({.token = kToken});
    for (const std::string& answer :
         {node.post(""), node.post("Authorization: Bearer wrong\r\n"),
          node.ask("GET /events?topic=blocks HTTP/1.1\r\n"), node.ask("GET /ws HTTP/1.1\r\n")}) {
        CAPTURE(answer);
        CHECK(answer.starts_with("HTTP/1.1 401"));
        CHECK(answer.find("WWW-Authenticate: Bearer\r\n") != std::string::npos);
        CHECK(body_of(answer).at("error").at("data").at("name") == "unauthorized");
    }
    CHECK(node.post("Authorization: Bearer " + kToken + "\r\n").starts_with("HTTP/1.1 200"));
    for (const char* open : {"/", "/livez", "/healthz", "/readyz"}) {
        CHECK(node.ask("GET " + std::string(open) + " HTTP/1.1\r\n").starts_with("HTTP/1.1 200"));
    }
}

TEST_CASE("the client sends the token of a private file and says what is wrong without it") {
    const Folder folder;
    const Node node({.token = kToken});
    const auto file = write_secret(folder / "token", kToken + "\n");
    CHECK(RpcClient(NodeAddress{.url = node.url(), .token_file = file}).height() == node.api.status().height);
    try {
        RpcClient(node.url()).height();
        FAIL("let in without a token");
    } catch (const client::RpcError& error) {
        CHECK(error.name == "unauthorized");
    }
    ::chmod(file.c_str(), 0644);
    CHECK_THROWS_AS(RpcClient(NodeAddress{.url = node.url(), .token_file = file}), crypto::KeyFileError);
    const auto weak = write_secret(folder / "weak", "short\n");
    CHECK_THROWS_WITH_AS(
        static_cast<void>(client::read_token(weak)), doctest::Contains("assayd token"), crypto::KeyFileError
    );
}

TEST_CASE("a token goes to no server that the node redirects to") {
    const Folder folder;
    const Node other({});
    const std::string away = other.url();
    http::HttpServer liar({}, [&away](const http::HttpRequest&) {
        http::HttpResponse response;
        response.status = 307;
        response.fields.emplace_back("Location", away);
        return response;
    });
    const std::string url = "http://127.0.0.1:" + std::to_string(liar.port());
    CHECK(RpcClient(url).height() == other.api.status().height);
    const auto file = write_secret(folder / "token", kToken + "\n");
    CHECK_THROWS_AS(RpcClient(NodeAddress{.url = url, .token_file = file}).height(), http::NetError);
}

TEST_CASE("a unix socket of the owner alone serves calls without the token, and goes with the server") {
    const Folder folder;
    const auto socket = folder / "rpc.sock";
    {
        const Node node({.socket = socket, .token = kToken});
        struct stat status {};
        REQUIRE(::stat(socket.c_str(), &status) == 0);
        CHECK((status.st_mode & 0777U) == 0600);
        const std::string url = "unix://" + socket.string();
        CHECK(RpcClient(url).height() == node.api.status().height);
        CHECK_THROWS_WITH_AS(
            Node({.socket = socket}), doctest::Contains("another process listens there"), http::NetError
        );
    }
    CHECK_FALSE(std::filesystem::exists(socket));
    std::ofstream(socket) << "a file";
    CHECK_THROWS_WITH_AS(Node({.socket = socket}), doctest::Contains("no socket"), http::NetError);
    CHECK(std::filesystem::file_size(socket) == 6);
}

TEST_CASE("a port with a certificate speaks TLS to who trusts it, and closes what is not TLS") {
    const std::filesystem::path vectors = folders::source() + "/tests/vectors/tls";
    const Node node({.tls_certificate = vectors / "loopback.crt", .tls_key = vectors / "loopback.key", .token = kToken}
    );
    const Folder folder;
    const auto file = write_secret(folder / "token", kToken + "\n");
    const NodeAddress trusting{.url = node.url("https"), .token_file = file, .authorities = vectors / "loopback.crt"};
    CHECK(RpcClient(trusting).height() == node.api.status().height);
    CHECK(RpcClient(trusting).call("rpc.discover").at("methods").size() > 10);
    CHECK_THROWS_AS(RpcClient(node.url("https")).height(), http::NetError);  // an authority that nobody knows
    CHECK(node.post("").empty());                                            // no TLS: the connection is closed
    CHECK_THROWS_WITH_AS(
        Node({.tls_certificate = vectors / "loopback.key", .tls_key = vectors / "loopback.key"}),
        doctest::Contains("loopback.key"), http::NetError
    );
}

TEST_CASE("a bucket gives its burst at once and then a call at a time") {
    RateLimiter::Time now{};
    RateLimiter limiter({.reads_per_s = 10, .listings_per_s = 1}, [&now] { return now; });
    for (int i = 0; i < 20; ++i) {
        CHECK_FALSE(limiter.take(client_of(1), RateClass::kRead).has_value());
    }
    CHECK(limiter.take(client_of(1), RateClass::kRead) == 100ms);
    CHECK(limiter.take(client_of(1), RateClass::kRead) == 100ms);  // a refusal costs nothing
    CHECK_FALSE(limiter.take(client_of(2), RateClass::kRead).has_value());
    CHECK_FALSE(limiter.take(client_of(1), RateClass::kListing).has_value());
    CHECK_FALSE(limiter.take(client_of(1), RateClass::kSubmission).has_value());  // has no limit
    now += 60ms;
    CHECK(limiter.take(client_of(1), RateClass::kRead) == 40ms);
    now += 40ms;
    CHECK_FALSE(limiter.take(client_of(1), RateClass::kRead).has_value());
    CHECK(limiter.take(client_of(1), RateClass::kRead) == 100ms);
    for (int i = 0; i < 100; ++i) {
        CHECK_FALSE(limiter.take(http::kSocketClient, RateClass::kRead).has_value());
    }
}

TEST_CASE("buckets that are full again are forgotten, and there is a most of them") {
    RateLimiter::Time now{};
    RateLimiter limiter({.reads_per_s = 10}, [&now] { return now; });
    for (std::uint32_t i = 0; i < 1'000; ++i) {
        CHECK_FALSE(limiter.take(client_of(i), RateClass::kRead).has_value());
    }
    CHECK(limiter.clients() == 1'000);
    now += 10s;
    for (std::uint32_t i = 1'000; i < 3'100; ++i) {
        static_cast<void>(limiter.take(client_of(i), RateClass::kRead));
    }
    CHECK(limiter.clients() < 2'200);
    for (std::uint32_t i = 0; i < RateLimiter::kClientsMax + 100; ++i) {
        static_cast<void>(limiter.take(client_of(i), RateClass::kRead));
    }
    CHECK(limiter.clients() <= RateLimiter::kClientsMax + 1);
}

TEST_CASE("too many calls of a class get 429 with the time to wait, and calls of a batch each their error") {
    const Node node({.rates = {.listings_per_s = 1, .waits_per_s = 1}});
    const std::string listing = R"({"jsonrpc":"2.0","id":1,"method":"task_list"})";
    CHECK(node.post("", listing).starts_with("HTTP/1.1 200"));
    const json both = body_of(node.post("", "[" + listing + "," + listing + "," + kCall + "]"));
    CHECK(both.at(0).contains("result"));
    CHECK(both.at(1).at("error").at("data").at("name") == "rate_limited");
    CHECK(both.at(2).contains("result"));  // a read
    const std::string refused = node.post("", listing);
    CHECK(refused.starts_with("HTTP/1.1 429"));
    CHECK(refused.find("Retry-After: 1\r\n") != std::string::npos);
    const json error = body_of(refused).at("error");
    CHECK(error.at("code") == client::kRateLimited);
    CHECK(error.at("data").at("class") == "listings");
    CHECK(error.at("data").at("retry_after_ms").get<int>() > 0);
    CHECK(error.at("data").at("retry_after_ms").get<int>() <= 1'000);

    CHECK(node.ask("GET /ws HTTP/1.1\r\n").starts_with("HTTP/1.1 426"));  // asks for nothing: costs nothing
    for (int i = 0; i < 2; ++i) {
        RawClient reader(node.server.port());
        reader.send("GET /events?topic=blocks HTTP/1.1\r\nHost: localhost\r\n\r\n");
        CHECK(reader.read_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
    }
    CHECK(node.ask("GET /events?topic=blocks HTTP/1.1\r\n").starts_with("HTTP/1.1 429"));
}

TEST_CASE("the client waits as long as the node asks and then gets its answer") {
    const Node node({.rates = {.reads_per_s = 20}});
    RpcClient rpc(node.url());
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 45; ++i) {
        CHECK(rpc.call("node_status").contains("height"));
    }
    // 40 at once, and 50 ms for each further one.
    CHECK(std::chrono::steady_clock::now() - began >= 200ms);
}

TEST_CASE("a node is ready while it follows the chain, and says why when it does not") {
    const auto names = [](const rpc::ReadyFacts& facts) {
        std::string out;
        for (const rpc::NotReady& reason : rpc::why_not_ready(facts)) {
            CHECK_FALSE(reason.text.empty());
            out += (out.empty() ? "" : ",") + reason.name;
        }
        return out;
    };
    const rpc::ReadyFacts good{.block_interval_ms = 1'000, .block_at_ms = 5'000'000, .now_ms = 5'001'000};
    CHECK(names(good).empty());
    rpc::ReadyFacts facts = good;
    facts.is_stopping = true;
    CHECK(names(facts) == "stopping");
    facts = good;
    facts.is_restoring = true;
    facts.is_catching_up = true;
    CHECK(names(facts) == "restoring_snapshot");
    facts = good;
    facts.now_ms = good.block_at_ms + rpc::kBlocksStoppedMs;
    CHECK(names(facts).empty());
    ++facts.now_ms;
    CHECK(names(facts) == "no_blocks");
    facts.is_catching_up = true;  // the last block is old for that reason
    CHECK(names(facts) == "catching_up");
    facts.is_catching_up = false;
    facts.awaits_blocks = false;
    CHECK(names(facts).empty());
    facts.awaits_blocks = true;
    facts.block_interval_ms = 60'000;  // slow blocks are late only after ten of them
    CHECK(names(facts).empty());
    facts.has_engine = false;
    CHECK(names(facts) == "engine_unreachable");
    facts = good;
    facts.now_ms = 0;  // a clock that is behind the block's
    CHECK(names(facts).empty());
}

TEST_CASE("readyz is 503 with the reason while the engine catches up") {
    bool is_catching_up = true;
    rpc::RpcOptions options;
    options.engine_state = [&is_catching_up] {
        return rpc::EngineState{.is_catching_up = is_catching_up, .makes_empty_blocks = false};
    };
    const Node node(options);
    const std::string answer = node.ask("GET /readyz HTTP/1.1\r\n");
    CHECK(answer.starts_with("HTTP/1.1 503"));
    CHECK(body_of(answer).at("ready") == false);
    CHECK(body_of(answer).at("reasons") == json::array({"catching_up"}));
    is_catching_up = false;
    CHECK(node.ask("GET /readyz HTTP/1.1\r\n").starts_with("HTTP/1.1 200"));
}
