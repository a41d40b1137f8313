// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>

#include <boost/asio.hpp>
#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <core/codec/borsh.hpp>
#include <tests/unit/cell/link_doubles.hpp>
#include <verifier/cell/psk.hpp>
#include <verifier/cell/seal.hpp>
#include <verifier/cell/tls_collective.hpp>
#include <verifier/cell/unsent.hpp>
#include <verifier/engine/cell/gloo_collective.hpp>

using namespace assay;
using namespace assay::cell::testing;
using boost::asio::ip::tcp;
using std::chrono::milliseconds;

namespace {

Hash256 key_of(std::uint8_t n) {
    Hash256 out;
    out.data.fill(n);
    return out;
}

cell::TlsOptions options_of(std::uint32_t rank, std::uint32_t size, milliseconds patience = kPatience) {
    return {.rank = rank, .size = size, .key = key_of(7), .connect = patience, .timeout = patience};
}

/// Passes bytes on between one client and a port, keeps what the client sends, and flips a bit of one byte of it.
class Wire {
  public:
    explicit Wire(std::uint16_t port, std::size_t flipped = SIZE_MAX)
        : acceptor_(io_, {boost::asio::ip::address_v4::loopback(), 0}), client_(io_), server_(io_), flipped_(flipped) {
        thread_ = std::jthread([this, port] {
            acceptor_.accept(client_);
            server_.connect({boost::asio::ip::address_v4::loopback(), port});
            const std::jthread back([this] { pass(server_, client_, nullptr); });
            pass(client_, server_, &seen_);
        });
    }
    std::string place() const { return "127.0.0.1 " + std::to_string(acceptor_.local_endpoint().port()); }
    const std::string& wait() {
        thread_.join();
        return seen_;
    }

  private:
    void pass(tcp::socket& from, tcp::socket& to, std::string* seen) const {
        std::array<char, 4096> buffer{};
        boost::system::error_code error;
        while (!error) {
            const std::size_t size = from.read_some(boost::asio::buffer(buffer), error);
            if (seen != nullptr) {
                seen->append(buffer.data(), size);
                if (flipped_ < seen->size() && flipped_ >= seen->size() - size) {
                    buffer[flipped_ - (seen->size() - size)] ^= 1;
                }
            }
            if (!error) {
                boost::asio::write(to, boost::asio::buffer(buffer, size), error);
            }
        }
        to.shutdown(tcp::socket::shutdown_both, error);
        from.shutdown(tcp::socket::shutdown_both, error);
    }

    boost::asio::io_context io_;
    tcp::acceptor acceptor_;
    tcp::socket client_;
    tcp::socket server_;
    std::size_t flipped_;
    std::string seen_;
    std::jthread thread_;
};

/// Rank 1 is told that rank 0 is where the wire is.
class WiredWords final : public LocalWords {
  public:
    explicit WiredWords(std::size_t flipped = SIZE_MAX) : flipped_(flipped) {}
    void set(const std::string& key, const Bytes& value) override {
        if (key != "tls/0") {
            return LocalWords::set(key, value);
        }
        const std::string place = string_of(ByteView(value));
        wire =
            std::make_unique<Wire>(static_cast<std::uint16_t>(std::stoul(place.substr(place.find(' ') + 1))), flipped_);
        LocalWords::set(key, to_bytes(wire->place()));
    }
    std::unique_ptr<Wire> wire;

  private:
    std::size_t flipped_;
};

/// Words that a rank is told of rank 0 only once it is released.
class LateWords final : public engine::SharedWords {
  public:
    LateWords(engine::SharedWords& words, std::future<void> release) : words_(words), release_(std::move(release)) {}
    void set(const std::string& key, const Bytes& value) override { words_.set(key, value); }
    Bytes get(const std::string& key) override {
        release_.wait();
        return words_.get(key);
    }

  private:
    engine::SharedWords& words_;
    std::future<void> release_;
};

/// The last of some ranks, which connects to the others, and after that takes nothing. Who deserts says that it sends
/// nothing more, and leaves its connections open.
class Deserter {
  public:
    Deserter(LocalWords& words, std::uint32_t rank) {
        for (std::uint32_t other = 0; other < rank; ++other) {
            const std::string place = string_of(ByteView(words.get("tls/" + std::to_string(other))));
            Stream& stream = *streams_.emplace_back(std::make_unique<Stream>(io_, context_));
            stream.next_layer().connect(
                {boost::asio::ip::address_v4::loopback(),
                 static_cast<std::uint16_t>(std::stoul(place.substr(place.find(' ') + 1)))}
            );
            stream.handshake(boost::asio::ssl::stream_base::client);
            boost::asio::write(stream, boost::asio::buffer(codec::encode(rank)));
        }
    }
    void desert() {
        for (const auto& stream : streams_) {
            stream->next_layer().shutdown(tcp::socket::shutdown_send);
        }
    }

