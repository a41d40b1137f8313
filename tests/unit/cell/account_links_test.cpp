// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <functional>
#include <optional>
#include <thread>

#include <boost/asio.hpp>
#include <doctest/doctest.h>

#include <client/http/own_certificate.hpp>
#include <core/codec/borsh.hpp>
#include <tests/unit/cell/link_doubles.hpp>
#include <verifier/cell/account_links.hpp>
#include <verifier/cell/link_frames.hpp>
#include <verifier/cell/tls_collective.hpp>

using namespace assay;
using namespace assay::cell::testing;
using boost::asio::ip::tcp;
using std::chrono::milliseconds;

namespace {

namespace ssl = boost::asio::ssl;
using Stream = ssl::stream<tcp::socket>;

crypto::SecretKey secret_of(std::uint32_t rank) {
    return crypto::SecretKey::from_bytes(Bytes(32, static_cast<std::uint8_t>(rank + 1))).value();
}

cell::TlsOptions options_of(std::uint32_t rank, std::uint32_t size, milliseconds patience = kPatience) {
    cell::LinkAccounts links{.key = secret_of(rank), .accounts = {}};
    for (std::uint32_t i = 0; i < size; ++i) {
        links.accounts.push_back(secret_of(i).account());
    }
    return {
        .rank = rank, .size = size, .key = {}, .accounts = std::move(links), .connect = patience, .timeout = patience};
}

// Why two ranks cannot connect.
std::array<std::string, 2> failures_of(
    engine::SharedWords& words, const cell::TlsOptions& first, const cell::TlsOptions& second
) {
    std::array<std::string, 2> out;
    const auto connect = [&](std::size_t rank, const cell::TlsOptions& options) {
        try {
            cell::connect_tls(words, options);
        } catch (const std::runtime_error& error) {
            out[rank] = error.what();
        }
    };
    std::jthread other([&] { connect(0, first); });
    connect(1, second);
    other.join();
    return out;
}

tcp::endpoint endpoint_of(const std::string& place) {
    return {
        boost::asio::ip::address_v4::loopback(),
        static_cast<std::uint16_t>(std::stoul(place.substr(place.find(' ') + 1)))};
}

void check_exchanges_of(std::uint32_t rank, engine::SharedWords& words) {
    const auto collective = cell::connect_tls(words, options_of(rank, 2));
    exchange_all(*collective);
}

/// Has a TLS channel with either side, and passes on what the client says first.
class Relay {
  public:
    explicit Relay(tcp::endpoint server) : acceptor_(io_, {boost::asio::ip::address_v4::loopback(), 0}) {
        thread_ = std::jthread([this, server] {
            Stream left(io_, context_);
            acceptor_.accept(left.next_layer());
            left.handshake(ssl::stream_base::server);
            Stream right(io_, context_);
            right.next_layer().connect(server);
            right.handshake(ssl::stream_base::client);
            differ_ = cell::channel_binding(left.native_handle()) != cell::channel_binding(right.native_handle());
            std::array<std::uint8_t, 4 + Signature::kSizeBytes> hello{};
            passed_ = boost::asio::read(left, boost::asio::buffer(hello));
            boost::asio::write(right, boost::asio::buffer(hello));
            boost::system::error_code error;
            answered_ = boost::asio::read(right, boost::asio::buffer(hello, Signature::kSizeBytes), error);
        });
    }
    std::string place() const { return "127.0.0.1 " + std::to_string(acceptor_.local_endpoint().port()); }
    void wait() { thread_.join(); }
    std::size_t passed() const { return passed_; }      ///< bytes of the client
    std::size_t answered() const { return answered_; }  ///< and of the server
    bool differ() const { return differ_; }

  private:
    boost::asio::io_context io_;
    ssl::context context_ = http::make_own_certificate_context();
    tcp::acceptor acceptor_;
    std::size_t passed_ = 0;
    std::size_t answered_ = 0;
    bool differ_ = false;
    std::jthread thread_;
};

/// Rank 1 is told that rank 0 is where the relay is.
class RelayedWords final : public LocalWords {
  public:
    void set(const std::string& key, const Bytes& value) override {
        if (key != "tls/0") {
            return LocalWords::set(key, value);
        }
        relay = std::make_unique<Relay>(endpoint_of(string_of(ByteView(value))));
        LocalWords::set(key, to_bytes(relay->place()));
    }
    std::unique_ptr<Relay> relay;
};

}  // namespace

TEST_CASE("ranks of several accounts exchange by TLS what they send") {
    LocalWords words;
    check_exchanges(4, [&](std::uint32_t rank) { return cell::connect_tls(words, options_of(rank, 4)); });
}

