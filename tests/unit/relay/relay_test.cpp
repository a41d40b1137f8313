// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include <poll.h>

#include <doctest/doctest.h>

#include <client/http/http_call.hpp>
#include <tests/loopback.hpp>
#include <tests/unit/relay/bench.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/relay/account_certificate.hpp>

namespace assay::relay {
namespace {

using std::chrono::milliseconds;
using test::RawClient;
using test::Worker;

/// The status of the relay's answer to somebody who wants to be connected to the worker, with its phrase.
std::string answer_to_connect(const RawClient& client, const Worker& worker) {
    client.send("CONNECT " + to_host(worker.location.service) + ":443 HTTP/1.1\r\n\r\n");
    const std::string line = client.line();
    const std::string version = "HTTP/1.1 ";
    REQUIRE((line.starts_with(version) && line.ends_with('\r')));
    return line.substr(version.size(), line.size() - version.size() - 1);
}

enum class Mischief : std::uint8_t { kNone = 0, kAlters = 1, kCuts = 2 };

/// Stands in front of a relay and keeps what passes.
class Wire {
  public:
    /// What is done to a connection through which more than kUntouched bytes have passed.
    std::atomic<Mischief> mischief{Mischief::kNone};
    static constexpr std::size_t kUntouched = 50'000;

    /// Its port is known before that of what it stands in front of.
    void pass_to(std::uint16_t port) {
        thread_ = std::thread([this, port] {
            for (;;) {
                const int client = ::accept(socket_.descriptor(), nullptr, nullptr);
                if (client < 0) {
                    return;
                }
                pumps_.emplace_back([this, client, port] { pump(client, port); });
            }
        });
    }
    ~Wire() {
        ::shutdown(socket_.descriptor(), SHUT_RDWR);
        thread_.join();
        for (std::thread& pump : pumps_) {
            pump.join();
        }
    }
    std::string name() const { return "127.0.0.1:" + std::to_string(socket_.port()); }
    std::string seen() const {
        const std::scoped_lock lock(mutex_);
        return seen_;
    }