  private:
    using Stream = boost::asio::ssl::stream<tcp::socket>;
    boost::asio::io_context io_;
    boost::asio::ssl::context context_ = cell::make_psk_context(key_of(7));
    std::vector<std::unique_ptr<Stream>> streams_;
};

constexpr std::size_t kLong = std::size_t{32} << 20U;  // more than sockets keep

}  // namespace

TEST_CASE("a rank that has left is named by whoever has sent it something, also if its connection stays open") {
    LocalWords words;
    std::optional<Deserter> deserter;
    std::jthread other([&] { deserter.emplace(words, 1); });
    const auto links = cell::connect_tls(words, options_of(0, 2));
    other.join();
    links->exchange({{}, Bytes(kLong)}, {0, 0}, 1);
    deserter->desert();
    try {
        links->settle();
        FAIL_CHECK("what nobody takes was sent");
    } catch (const engine::RankError& error) {
        CHECK(error.rank() == 1);
        CHECK(error.fault() == engine::RankFault::kGone);
        CHECK(std::string(error.what()).find("a rank of the cell is gone or too slow: rank 1: ") == 0);
    }
}

TEST_CASE("a rank that takes nothing for as long as one waits is named") {
    LocalWords words;
    std::optional<Deserter> deserter;
    std::jthread other([&] { deserter.emplace(words, 1); });
    const auto links = cell::connect_tls(words, options_of(0, 2, milliseconds(1'500)));
    other.join();
    links->exchange({{}, Bytes(kLong)}, {0, 0}, 1);
    try {
        links->settle();
        FAIL_CHECK("what nobody takes was sent");
    } catch (const engine::RankError& error) {
        CHECK(error.rank() == 1);
        CHECK(std::string(error.what()) == "a rank of the cell is gone or too slow: rank 1");
    }
}

TEST_CASE("a rank is asked while it waits whether it goes on, and names whom it waits for if not") {
    LocalWords words;
    std::optional<Deserter> deserter;
    std::jthread other([&] { deserter.emplace(words, 1); });
    auto options = options_of(0, 2);
    std::atomic<bool> is_patient{true};
    milliseconds waited{};
    options.while_waiting = [&](milliseconds more) {
        waited += more;
        return is_patient || waited < milliseconds(300);
    };
    const auto links = cell::connect_tls(words, options);
    other.join();
    waited = {};
    is_patient = false;
    try {
        links->exchange({{}, {}}, {0, 8}, 1);
        FAIL_CHECK("what nobody has sent was received");
    } catch (const engine::RankError& error) {
        CHECK(error.rank() == 1);
        CHECK(error.fault() == engine::RankFault::kGone);
    }
    CHECK(waited >= milliseconds(300));
}

TEST_CASE("what other ranks need is sent to them although one has left") {
    LocalWords words;
    std::optional<Deserter> deserter;
    std::promise<void> has_failed;
    std::jthread last([&] { deserter.emplace(words, 2); });
    std::jthread first([&] {
        auto links = cell::connect_tls(words, options_of(0, 3));
        last.join();
        links->exchange({{}, Bytes(kLong, 1), Bytes(kLong, 2)}, {0, 0, 0}, 1);
        deserter->desert();
        CHECK_THROWS_AS(links->settle(), engine::RankError);
        has_failed.set_value();
    });
    const auto links = cell::connect_tls(words, options_of(1, 3));
    has_failed.get_future().wait();  // until then rank 0 could not send all of it
    CHECK(links->exchange({{}, {}, {}}, {kLong, 0, 0}, 1)[0] == Bytes(kLong, 1));
}

TEST_CASE("what is not sent yet is counted by receiver, and a lost one keeps the others from nothing") {
    cell::Unsent unsent(3);
    CHECK(unsent.is_none());
    unsent.note_lost(2);
    CHECK(unsent.is_none());
    CHECK_FALSE(unsent.lost().has_value());
    unsent.add(1);
    CHECK_FALSE(unsent.is_over());
    CHECK(unsent.first() == 1);
    CHECK_FALSE(unsent.lost().has_value());
    unsent.add(2);
    CHECK_FALSE(unsent.is_over());
    CHECK(unsent.lost() == 2);
    unsent.note_sent(1);
    CHECK(unsent.is_over());
    CHECK_FALSE(unsent.is_none());
    CHECK(unsent.first() == 2);
}

TEST_CASE("a rank that connected and left keeps the others from nothing") {
    LocalWords words;
    std::promise<void> has_left;
    LateWords late(words, has_left.get_future());
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        threads.emplace_back([&, rank] {
            const std::uint32_t other = 1 - rank;
            try {
                engine::SharedWords& own = rank == 0 ? static_cast<engine::SharedWords&>(words) : late;
                const auto links = cell::connect_tls(own, options_of(rank, 3));
                std::vector<Bytes> to(3);
                to[other] = {5, 6};
                std::vector<std::uint64_t> expected(3);
                expected[other] = 2;
                CHECK(links->exchange(std::move(to), expected, 1)[other] == Bytes{5, 6});
                links->settle();
            } catch (const std::runtime_error& error) {
                FAIL_CHECK("rank ", rank, ": ", std::string(error.what()));
            }
        });
    }
    cell::connect_tls(words, options_of(2, 3)).reset();
    std::this_thread::sleep_for(milliseconds(200));  // for rank 0 to see it leave; the test passes without as well
    has_left.set_value();
}

TEST_CASE("ranks exchange by TLS what they send, each tag in its order") {
    LocalWords words;
    check_exchanges(4, [&](std::uint32_t rank) { return cell::connect_tls(words, options_of(rank, 4)); });
}

TEST_CASE("messages that end with what is made of them are shown as they come, and whole at last") {
    // Ends each message with the sum of its bytes, and sums up those of the others as they come.
    struct Sums final : engine::Crossing {
        std::size_t ending_bytes(std::uint32_t to) const override { return to == 2 ? 0 : 1; }
        Bytes ending(std::uint32_t, ByteView sent) override {
            return {std::accumulate(sent.begin(), sent.end(), std::uint8_t{0})};
        }
        void arrived(std::uint32_t from, ByteView so_far) override {
            CHECK(so_far.size() >= seen[from].size());
            CHECK(std::equal(seen[from].begin(), seen[from].end(), so_far.begin()));
            seen[from].assign(so_far.begin(), so_far.end());
            ++calls;
        }
        std::map<std::uint32_t, Bytes> seen{};
        std::size_t calls = 0;
    };
    constexpr std::uint32_t kRanks = 3;
    LocalWords words;
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        threads.emplace_back([&, rank] {
            const auto collective = cell::connect_tls(words, options_of(rank, kRanks));
            for (const std::size_t size : {1U, 15'999U, 16'001U, 3'000'000U}) {
                std::vector<Bytes> to(kRanks);
                std::vector<std::uint64_t> expected(kRanks);
                for (std::uint32_t other = 0; other < kRanks; ++other) {
                    if (other != rank) {
                        to[other] = Bytes(size, static_cast<std::uint8_t>(1 + rank + other));
                        expected[other] = size + (rank == 2 ? 0 : 1);
                    }
                }
                Sums sums;
                const auto from = collective->exchange_while(std::move(to), expected, 5, sums);
                for (std::uint32_t other = 0; other < kRanks; ++other) {
                    if (other == rank) {
                        continue;
                    }
                    CHECK(sums.seen[other] == from[other]);
                    const auto value = static_cast<std::uint8_t>(1 + rank + other);
                    CHECK(from[other].front() == value);
                    CHECK((rank == 2 ? value : static_cast<std::uint8_t>(size * value)) == from[other].back());
                }
                CHECK(sums.calls >= kRanks - 1);
            }
            collective->settle();
        });
    }
}

TEST_CASE("what crosses by TLS can neither be read nor altered") {
    const std::string text(4'000, 'x');
    for (const bool is_altered : {false, true}) {
        CAPTURE(is_altered);
        WiredWords words(is_altered ? 2'000 : SIZE_MAX);  // behind the handshake, which takes some 400 bytes
        std::string failure;
        {
            const std::jthread first([&] {
                const auto collective = cell::connect_tls(words, options_of(0, 2));
                try {
                    const auto from = collective->exchange({{}, {}}, {0, text.size()}, 1);
                    CHECK(string_of(ByteView(from[1])) == text);
                } catch (const std::runtime_error& error) {
                    failure = error.what();
                }
            });
            const auto collective = cell::connect_tls(words, options_of(1, 2));
            collective->exchange({to_bytes(text), {}}, {0, 0}, 1);
        }
        const std::string& seen = words.wire->wait();
        CHECK(seen.size() > text.size());
        CHECK(seen.find("xxxx") == std::string::npos);
        CHECK((failure.find("rank 1: ") != std::string::npos) == is_altered);
    }
}

TEST_CASE("a rank without the session's key is not let in, and strangers do not disturb") {
    LocalWords words;
    std::string failure;
    std::jthread first([&] {
        try {
            cell::connect_tls(words, options_of(0, 2, milliseconds(1'500)));
        } catch (const std::runtime_error& error) {
            failure = error.what();
        }
    });
    const std::string place = string_of(ByteView(words.get("tls/0")));
    boost::asio::io_context io;
    tcp::socket stranger(io);
    stranger.connect(
        {boost::asio::ip::address_v4::loopback(),
         static_cast<std::uint16_t>(std::stoul(place.substr(place.find(' ') + 1)))}
    );
    boost::asio::write(stranger, boost::asio::buffer(std::string("GET / HTTP/1.1\r\n\r\n")));
    cell::TlsOptions other = options_of(1, 2, milliseconds(1'500));
    other.key = key_of(8);
    CHECK_THROWS_WITH_AS(
        cell::connect_tls(words, other), doctest::Contains("the ranks of the cell cannot connect"), std::runtime_error
    );
    first.join();
    CHECK(failure == "the ranks of the cell cannot connect: 1 of 2 came");
}

TEST_CASE("a rank that is gone ends the exchange with it") {
    LocalWords words;
    std::jthread second([&] { cell::connect_tls(words, options_of(1, 2)); });
    const auto collective = cell::connect_tls(words, options_of(0, 2));
    second.join();
    CHECK_THROWS_WITH_AS(
        collective->exchange({{}, {}}, {0, 10}, 0), doctest::Contains("a rank of the cell is gone or too slow: rank 1"),
        std::runtime_error
    );
}

TEST_CASE("what links carry is printed" * doctest::test_suite("full")) {
    constexpr std::size_t kBytes = std::size_t{32} << 20U;
    constexpr int kMessages = 20;
    using Connect = std::function<std::unique_ptr<engine::Collective>(std::uint32_t)>;
    const auto measured = [&](const Connect& connect) {
        double seconds = 0.0;
        const auto work = [&](std::uint32_t rank) {
            const auto collective = connect(rank);
            const auto start = std::chrono::steady_clock::now();
            for (int i = 0; i < kMessages; ++i) {
                std::vector<Bytes> to(2);
                to[1 - rank].resize(kBytes);
                CHECK(
                    collective->exchange(std::move(to), {rank == 1 ? kBytes : 0, rank == 0 ? kBytes : 0}, 0)[1 - rank]
                        .size() == kBytes
                );
            }
            collective->settle();
            if (rank == 0) {
                seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            }
        };
        std::jthread other([&] { work(1); });
        work(0);
        other.join();
        return static_cast<double>(kBytes) * kMessages / seconds * 1e-9;
    };
    LocalWords tls_words;
    const double tls = measured([&](std::uint32_t rank) { return cell::connect_tls(tls_words, options_of(rank, 2)); });
    const auto words = std::make_shared<LocalWords>();
    const double plain =
        measured([&](std::uint32_t rank) { return engine::connect_gloo(words, {.rank = rank, .size = 2}); });
    MESSAGE("two ranks on loopback, GB/s each way at the same time: ", tls, " by TLS, ", plain, " by gloo");
}

TEST_CASE("who has a certificate in place of the key is refused") {
    namespace ssl = boost::asio::ssl;
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    REQUIRE(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0);
    ssl::context impostor(ssl::context::tlsv13_server);
    SSL_CTX_use_certificate(impostor.native_handle(), certificate.get());
    SSL_CTX_use_PrivateKey(impostor.native_handle(), key.get());

    boost::asio::io_context io;
    tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0});
    const std::jthread server([&] {
        ssl::stream<tcp::socket> stream(io, impostor);
        acceptor.accept(stream.next_layer());
        boost::system::error_code error;
        stream.handshake(ssl::stream_base::server, error);
    });
    ssl::context context = cell::make_psk_context(key_of(7));
    ssl::stream<tcp::socket> stream(io, context);
    stream.next_layer().connect(acceptor.local_endpoint());
    boost::system::error_code error;
    stream.handshake(ssl::stream_base::client, error);
    CHECK(error.message().find("certificate verify failed") != std::string::npos);
    stream.next_layer().close();
}

TEST_CASE("requests are sealed with the secret, which they do not have in them") {
    // RFC 4231, test case 2.
    CHECK(
        cell::mac_of("Jefe", "what do ya want for nothing?") ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    );
    const std::string secret = "nobody can guess this";
    const std::string sealed = cell::seal(secret, "/seat", R"({"name":"left"})");
    CHECK(sealed.find(secret) == std::string::npos);
    CHECK(cell::unseal(secret, "/seat", sealed) == R"({"name":"left"})");
    CHECK_FALSE(cell::unseal("nobody can guess thiS", "/seat", sealed));
    CHECK_FALSE(cell::unseal(secret, "/set", sealed));
    CHECK_FALSE(cell::unseal(secret, "/seat", ""));
    for (std::size_t i = 0; i < sealed.size(); ++i) {
        std::string altered = sealed;
        altered[i] = static_cast<char>(altered[i] ^ 1);
        CHECK_FALSE(cell::unseal(secret, "/seat", altered));
    }
    CHECK(cell::link_key(secret, 1) != cell::link_key(secret, 2));
}
