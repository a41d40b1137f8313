// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include <client/rpc_client.hpp>
#include <tests/e2e/daemon.hpp>
#include <tests/unit/consensus/toy_machine.hpp>
#include <tests/unit/http/raw_client.hpp>

using namespace assay;
using namespace assay::e2e;
using namespace std::chrono_literals;
using assay::http::test::RawClient;
using assay::solo::test::TemporaryDirectory;

TEST_CASE("a node under 2000 idle connections and 200 waits answers and makes blocks") {
    constexpr int kAddresses = 125;
    constexpr int kIdle = 2'000;
    constexpr int kWaits = 200;
    rlimit descriptors{};
    ::getrlimit(RLIMIT_NOFILE, &descriptors);
    descriptors.rlim_cur = std::max<rlim_t>(descriptors.rlim_cur, std::min<rlim_t>(descriptors.rlim_max, 8'192));
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &descriptors) == 0);
    const TemporaryDirectory directory;
    const std::string home = (directory.path() / "home").string();
    {
        Daemon init({"init", "--home", home, "--chain-id", "e2e-1"}, directory.path() / "init");
        REQUIRE(init.await_exit(60s) == 0);
    }
    Daemon daemon(
        {"start", "--home", home, "--rpc-port", "0", "--block-interval-ms", "100"}, directory.path() / "logs"
    );
    const auto ready = daemon.await_ready(60s);
    REQUIRE(ready.has_value());
    const auto port = static_cast<std::uint16_t>(std::stoul(ready->url.substr(ready->url.rfind(':') + 1)));
    std::vector<std::unique_ptr<RawClient>> flood;
    const std::string wait =
        R"({"jsonrpc":"2.0","id":1,"method":"chain_wait","params":{"after":1000000000,"timeout_ms":30000}})";
    for (int i = 0; i < kIdle + kWaits; ++i) {
        flood.push_back(std::make_unique<RawClient>(port, "127.1.0." + std::to_string(1 + i % kAddresses)));
        if (i >= kIdle) {
            flood.back()->send(
                "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
                std::to_string(wait.size()) + "\r\n\r\n" + wait
            );
        } else if (i % 2 == 0) {
            flood.back()->send("POST / HTTP/1.1\r\nHost: loc");
        }
    }
    client::RpcClient client(ready->url, 20s);
    std::vector<double> latencies_ms;
    for (int i = 0; i < 20; ++i) {
        const auto start = std::chrono::steady_clock::now();
        client.call("node_status");
        latencies_ms.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count()
        );
    }
    std::sort(latencies_ms.begin(), latencies_ms.end());
    MESSAGE(
        "assayd under ", kIdle, " idle connections and ", kWaits, " waits: median ", latencies_ms[10],
        " ms, slowest of 20 ", latencies_ms.back(), " ms"
    );
    const auto height = client.call("node_status").at("height").get<std::uint64_t>();
    const auto later = client.call("chain_wait", {{"after", height}, {"timeout_ms", 15'000}});
    CHECK(later.at("height").get<std::uint64_t>() > height);
    daemon.signal(SIGTERM);
    INFO(daemon.err());
    CHECK(daemon.await_exit(60s).value_or(-1) == 0);
}
