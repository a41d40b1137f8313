// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <csignal>
#include <fstream>

#include <nlohmann/json.hpp>

#include <client/rpc_client.hpp>
#include <tests/e2e/daemon.hpp>
#include <tests/unit/consensus/toy_machine.hpp>

using namespace assay;
using namespace assay::e2e;
using namespace std::chrono_literals;
using assay::solo::test::TemporaryDirectory;

namespace {

struct Outcome {
    int code = -1;
    std::string out;
    std::string err;
};

Outcome run(const std::vector<std::string>& arguments, const std::filesystem::path& logs) {
    Daemon daemon(arguments, logs);
    const auto code = daemon.await_exit(30s);
    return {.code = code.value_or(-1), .out = daemon.out(), .err = daemon.err()};
}

}  // namespace

TEST_CASE("every kind of failure has its exit code") {
    const TemporaryDirectory directory;
    const auto logs = directory.path() / "logs";
    const std::string home = (directory.path() / "home").string();
    CHECK(run({}, logs).code == 2);
    CHECK(run({"begin"}, logs).code == 2);
    CHECK(run({"start", "--hom", home}, logs).code == 2);
    CHECK(run({"--help"}, logs).code == 0);
    CHECK(run({"version"}, logs).out.starts_with("assayd "));
    CHECK(nlohmann::json::parse(run({"version", "-o", "json"}, logs).out).at("name") == "assayd");
    CHECK(run({"start", "--home", home}, logs).code == 3);
    CHECK(run({"init", "--home", home, "--chain-id", "Not One"}, logs).code == 3);
    const Outcome init = run({"init", "--home", home, "-o", "json", "--chain-id", "e2e-1"}, logs);
    CHECK(init.code == 0);
    CHECK(nlohmann::json::parse(init.out).at("chain_id") == "e2e-1");
    const Outcome again = run({"init", "--home", home, "-o", "json"}, logs);
    CHECK(again.code == 3);
    CHECK(nlohmann::json::parse(again.out).at("error").at("code") == 3);
    CHECK(run({"start", "--home", home, "--rpc-port", "0", "--block-interval-ms", "0"}, logs).code == 2);
    std::ofstream(home + "/config.toml") << "[rpc]\nprot = 1\n";
    const Outcome misspelt = run({"start", "--home", home}, logs);
    CHECK(misspelt.code == 3);
    CHECK(misspelt.err.find("nearest: rpc.port") != std::string::npos);
}

TEST_CASE("a started node locks its home, names its address and stops on a signal") {
    const TemporaryDirectory directory;
    const std::string home = (directory.path() / "home").string();
    REQUIRE(run({"init", "--home", home}, directory.path() / "logs").code == 0);
    const std::vector<std::string> start{"start", "--home", home, "--rpc-port", "0", "--block-interval-ms", "10"};
    Daemon daemon(start, directory.path() / "logs");
    const auto ready = daemon.await_ready(20s);
    REQUIRE(ready.has_value());
    std::ifstream address(home + "/data/rpc_address");
    std::string url;
    std::getline(address, url);
    CHECK(url == ready->url);
    const Outcome second = run(start, directory.path() / "second");
    CHECK(second.code == 3);
    CHECK(second.err.find("in use by another assayd, process ") != std::string::npos);
    client::RpcClient client(ready->url, 10s);
    CHECK(client.wait_for_block({3}, 10s).value > 3);
    daemon.signal(SIGINT);
    CHECK(daemon.await_exit(20s) == 0);
    CHECK(daemon.err().find("stopped at height ") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(home + "/data/rpc_address"));
}

