// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <client/http/http.hpp>
#include <verifier/cell/measure.hpp>
#include <verifier/cell/seal.hpp>

using namespace assay;

namespace {

cell::Hosts loopback_hosts(std::uint32_t members) {
    const auto nothing = [](const http::HttpRequest&) { return http::HttpResponse{}; };
    cell::Hosts hosts;
    hosts.lead_address = "127.0.0.1";
    hosts.lead_port = http::HttpServer({}, http::HttpServer::Handler(nothing)).port();
    hosts.secret = "sixteen letters!";
    for (std::uint32_t i = 0; i < members; ++i) {
        hosts.members.push_back({"m" + std::to_string(i), "127.0.0.1"});
    }
    return hosts;
}

cell::MeasureOptions options_of(const cell::Hosts& hosts, const std::string& name, double speed) {
    return {.hosts = hosts, .self = {name, speed, 1'000}, .seconds = 0.1};
}

std::string status_of(const cell::Hosts& hosts, const std::string& target, const std::string& body) {
    return std::to_string(http::http_post(hosts.lead_url() + target, body).status);
}

void wait_for(const cell::Hosts& hosts) {
    while (true) {
        try {
            status_of(hosts, "/ping", "");
            return;
        } catch (const http::NetError&) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
}

}  // namespace

TEST_CASE("each pair of a cell's machines is measured, and the machines say what they are") {
    const cell::Hosts hosts = loopback_hosts(2);
    std::vector<std::jthread> members;
    for (const std::string name : {"m0", "m1"}) {
        members.emplace_back([&hosts, name] {
            cell::serve_measuring(options_of(hosts, name, name == "m0" ? 5.0 : 7.0));
        });
    }
    const cell::Measured measured = cell::measure_links(options_of(hosts, "lead", 3.0));
    members.clear();  // they end by themselves
    REQUIRE(measured.machines.size() == 3);
    CHECK(measured.machines[0].name == "lead");
    CHECK(measured.machines[1].multiply_adds_per_s == 5.0);
    CHECK(measured.machines[2].multiply_adds_per_s == 7.0);
    CHECK(measured.machines[2].memory_bytes == 1'000);
    REQUIRE(measured.links.size() == 3);
    for (const cell::MeasuredLink& link : measured.links) {
        CHECK(link.a != link.b);
        CHECK(link.delay_s > 0.0);
        CHECK(link.delay_s < 1.0);
        CHECK(link.bytes_per_s > 1e6);
    }
}

TEST_CASE("who does not know the secret measures nothing and gets no bytes") {
    const cell::Hosts hosts = loopback_hosts(1);
    std::jthread lead([&] { cell::measure_links(options_of(hosts, "lead", 3.0)); });
    wait_for(hosts);
    CHECK(status_of(hosts, "/ping", cell::seal("another secret!!", "/ping", "{}")) == "403");
    CHECK(status_of(hosts, "/here", R"({"name": "m0"})") == "403");
    CHECK(status_of(hosts, "/done", cell::seal(hosts.secret, "/ping", "{}")) == "403");
    CHECK(status_of(hosts, "/ping", cell::seal(hosts.secret, "/ping", "no JSON")) == "400");
    CHECK(http::http_get(hosts.lead_url() + "/bytes/00").status == 403);
    for (const char* target : {"/here", "/measure"}) {
        CHECK(status_of(hosts, target, cell::seal(hosts.secret, target, R"({"name": "stranger"})")) == "404");
    }
    cell::serve_measuring(options_of(hosts, "m0", 5.0));  // so that the lead ends
}

TEST_CASE("a machine that is no member does not serve") {
    const cell::Hosts hosts = loopback_hosts(1);
    CHECK_THROWS_WITH(
        cell::serve_measuring(options_of(hosts, "stranger", 1.0)), "the hosts have no member \"stranger\""
    );
}

TEST_CASE("what was measured is written as assay plan reads it") {
    const std::string text = cell::members_text(
        {.machines = {{"lead", 2e10, 16}, {"right", 5e9, 32}}, .links = {{"lead", "right", 0.0015, 125e6}}}
    );
    CHECK(
        text ==
        "# What `assay-worker measure-links` measured, for `assay plan --members`.\n"
        "\n[[members]]\nname = \"lead\"\nmultiply_adds_per_s = 2.0000e+10\nmemory_bytes = 16\n"
        "\n[[members]]\nname = \"right\"\nmultiply_adds_per_s = 5.0000e+09\nmemory_bytes = 32\n"
        "\n[[links]]\nbetween = [\"lead\", \"right\"]\ndelay_ms = 1.5000\ngbit_per_s = 1.00000\n"
    );
}
