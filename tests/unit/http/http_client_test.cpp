// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <string>

#include <client/http/http.hpp>
#include <tests/unit/http/listener.hpp>

using namespace assay::http;
using assay::http::test::Listener;
using Clock = std::chrono::steady_clock;

namespace {

HttpLimits within(std::chrono::milliseconds timeout) {
    HttpLimits limits;
    limits.timeout = timeout;
    return limits;
}

}  // namespace

TEST_CASE("a URL is taken apart and what is none is refused") {
    const auto url = decode_url("http://127.0.0.1:4000/artifact/ab?x=1");
    REQUIRE(url);
    CHECK(url->host == "127.0.0.1");
    CHECK(url->port == "4000");
    CHECK(url->target == "/artifact/ab?x=1");
    CHECK(decode_url("http://host")->port == "80");
    CHECK(decode_url("http://host")->target == "/");
    CHECK(decode_url("http://host:1?q")->target == "/?q");
    CHECK(decode_url("http://[::1]:7/")->host == "::1");
    CHECK(decode_url("http://host/a/../b")->target == "/a/../b");
    CHECK(decode_url("https://host/")->port == "443");
    CHECK(decode_url("https://host:4000/")->scheme == "https");
    for (const char* text :
         {"", "host:1", "ftp://host/", "http://", "http:///host/", "http://h%6fst/", "http://[fe80::1%25eth0]/",
          "http://:1/", "http://host:/", "http://host:0/", "http://host:65536/", "http://host:1a/", "http://host/a b",
          "http://host/\r\nX: y", "http://user@host/", "http://host/#f", "http://[::1/", "http://[::1]x/"}) {
        CAPTURE(text);
        CHECK_FALSE(decode_url(text));
    }
    CHECK_FALSE(decode_url("http://host/" + std::string(3'000, 'a')));
}

TEST_CASE("nobody there is an error that names the URL") {
    std::string url;
    {
        const Listener gone;
        url = gone.url();
    }
    try {
        http_get(url);
        FAIL("somebody answered");
    } catch (const NetError& error) {
        CHECK(std::string(error.what()).find(url) != std::string::npos);
    }
    CHECK_THROWS_AS(http_get("not a url"), NetError);
    CHECK_THROWS_AS(http_get("http://host.invalid/", within(std::chrono::seconds(5))), NetError);
}

TEST_CASE("a server that never answers is a timeout") {
    const Listener mute;
    const auto start = Clock::now();
    CHECK_THROWS_AS(http_get(mute.url(), within(std::chrono::milliseconds(200))), NetTimeout);
    CHECK_THROWS_AS(
        http_post(mute.url(), std::string(32U << 20U, 'x'), within(std::chrono::milliseconds(200))), NetTimeout
    );
    CHECK(Clock::now() - start < std::chrono::seconds(3));
}

TEST_CASE("what arrives extends the time for the rest, as far as the rate goes" * doctest::test_suite("full")) {
    const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n" + std::string(30, 'x');
    // Of the head whole lines count, of which the longest takes 0.4 s.
    HttpLimits limits = within(std::chrono::milliseconds(800));
    {
        const Listener slow(answer, 1);  // 20 ms for each byte: 1.4 s in all
        CHECK_THROWS_AS(http_get(slow.url(), limits), NetTimeout);
    }
    limits.bytes_per_s = 1;
    const Listener slow(answer, 1);
    CHECK(http_get(slow.url(), limits).body.size() == 30);
}

TEST_CASE("a request is given up when its owner stops") {
    const Listener mute;
    std::atomic<bool> stop{true};
    HttpLimits limits = within(std::chrono::hours(1));
    limits.stop = [&stop] { return stop.load(); };
    CHECK_THROWS_AS(http_get(mute.url(), limits), NetTimeout);
}

TEST_CASE("an answer that is cut off, too large or not HTTP is an error") {
    HttpLimits limits = within(std::chrono::seconds(5));
    limits.body_max = 100;
    for (const std::string& answer :
         {std::string("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort"), std::string("SSH-2.0-x\r\n\r\n"),
          "HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n" + std::string(101, 'x'),
          "HTTP/1.1 200 OK\r\n\r\n" + std::string(101, 'x'), std::string("HTTP/1.1 2")}) {
        CAPTURE(answer.substr(0, 50));
        const Listener listener(answer);
        CHECK_THROWS_AS(http_get(listener.url(), limits), NetError);
    }
    for (const char* length : {"Content-Length: 101\r\n", ""}) {  // announced or not
        const Listener listener("HTTP/1.1 200 OK\r\n" + std::string(length) + "\r\n" + std::string(101, 'x'));
        CHECK_THROWS_AS(http_get(listener.url(), limits), NetTooLarge);
    }
}

TEST_CASE("an answer without a length ends with the connection") {
    const Listener listener("HTTP/1.1 203 X\r\nContent-Type: a/b\r\n\r\nall of it");
    const HttpResponse got = http_get(listener.url());
    CHECK(got.status == 203);
    CHECK(got.content_type == "a/b");
    CHECK(got.body == "all of it");
}
