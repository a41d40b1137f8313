// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>

#include <client/http/http.hpp>
#include <client/http/resolve.hpp>
#include <tests/unit/http/gate.hpp>

using namespace assay::http;
using assay::http::test::Gate;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

TEST_CASE("an address is itself and no name server is asked") {
    std::atomic<int> asked = 0;
    const Resolver count = [&asked](const std::string&, const std::string&) {
        ++asked;
        return std::vector<SocketAddress>(1);
    };
    CHECK(resolve("127.0.0.1", "80", Clock::now() + 10s, count).at(0).family() == AF_INET);
    CHECK(resolve("::1", "80", Clock::now() + 10s, count).at(0).family() == AF_INET6);
    CHECK(asked == 0);
    CHECK(resolve("node.example", "80", Clock::now() + 10s, count).size() == 1);
    CHECK(asked == 1);
}

TEST_CASE("a name server that never answers takes no longer than the deadline, and few threads") {
    const auto gate = std::make_shared<Gate>();
    const Gate::Opener opener(*gate);
    const Resolver stuck = [gate](const std::string&, const std::string&) {
        gate->pass();
        return std::vector<SocketAddress>{};
    };
    const auto start = Clock::now();
    int timeouts = 0;
    int refusals = 0;
    for (int i = 0; i < 40; ++i) {
        try {
            resolve("stuck.example", "80", Clock::now() + 1ms, stuck);
        } catch (const NetTimeout&) {
            ++timeouts;
        } catch (const NetError&) {
            ++refusals;
        }
    }
    CHECK(timeouts == 32);
    CHECK(refusals == 8);
    CHECK(Clock::now() - start < 20s);
    gate->open();
    // The threads end, and names can be looked up again.
    bool again = false;
    for (int i = 0; i < 4'000 && !again; ++i) {
        try {
            again = !resolve("node.example", "80", Clock::now() + 5ms, [](const std::string&, const std::string&) {
                         return std::vector<SocketAddress>(1);
                     }).empty();
        } catch (const NetError&) {
        }
    }
    CHECK(again);
}

TEST_CASE("a name without an address and a resolver that fails are errors") {
    const auto none = [](const std::string&, const std::string&) { return std::vector<SocketAddress>{}; };
    const auto fails = [](const std::string&, const std::string&) -> std::vector<SocketAddress> {
        throw NetError("no such name");
    };
    CHECK_THROWS_AS(resolve("none.example", "80", Clock::now() + 10s, none), NetError);
    CHECK_THROWS_AS(resolve("fails.example", "80", Clock::now() + 10s, fails), NetError);
}
