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
    cell::MeasuredMachine self{.name = name, .multiply_adds_per_s = speed, .memory_bytes = 1'000};
    self.overhead = {.byte_s = speed * 1e-9, .message_s = speed * 1e-6, .sum_byte_s = speed * 2e-9};
    self.host = name == "m1" ? "other" : "this";
    self.cores = 4;
    return {.hosts = hosts, .self = self, .seconds = 0.1};
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
    CHECK(measured.machines[2].overhead.byte_s == doctest::Approx(7e-9));
    CHECK(measured.machines[2].overhead.message_s == doctest::Approx(7e-6));
    CHECK(measured.machines[2].overhead.sum_byte_s == doctest::Approx(14e-9));
    CHECK(measured.machines[1].host == "this");
    CHECK(measured.machines[2].host == "other");
    CHECK(measured.machines[2].cores == 4);
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

TEST_CASE("what messages cost a processor is measured") {
    const cell::MeasuredOverhead found = cell::measure_overhead(0.4);
    // Encryption, sockets and copies take some nanoseconds, and more with sanitizers.
    CHECK(found.byte_s > 0.1e-9);
    CHECK(found.byte_s < 1e-6);
    CHECK(found.message_s > 0.5e-6);
    CHECK(found.message_s < 0.1);
    CHECK(found.sum_byte_s > 0.02e-9);
    CHECK(found.sum_byte_s < 1e-6);
    const double byte_ns = found.byte_s * 1e9;
    const double message_us = found.message_s * 1e6;
    const double sum_byte_ns = found.sum_byte_s * 1e9;
    MESSAGE(byte_ns << " ns a byte, " << message_us << " us a message, " << sum_byte_ns << " ns a byte of sums");
}

TEST_CASE("processes of one machine have one name for it") {
    CHECK(cell::host_id() == cell::host_id());
    CHECK(cell::core_count() >= 1);
}

TEST_CASE("what was measured is written as assay plan reads it, with the host of members that share one") {
    const cell::MeasuredOverhead overhead{.byte_s = 1.5e-9, .message_s = 20e-6, .sum_byte_s = 0.5e-9};
    const auto machine = [&](const char* name, const char* host) {
        return cell::MeasuredMachine{name, 2e10, 16, overhead, host, 8};
    };
    const std::string text = cell::members_text(
        {.machines = {machine("lead", "a"), machine("right", "b"), machine("left", "b"), machine("far", "")},
         .links = {{"lead", "right", 0.0015, 125e6}}}
    );
    const auto member = [](const std::string& name, const std::string& host) {
        return "\n[[members]]\nname = \"" + name +
               "\"\nmultiply_adds_per_s = 2.0000e+10\nmemory_bytes = 16\ntransfer_ns_per_byte = 1.5000\n"
               "transfer_us_per_message = 20.000\nsum_ns_per_byte = 0.5000\n" +
               host;
    };
    const std::string shared = "host = \"right\"\ncores = 8\n";
    CHECK(
        text == "# What `assay-worker measure-links` measured, for `assay plan --members`.\n" + member("lead", "") +
                    member("right", shared) + member("left", shared) + member("far", "") +
                    "\n[[links]]\nbetween = [\"lead\", \"right\"]\ndelay_ms = 1.5000\ngbit_per_s = 1.00000\n"
    );
}