TEST_CASE("a link that another account signs is dropped by either side") {
    constexpr milliseconds kShort{1'500};
    for (const std::uint32_t impostor : {0U, 1U}) {
        CAPTURE(impostor);
        LocalWords words;
        std::array<cell::TlsOptions, 2> options{options_of(0, 2, kShort), options_of(1, 2, kShort)};
        options[impostor].accounts->key = secret_of(7);
        const auto failures = failures_of(words, options[0], options[1]);
        CHECK(failures[0].find("the ranks of the cell cannot connect: ") == 0);
        CHECK(failures[1].find("the ranks of the cell cannot connect: ") == 0);
    }
}

TEST_CASE("who listens in a rank's place and signs as another account is refused") {
    constexpr milliseconds kShort{1'500};
    LocalWords words;
    boost::asio::io_context io;
    ssl::context context = http::make_own_certificate_context();
    tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0});
    words.set("tls/0", to_bytes("127.0.0.1 " + std::to_string(acceptor.local_endpoint().port())));
    std::jthread listener([&] {
        Stream stream(io, context);
        acceptor.accept(stream.next_layer());
        stream.handshake(ssl::stream_base::server);
        std::array<std::uint8_t, 68> hello{};
        boost::asio::read(stream, boost::asio::buffer(hello));
        const auto binding = cell::channel_binding(stream.native_handle());
        REQUIRE(binding.has_value());
        const Hash256 digest = cell::link_digest(*binding, secret_of(0).account(), secret_of(1).account());
        const Signature signature = secret_of(7).sign(digest.view());
        boost::asio::write(stream, boost::asio::buffer(signature.data));
        boost::system::error_code error;
        boost::asio::read(stream, boost::asio::buffer(hello), error);
    });
    CHECK_THROWS_WITH_AS(
        cell::connect_tls(words, options_of(1, 2, kShort)), doctest::Contains("rank 0 did not sign as its account"),
        std::runtime_error
    );
}

TEST_CASE("signatures that a relay passes on from one channel to another are refused") {
    constexpr milliseconds kShort{1'500};
    RelayedWords words;
    const auto failures = failures_of(words, options_of(0, 2, kShort), options_of(1, 2, kShort));
    CHECK(failures[0] == "the ranks of the cell cannot connect: 1 of 2 came");
    CHECK(failures[1].find("the ranks of the cell cannot connect: rank 0 at ") == 0);
    words.relay->wait();
    CHECK(words.relay->passed() == 4 + Signature::kSizeBytes);
    CHECK(words.relay->answered() == 0);
    CHECK(words.relay->differ());
}

TEST_CASE("a member that announces more than the plan has is named, and nobody makes room for it") {
    constexpr std::uint64_t kAnnounced = std::uint64_t{1} << 40U;
    LocalWords words;
    std::optional<engine::RankError> failure;
    std::jthread honest([&] {
        const auto collective = cell::connect_tls(words, options_of(0, 2));
        try {
            collective->exchange({{}, {}}, {0, 10}, 1);
        } catch (const engine::RankError& error) {
            failure = error;
        }
    });
    boost::asio::io_context io;
    ssl::context context = http::make_own_certificate_context();
    Stream stream(io, context);
    stream.next_layer().connect(endpoint_of(string_of(ByteView(words.get("tls/0")))));
    stream.handshake(ssl::stream_base::client);
    const auto binding = cell::channel_binding(stream.native_handle());
    REQUIRE(binding.has_value());
    Bytes said = codec::encode(cell::Hello{.rank = 1});
    const Hash256 digest = cell::link_digest(*binding, secret_of(1).account(), secret_of(0).account());
    append(said, secret_of(1).sign(digest.view()).view());
    append(said, codec::encode(cell::FrameHeader{.tag = 2, .bytes = kAnnounced}));
    boost::asio::write(stream, boost::asio::buffer(said));
    honest.join();
    REQUIRE(failure.has_value());
    CHECK(failure->rank() == 1);
    CHECK(failure->fault() == engine::RankFault::kOtherLength);
    const std::string text = std::to_string(kAnnounced) + " bytes that the plan does not have";
    CHECK(std::string(failure->what()).find(text) != std::string::npos);
}

TEST_CASE("strangers who connect and say nothing keep no member out") {
    LocalWords words;
    std::jthread first([&] { check_exchanges_of(0, words); });
    const tcp::endpoint place = endpoint_of(string_of(ByteView(words.get("tls/0"))));
    boost::asio::io_context io;
    std::vector<tcp::socket> strangers;
    for (int i = 0; i < 200; ++i) {
        strangers.emplace_back(io);
        strangers.back().connect(place);
    }
    check_exchanges_of(1, words);
    first.join();
    std::array<std::uint8_t, 1> none{};
    boost::system::error_code error;
    CHECK(strangers.front().read_some(boost::asio::buffer(none), error) == 0);  // it has given way
    CHECK(error);
}

TEST_CASE("what an account signs for a link is of that channel, that side and those accounts") {
    Hash256 channel;
    channel.data.fill(1);
    Hash256 other_channel = channel;
    other_channel.data[31] ^= 1U;
    const AccountId a = secret_of(0).account();
    const AccountId b = secret_of(1).account();
    const Hash256 digest = cell::link_digest(channel, a, b);
    CHECK(digest == cell::link_digest(channel, a, b));
    CHECK(digest != cell::link_digest(channel, b, a));
    CHECK(digest != cell::link_digest(other_channel, a, b));
    CHECK(digest != cell::link_digest(channel, a, secret_of(2).account()));
}
