// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tests/loopback.hpp>
#include <tests/unit/relay/bench.hpp>
#include <verifier/relay/probe.hpp>

namespace assay::relay {
namespace {

using std::chrono::milliseconds;
using test::RawClient;
using test::Worker;

/// A worker that registers by hand.
class Applicant {
  public:
    Applicant(const RelayServer& relay, std::uint8_t key, const std::string& name = {})
        : key_(test::key_of(key)),
          wanted_{.service = {.name = "solve", .account = key_.account()}, .relay = name.empty() ? relay.name() : name},
          client_(relay.port()) {
        client_.send(encode_message(wanted_));
    }
    std::string line() const { return client_.line(); }
    void send(const std::string& text) const { client_.send(text); }
    /// What proves the account to a relay that has said so.
    std::string proof_for(const std::string& challenge) const {
        const auto message = decode_message(challenge).value();
        const Hash256 digest = register_digest(std::get<Challenge>(message).nonce, wanted_);
        return encode_message(Proof{key_.sign(digest.view())});
    }
    std::string prove() const {
        client_.send(proof_for(client_.line()));
        return client_.line();
    }
    bool is_over() const { return client_.is_over(); }

  private:
    crypto::SecretKey key_;
    Register wanted_;
    RawClient client_;
};

TEST_CASE("ART-23: an account is registered by who has its key, and by nobody else") {
    RelayServer relay({});
    const Applicant honest(relay, 1);
    CHECK(honest.prove() == "registered");
    CHECK(relay.figures().workers == 1);
    const Applicant thief(relay, 1);
    static_cast<void>(thief.line());
    thief.send(encode_message(Proof{test::key_of(2).sign(Hash256{}.view())}));
    CHECK(thief.line() == "refused bad-proof");
    CHECK(thief.is_over());
    CHECK(relay.figures().workers == 1);
    CHECK(relay.figures().refused.at("bad-proof") == 1);
}

TEST_CASE("ART-23: what was said at a registration is of no use for another one") {
    RelayServer relay({});
    const Applicant honest(relay, 1);
    const std::string proof = honest.proof_for(honest.line());
    honest.send(proof);
    CHECK(honest.line() == "registered");
    const Applicant copy(relay, 1);
    CHECK(copy.line().starts_with("challenge "));
    copy.send(proof);
    CHECK(copy.line() == "refused bad-proof");
}

TEST_CASE("ART-23: a relay cannot use at another relay what a worker signs for it") {
    RelayServer relay({});
    // A hostile relay passes on the challenge of this one. The worker signs the name of the relay that it has dialled.
    const Applicant posing(relay, 1);
    const auto challenge = decode_message(posing.line()).value();
    const Register at_hostile{
        .service = {.name = "solve", .account = test::key_of(1).account()}, .relay = "hostile.example:1"};
    const Hash256 digest = register_digest(std::get<Challenge>(challenge).nonce, at_hostile);
    posing.send(encode_message(Proof{test::key_of(1).sign(digest.view())}));
    CHECK(posing.line() == "refused bad-proof");
    const Applicant misled(relay, 1, "hostile.example:1");
    CHECK(misled.line() == "refused other-name");
}

TEST_CASE("ART-23: who registers again takes the earlier one's place") {
    RelayServer relay({});
    const Applicant earlier(relay, 1);
    CHECK(earlier.prove() == "registered");
    const Worker worker(relay.name(), 1);
    REQUIRE(worker.is_registered());
    CHECK(earlier.line() == "refused replaced");
    CHECK(earlier.is_over());
    CHECK(relay.figures().workers == 1);
    CHECK(test::fetch_part(worker) == worker.file);
}

TEST_CASE("ART-23: a relay serves as many workers as it may, and those that its operator allows") {
    RelayServer few({.workers_max = 3, .workers_per_address = 2});
    const Applicant first(few, 1);
    const Applicant second(few, 2);
    CHECK(first.prove() == "registered");
    CHECK(second.prove() == "registered");
    CHECK(Applicant(few, 3).prove() == "refused full");
    const Applicant again(few, 2);  // its own place
    CHECK(again.prove() == "registered");
    RelayServer closed({.allowed = {test::key_of(1).account()}});
    CHECK(Applicant(closed, 1).prove() == "registered");
    CHECK(Applicant(closed, 2).line() == "refused not-allowed");
}

TEST_CASE("ART-23: a worker that does not answer is not registered any more") {
    std::mutex mutex;
    std::vector<std::string> told;
    RelayServer relay({.ping = milliseconds(50)}, [&](std::string_view what, const Service&) {
        const std::scoped_lock lock(mutex);
        told.emplace_back(what);
    });
    const Applicant silent(relay, 1);
    CHECK(silent.prove() == "registered");
    CHECK(silent.line() == "ping");
    CHECK(silent.is_over());
    CHECK(test::eventually([&] { return relay.figures().workers == 0; }));
    const std::scoped_lock lock(mutex);
    CHECK(told == std::vector<std::string>{"registered", "left"});
}

TEST_CASE("ART-23: a client whose worker does not come, or is not there, is told so") {
    RelayServer relay({.handshake = milliseconds(200)});
    const Applicant deaf(relay, 1);
    CHECK(deaf.prove() == "registered");
    const auto ask = [&](std::uint8_t key) {
        const RawClient client(relay.port());
        const std::string host = to_host({.name = "solve", .account = test::key_of(key).account()});
        client.send("CONNECT " + host + ":443 HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
        return client.line();
    };
    CHECK(ask(1) == "HTTP/1.1 504 Gateway Timeout\r");
    CHECK(ask(2) == "HTTP/1.1 404 Not Found\r");
    // A ticket that nobody has given out opens nothing.
    const RawClient guesser(relay.port());
    guesser.send(encode_message(Accept{Hash256{{9}}}));
    CHECK(guesser.is_over());
}

TEST_CASE("ART-23: what is no message ends its connection and nothing else") {
    RelayServer relay({.handshake = milliseconds(300)});
    const Worker worker(relay.name(), 1);
    REQUIRE(worker.is_registered());
    const std::vector<std::string> garbage{
        "\n",
        "\r\n\r\n",
        "register x y\n",
        "register " + std::string(10'000, 'a'),
        std::string(20'000, 'b'),
        "accept \n",
        "GET / HTTP/1.1\r\n\r\n",
        "CONNECT example.org:443 HTTP/1.1\r\n\r\n",
        "CONNECT " + to_host(worker.location.service) + ":80 HTTP/1.1\r\n\r\n",
        std::string("\x16\x03\x01") + "hello\n",
        "CONNECT a HTTP/1.1\r\n" + std::string(9'000, 'h'),
        ""};
    for (const std::string& bytes : garbage) {
        CAPTURE(bytes.substr(0, 40));
        const RawClient client(relay.port());
        client.send(bytes);
        CHECK(client.is_over());
    }
    CHECK(test::fetch_part(worker) == worker.file);
}

TEST_CASE("ART-23: a relay that is no relay is noticed") {
    const ::assay::test::TemporaryDirectory home;
    const ::assay::artifacts::ContentStore store(home.path());
    const ::assay::artifacts::ArtifactServer other(http::HttpServerOptions{}, store);
    const Worker worker(other.url().substr(std::string("http://").size()), 1);
    CHECK(test::eventually([&] { return !worker.told.texts().empty(); }));
    CHECK(worker.told.texts().front().starts_with("it does not speak as a relay does"));
    CHECK_FALSE(worker.link->is_registered());
    CHECK(probe(worker.location.relay, test::key_of(1).account(), milliseconds(5'000))
              .starts_with("it does not speak as a relay does"));
}

TEST_CASE("ART-23: a relay is asked whether a worker could register, and who is registered stays so") {
    constexpr milliseconds kPatience{5'000};
    RelayServer relay({.allowed = {test::key_of(1).account()}});
    const Applicant registered(relay, 1);
    CHECK(registered.prove() == "registered");
    CHECK(probe(relay.name(), test::key_of(1).account(), kPatience).empty());
    CHECK(probe(relay.name(), test::key_of(2).account(), kPatience) == advice_of(RefusalReason::kNotAllowed));
    const std::string other = "localhost:" + std::to_string(relay.port());
    CHECK(probe(other, test::key_of(1).account(), kPatience) == advice_of(RefusalReason::kOtherName));
    CHECK(relay.figures().workers == 1);
    CHECK(probe("127.0.0.1:1", test::key_of(1).account(), kPatience).starts_with("it cannot be reached"));
    CHECK_FALSE(probe("no-such-host.invalid:1", test::key_of(1).account(), kPatience).empty());
}

TEST_CASE("ART-23: a relay that accepts connections and says nothing is noticed in time") {
    const ::assay::test::LoopbackSocket silent;
    const std::string name = "127.0.0.1:" + std::to_string(silent.port());
    CHECK(probe(name, test::key_of(1).account(), milliseconds(200)) == "it does not answer as a relay does");
}

}  // namespace
}  // namespace assay::relay
