// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include <client/http/address.hpp>
#include <client/http/http.hpp>

using namespace assay::http;

namespace {

bool is_public_text(const char* text) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    return is_public(resolve(text, "80", deadline).front());
}

TEST_CASE("addresses of one's own network are told from those of the internet") {
    for (const char* text :
         {"127.0.0.1",
          "127.255.0.9",
          "10.1.2.3",
          "172.16.0.1",
          "172.31.255.255",
          "192.168.7.7",
          "169.254.169.254",
          "100.64.0.1",
          "0.0.0.0",
          "224.0.0.1",
          "255.255.255.255",
          "198.18.0.1",
          "::1",
          "::",
          "fe80::1",
          "fc00::1",
          "fd12:3456::1",
          "ff02::1",
          "::ffff:127.0.0.1",
          "::ffff:10.0.0.1",
          "64:ff9b::7f00:1",
          "64:ff9b:1::7f00:1",
          "2002:7f00:1::",
          "2002:c0a8:101::1",
          "2001:db8::1",
          "2001::1"}) {
        CAPTURE(text);
        CHECK(!is_public_text(text));
    }
    for (const char* text :
         {"1.1.1.1", "172.15.0.1", "172.32.0.1", "100.128.0.1", "126.255.255.255", "128.0.0.1", "2606:4700::1111",
          "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::1"}) {
        CAPTURE(text);
        CHECK(is_public_text(text));
    }
}

TEST_CASE("a private address is not connected to, by whatever name") {
    HttpServer server({}, [](const HttpRequest&) { return HttpResponse{.body = "secret"}; });
    const std::string port = std::to_string(server.port());
    const HttpLimits careful{.timeout = std::chrono::seconds(20), .public_only = true};
    for (const char* host : {"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "127.1"}) {
        CAPTURE(host);
        CHECK_THROWS_AS(http_get("http://" + std::string(host) + ":" + port + "/", careful), NetError);
    }
    CHECK_THROWS_AS(http_get("http://localhost:" + port + "/", careful), NetForbidden);
    CHECK(http_get("http://localhost:" + port + "/").body == "secret");
}

}  // namespace