TEST_CASE("a node's log is JSON if it is asked for, and in a file") {
    const TemporaryDirectory directory;
    const std::string home = (directory.path() / "home").string();
    const auto file = directory.path() / "node.log";
    REQUIRE(run({"init", "--home", home}, directory.path() / "logs").code == 0);
    const std::vector<std::string> start{"start",        "--home", home,         "--rpc-port", "0",
                                         "--log-format", "json",   "--log-file", file.string()};
    {
        Daemon daemon(start, directory.path() / "logs");
        REQUIRE(daemon.await_ready(20s).has_value());
        daemon.signal(SIGTERM);
        CHECK(daemon.await_exit(20s) == 0);
        CHECK(daemon.err().empty());
    }
    std::ofstream(home + "/config.toml") << "[rpc]\nprot = 1\n";
    const Outcome misspelt = run(start, directory.path() / "logs");
    CHECK(misspelt.code == 3);
    CHECK(misspelt.err.find("nearest: rpc.port") != std::string::npos);
    std::ifstream in(file);
    std::vector<nlohmann::json> entries;
    for (std::string line; std::getline(in, line);) {
        entries.push_back(nlohmann::json::parse(line));
        CHECK(entries.back().at("program") == "assayd");
    }
    REQUIRE(entries.size() >= 3);
    CHECK(entries.front().at("message") == "last stop: first start");
    CHECK(entries.back().at("level") == "error");
    CHECK(entries.back().at("message").get<std::string>().find("nearest: rpc.port") != std::string::npos);
    CHECK(run({"start", "--home", home, "--log-format", "xml"}, directory.path() / "logs").code == 2);
}

TEST_CASE("the data of a node is inspected without its key and settings, and stays as it is") {
    const TemporaryDirectory directory;
    const std::string home = (directory.path() / "home").string();
    const std::string copy = (directory.path() / "copy").string();
    const auto logs = directory.path() / "logs";
    REQUIRE(run({"init", "--home", home}, logs).code == 0);
    {
        Daemon daemon({"start", "--home", home, "--rpc-port", "0", "--block-interval-ms", "5"}, logs);
        const auto ready = daemon.await_ready(20s);
        REQUIRE(ready.has_value());
        client::RpcClient(ready->url, 10s).wait_for_block({3}, 10s);
        daemon.signal(SIGTERM);
        REQUIRE(daemon.await_exit(20s) == 0);
    }
    std::filesystem::create_directories(copy + "/data");
    std::filesystem::copy_file(home + "/genesis.json", copy + "/genesis.json");
    std::filesystem::copy_file(home + "/data/blocks.log", copy + "/data/blocks.log");
    const auto size = std::filesystem::file_size(copy + "/data/blocks.log");
    Daemon daemon({"inspect", "--home", copy, "--rpc-port", "0"}, logs);
    const auto ready = daemon.await_ready(20s);
    REQUIRE(ready.has_value());
    CHECK(ready->height >= 3);
    client::RpcClient client(ready->url, 10s);
    CHECK(client.call("chain_block", {{"height", 3}}).at("height") == 3);
    std::string refusal;
    try {
        client.call("tx_submit", {{"tx", "00"}});
    } catch (const client::RpcError& error) {
        refusal = error.what();
    }
    CHECK(refusal.find("takes no transactions") != std::string::npos);
    CHECK(client.call("chain_wait", {{"after", ready->height}, {"timeout_ms", 50}}).at("height") == ready->height);
    daemon.signal(SIGTERM);
    CHECK(daemon.await_exit(20s) == 0);
    CHECK(std::filesystem::file_size(copy + "/data/blocks.log") == size);
    CHECK_FALSE(std::filesystem::exists(copy + "/data/clean_stop"));
}

TEST_CASE("a replay of a log that was altered ends with the exit code of a mismatch") {
    const TemporaryDirectory directory;
    const std::string home = (directory.path() / "home").string();
    const auto logs = directory.path() / "logs";
    REQUIRE(run({"init", "--home", home}, logs).code == 0);
    {
        Daemon daemon({"start", "--home", home, "--rpc-port", "0", "--block-interval-ms", "5"}, logs);
        const auto ready = daemon.await_ready(20s);
        REQUIRE(ready.has_value());
        client::RpcClient(ready->url, 10s).wait_for_block({2}, 10s);
        daemon.signal(SIGTERM);
        REQUIRE(daemon.await_exit(20s) == 0);
    }
    CHECK(run({"replay", "--home", home}, logs).code == 0);
    std::ifstream in(home + "/genesis.json");
    std::string genesis((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const std::string amount = "\"1000000000000000\"";
    REQUIRE(genesis.find(amount) != std::string::npos);
    genesis.replace(genesis.find(amount), amount.size(), "\"1000000000000001\"");
    std::ofstream(home + "/genesis.json") << genesis;
    const Outcome outcome = run({"replay", "--home", home, "-o", "json"}, logs);
    CHECK(outcome.code == 10);
    CHECK(nlohmann::json::parse(outcome.out).at("error").at("code") == 10);
}
