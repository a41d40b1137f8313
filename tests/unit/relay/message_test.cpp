// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <core/crypto/keys.hpp>
#include <verifier/relay/message.hpp>
#include <verifier/relay/tunnel.hpp>

namespace assay::relay {
namespace {

using std::chrono::milliseconds;

const AccountId kAccount = crypto::SecretKey::from_bytes(Bytes(32, 7)).value().account();

TEST_CASE("ART-23: each message of a relay has one line, and the line gives the message back") {
    const Service service{.name = "solve", .account = kAccount};
    const std::vector<Message> all{
        Register{.service = service, .relay = "relay.example.org:4010"},
        Register{.service = service, .relay = "[2001:db8::1]:65535"},
        Challenge{Hash256{{1}}},
        Proof{Signature{{2}}},
        Registered{},
        Refused{RefusalReason::kOtherName},
        Refused{RefusalReason::kReplaced},
        Open{Hash256{{3}}},
        Accept{Hash256{{4}}},
        Ping{},
        Pong{}};
    for (const Message& message : all) {
        std::string line = encode_message(message);
        CAPTURE(line);
        REQUIRE(line.ends_with('\n'));
        CHECK(line.size() <= kLineMax);
        line.pop_back();
        const auto decoded = decode_message(line);
        REQUIRE(decoded.has_value());
        CHECK(*decoded == message);
    }
}

TEST_CASE("ART-23: lines that are none are refused with the reason") {
    const auto why = [](const std::string& line) { return decode_message(line).error(); };
    const std::string host = to_host({.name = "solve", .account = kAccount});
    CHECK(why(std::string(kLineMax, 'a')) == MessageError::kTooLong);
    CHECK(why("") == MessageError::kKind);
    CHECK(why("GET / HTTP/1.1") == MessageError::kKind);
    CHECK(why("ping ") == MessageError::kFields);
    CHECK(why("open") == MessageError::kFields);
    CHECK(why("open 12") == MessageError::kFields);
    CHECK(why("open " + std::string(64, 'A')) == MessageError::kFields);
    CHECK(why("refused because") == MessageError::kFields);
    CHECK(why("register " + host) == MessageError::kFields);
    CHECK(why("register " + host + " h:1 x") == MessageError::kFields);
    CHECK(why("register " + host + " h") == MessageError::kFields);
    CHECK(why("register solve.assay1q h:1") == MessageError::kFields);
    CHECK(why("register Solve" + host.substr(5) + " h:1") == MessageError::kFields);
}

TEST_CASE("ART-23: names of relays and services have one spelling") {
    for (const char* name : {"h:1", "127.0.0.1:4010", "relay-1.example.org:65535", "[::1]:80"}) {
        CAPTURE(name);
        CHECK(is_relay_name(name));
    }
    for (const char* name :
         {"", "h", "h:", ":1", "h:0", "h:01", "h:65536", "H:1", "h h:1", "u@h:1", "h/p:1", "-h:1", "[]:1"}) {
        CAPTURE(name);
        CHECK_FALSE(is_relay_name(name));
    }
    CHECK(is_service_name("solve"));
    CHECK_FALSE(is_service_name(""));
    CHECK_FALSE(is_service_name("a.b"));
    CHECK_FALSE(is_service_name(std::string(17, 'a')));
    const Service service{.name = "verify", .account = kAccount};
    CHECK(decode_host(to_host(service)) == service);
    std::string upper = to_host(service);
    upper[8] = 'A';
    CHECK_FALSE(decode_host(upper).has_value());
}

TEST_CASE("ART-23: what an account signs is of use for one nonce, one relay and one service") {
    const Register wanted{.service = {.name = "solve", .account = kAccount}, .relay = "a:1"};
    const Hash256 digest = register_digest(Hash256{{1}}, wanted);
    CHECK(register_digest(Hash256{{1}}, wanted) == digest);
    CHECK(register_digest(Hash256{{2}}, wanted) != digest);
    Register other = wanted;
    other.relay = "b:1";
    CHECK(register_digest(Hash256{{1}}, other) != digest);
    other = wanted;
    other.service.name = "verify";
    CHECK(register_digest(Hash256{{1}}, other) != digest);
}

TEST_CASE("ART-23: a rate lets a burst pass and then so many bytes in a second") {
    const RelayClock::time_point start{std::chrono::hours(1)};
    Rate rate(1'000'000);
    CHECK(rate.take(250'000, start) == milliseconds(0));
    CHECK(rate.take(100'000, start) == milliseconds(100));
    CHECK(rate.take(100'000, start + milliseconds(100)) == milliseconds(100));
    CHECK(rate.take(100'000, start + milliseconds(5'000)) == milliseconds(0));
    CHECK(Rate(0).take(1U << 30U, start) == milliseconds(0));
}

}  // namespace
}  // namespace assay::relay