  private:
    void pump(int client, std::uint16_t port) {
        const int relay = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        bool is_open = ::connect(relay, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
        std::array<char, 65'536> piece{};
        std::size_t passed = 0;
        while (is_open) {
            std::array<pollfd, 2> both{pollfd{client, POLLIN, 0}, pollfd{relay, POLLIN, 0}};
            ::poll(both.data(), both.size(), -1);
            for (std::size_t i = 0; i < both.size() && is_open; ++i) {
                if (both[i].revents != 0) {
                    const ssize_t size = ::recv(both[i].fd, piece.data(), piece.size(), 0);
                    passed += static_cast<std::size_t>(std::max<ssize_t>(size, 0));
                    if (size > 0 && mischief == Mischief::kAlters && passed > kUntouched) {
                        piece[0] = static_cast<char>(piece[0] ^ 1);
                    }
                    const bool is_cut = mischief == Mischief::kCuts && passed > kUntouched;
                    is_open =
                        size > 0 && !is_cut &&
                        ::send(both[1 - i].fd, piece.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL) == size;
                    const std::scoped_lock lock(mutex_);
                    seen_.append(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
                }
            }
        }
        ::close(client);
        ::close(relay);
    }

    assay::test::LoopbackSocket socket_;
    mutable std::mutex mutex_;
    std::string seen_;
    std::vector<std::thread> pumps_;
    std::thread thread_;
};

TEST_CASE("ART-23: artifacts of a worker that nobody can connect to are fetched through a relay") {
    RelayServer relay({});
    const Worker worker(relay.name(), 1, (3U << 20U) + 77);
    REQUIRE(worker.is_registered());
    CHECK(test::fetch_part(worker) == worker.file);
    CHECK(test::fetch_part(worker, 100, 199) == Bytes(worker.file.begin() + 100, worker.file.begin() + 200));
    CHECK(stores::open_store(worker.location)->size_of({worker.name, false}, test::quick()) == worker.file.size());
    const auto chunks = stores::server_call(worker.location, "/artifact/" + to_hex(worker.name.view()) + "/chunks/0,2");
    CHECK(http::http_call(*chunks, test::quick()).body.size() == 2 * 4'096);
    const ::assay::test::TemporaryDirectory home;
    const artifacts::ContentStore store(home.path());
    const std::string location = "http://127.0.0.1:1 " + stores::encode_location(worker.location);
    const auto stored =
        artifacts::download({.name = worker.name, .size_bytes = worker.file.size(), .location = location}, store);
    REQUIRE(stored.has_value());
    CHECK(store.get(worker.name).has_value());
    CHECK(test::eventually([&] { return relay.figures().tunnels == 0; }));
    const RelayFigures figures = relay.figures();
    CHECK(figures.workers == 1);
    CHECK(figures.tunnels_total >= 5);
    CHECK(figures.bytes_total > 2 * worker.file.size());
}

TEST_CASE("ART-23: a relay and whoever listens there read nothing of what they forward") {
    Wire wire;
    RelayServer relay({.name = wire.name()});
    wire.pass_to(relay.port());
    {
        const Worker worker(wire.name(), 1, 100'000);
        REQUIRE(worker.is_registered());
        REQUIRE(test::fetch_part(worker) == worker.file);
        const std::string seen = wire.seen();
        CHECK(seen.size() > worker.file.size());
        CHECK(seen.find("CONNECT solve.assay1") != std::string::npos);  // this it has to see
        const std::string plain = string_of(worker.file);
        for (std::size_t at = 0; at + 16 <= plain.size(); at += 16) {
            REQUIRE(seen.find(plain.substr(at, 16)) == std::string::npos);
        }
        for (const std::string& secret :
             {std::string("/artifact"), to_hex(worker.name.view()), std::string("Content-Length")}) {
            CHECK(seen.find(secret) == std::string::npos);
        }
    }
    relay.stop();
}

TEST_CASE("ART-23: a relay that alters or cuts off what passes leaves it to other locations") {
    Wire wire;
    RelayServer relay({.name = wire.name()});
    wire.pass_to(relay.port());
    {
        const Worker worker(wire.name(), 1, 1U << 20U);
        REQUIRE(worker.is_registered());
        for (const Mischief mischief : {Mischief::kAlters, Mischief::kCuts}) {
            CAPTURE(static_cast<int>(mischief));
            wire.mischief = mischief;
            CHECK_THROWS_AS(test::fetch_part(worker), http::NetError);
            const ::assay::test::TemporaryDirectory home;
            const artifacts::ContentStore store(home.path());
            const std::string both = stores::encode_location(worker.location) + " " + worker.server.url();
            artifacts::FetchLimits limits;
            limits.idle_timeout = std::chrono::milliseconds(500);
            const artifacts::Reference artifact{
                .name = worker.name, .size_bytes = worker.file.size(), .location = both};
            CHECK(artifacts::download(artifact, store, limits).has_value());
            CHECK(store.get(worker.name).has_value());
        }
        wire.mischief = Mischief::kNone;
        CHECK(test::fetch_part(worker) == worker.file);
    }
    relay.stop();
}

TEST_CASE("ART-23: who answers without the account's word for its key is not believed") {
    RelayServer relay({});
    const Worker worker(relay.name(), 1);
    REQUIRE(worker.is_registered());
    auto call = stores::server_call(worker.location, "/artifact/" + to_hex(worker.name.view())).value();
    CHECK(http::http_call(call, test::quick()).status == 200);
    const AccountId other = test::key_of(2).account();
    call.tunnel->admits = [other](ByteView certificate) { return is_of_account(certificate, other); };
    CHECK_THROWS_AS(http::http_call(call, test::quick()), http::NetError);
    call.tunnel->admits = [](ByteView) -> bool { throw std::bad_alloc(); };
    CHECK_THROWS_AS(http::http_call(call, test::quick()), http::NetError);
}

TEST_CASE("ART-23: certificates bear the word of one account for one key") {
    const auto der_of = [](const boost::asio::ssl::context& context) {
        // OpenSSL's handle is not const, though nothing changes.
        X509* certificate = SSL_CTX_get0_certificate(const_cast<boost::asio::ssl::context&>(context).native_handle());
        Bytes out(static_cast<std::size_t>(i2d_X509(certificate, nullptr)));
        auto* at = out.data();
        i2d_X509(certificate, &at);
        return out;
    };
    const Bytes certificate = der_of(make_account_context(test::key_of(1)));
    const AccountId account = test::key_of(1).account();
    CHECK(is_of_account(certificate, account));
    CHECK_FALSE(is_of_account(certificate, test::key_of(2).account()));
    CHECK_FALSE(is_of_account({}, account));
    for (std::size_t size = 0; size < certificate.size(); size += 7) {
        CHECK_FALSE(is_of_account(ByteView(certificate).first(size), account));
    }
    // The signature is the last but one thing in it: any other one is of no account.
    std::size_t refused = 0;
    for (std::size_t i = 0; i < certificate.size(); ++i) {
        Bytes changed = certificate;
        changed[i] ^= 1U;
        refused += is_of_account(changed, account) ? 0U : 1U;
    }
    CHECK(refused >= 64 + 65);  // each byte of the signature, and of the point that is the key
}

TEST_CASE("ART-23: a relay under public_only is one with a public address") {
    RelayServer relay({});
    const Worker worker(relay.name(), 1);
    REQUIRE(worker.is_registered());
    http::HttpLimits limits = test::quick();
    limits.public_only = true;
    const auto call = stores::server_call(worker.location, "/artifact/" + to_hex(worker.name.view()));
    CHECK_THROWS_AS(http::http_call(*call, limits), http::NetForbidden);
}

TEST_CASE("ART-23: a relay that starts again is found again, and transfers go on where they were") {
    auto relay = std::make_unique<RelayServer>(RelayOptions{});
    const std::uint16_t port = relay->port();
    const Worker worker(relay->name(), 1);
    REQUIRE(worker.is_registered());
    relay.reset();
    CHECK(test::eventually([&] { return !worker.link->is_registered(); }));
    CHECK_THROWS_AS(test::fetch_part(worker), http::NetError);
    relay = std::make_unique<RelayServer>(RelayOptions{.port = port});
    REQUIRE(worker.is_registered());
    CHECK(test::fetch_part(worker) == worker.file);
    const auto told = worker.told.texts();
    CHECK(told.front().empty());
    CHECK(told.back().empty());
    CHECK(told.size() >= 3);
}

TEST_CASE("ART-23: a relay that says nothing any more is left for another connection") {
    RelayServer relay({.ping = std::chrono::hours(1)});
    const Worker worker(relay.name(), 1, 1'000, [](LinkOptions& options) { options.silence = milliseconds(100); });
    CHECK(test::eventually([&] { return worker.told.texts().size() >= 3; }));
}

TEST_CASE("ART-23: a tunnel in which nothing passes is ended") {
    RelayServer relay({.idle = milliseconds(100)});
    const Worker worker(relay.name(), 1);
    REQUIRE(worker.is_registered());
    const RawClient client(relay.port());
    client.send("CONNECT " + to_host(worker.location.service) + ":443 HTTP/1.1\r\n\r\n");
    CHECK(client.line() == "HTTP/1.1 200 Connection established\r");
    CHECK(client.is_over());
    CHECK(test::eventually([&] { return relay.figures().tunnels == 0; }));
}

TEST_CASE("ART-23: many bytes come through a relay as they are") {
    constexpr std::size_t kBytes = std::size_t{64} << 20U;
    RelayServer relay({});
    const Worker worker(relay.name(), 1, kBytes);
    REQUIRE(worker.is_registered());
    const auto rate_of = [&](const stores::Location& location) {
        const auto start = std::chrono::steady_clock::now();
        std::size_t same = 0;
        const auto compare = [&](std::uint64_t offset, ByteView piece) {
            const ByteView whole(worker.file);
            same += std::equal(piece.begin(), piece.end(), whole.subspan(offset).begin()) ? piece.size() : 0;
            return true;
        };
        stores::open_store(location)->read({worker.name, false}, 0, std::nullopt, compare, test::quick());
        CHECK(same == kBytes);
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
        return static_cast<double>(kBytes) / 1e6 / spent.count();
    };
    MESSAGE("MB/s from the server itself: ", rate_of(stores::ServerLocation{worker.server.url()}));
    MESSAGE("MB/s through a relay: ", rate_of(worker.location));
}

TEST_CASE("ART-23: who has many tunnels gives way to who has few") {
    RelayServer relay({.tunnels_per_worker = 2, .tunnels_per_address = 2});
    const Worker worker(relay.name(), 1);
    REQUIRE(worker.is_registered());
    const RawClient first(relay.port());
    CHECK(answer_to_connect(first, worker) == "200 Connection established");
    const RawClient second(relay.port());
    CHECK(answer_to_connect(second, worker) == "200 Connection established");
    const RawClient third(relay.port());
    CHECK(answer_to_connect(third, worker) == "429 Too Many Requests");
    const RawClient other(relay.port(), "127.0.0.2");
    CHECK(answer_to_connect(other, worker) == "200 Connection established");
    const RawClient another(relay.port(), "127.0.0.3");
    CHECK(answer_to_connect(another, worker) == "503 Service Unavailable");
}

TEST_CASE("ART-23: a worker does not make more connections than it wants, whatever its relay asks") {
    RelayServer relay({.handshake = milliseconds(300)});
    const Worker worker(relay.name(), 1, 1'000, [](LinkOptions& options) { options.tunnels_max = 1; });
    REQUIRE(worker.is_registered());
    const RawClient first(relay.port());
    CHECK(answer_to_connect(first, worker) == "200 Connection established");
    const RawClient second(relay.port());
    CHECK(answer_to_connect(second, worker) == "504 Gateway Timeout");
    CHECK(worker.link->tunnels() == 1);
}

}  // namespace
}  // namespace assay::relay
