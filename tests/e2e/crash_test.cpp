// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <csignal>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include <nlohmann/json.hpp>

#include <core/crypto/address.hpp>
#include <client/rpc_client.hpp>
#include <node/api/genesis_file.hpp>
#include <tests/e2e/daemon.hpp>
#include <tests/unit/consensus/toy_machine.hpp>
#include <tests/unit/node/chain.hpp>

using namespace assay;
using namespace assay::e2e;
using namespace assay::node::test;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace {

constexpr std::uint8_t kSenders = 4;

/// What the node has told anybody: none of it may ever become untrue.
class Witness {
  public:
    void saw_block(std::uint64_t height, std::string app_hash) {
        const std::lock_guard lock(mutex_);
        app_hashes_[height] = std::move(app_hash);
    }
    void saw_tx(const std::string& hash, std::uint64_t height) {
        const std::lock_guard lock(mutex_);
        heights_[hash] = height;
        fresh_[hash] = height;
    }
    std::uint64_t last_height() const { return app_hashes_.empty() ? 0 : app_hashes_.rbegin()->first; }
    const std::map<std::uint64_t, std::string>& app_hashes() const { return app_hashes_; }
    const std::map<std::string, std::uint64_t>& heights() const { return heights_; }
    /// The transactions seen since the last call.
    std::map<std::string, std::uint64_t> take_fresh() { return std::exchange(fresh_, {}); }

  private:
    std::mutex mutex_;
    std::map<std::uint64_t, std::string> app_hashes_;
    std::map<std::string, std::uint64_t> heights_;
    std::map<std::string, std::uint64_t> fresh_;
};

/// Sends transfers from one account until the node is gone; asks after each what became of an earlier one.
void send_transfers(const std::string& url, std::uint8_t seed, Witness& witness, const std::atomic<bool>& stop) {
    const auto from = key(seed);
    const auto to = key(static_cast<std::uint8_t>(seed + 20)).account();
    try {
        client::RpcClient client(url, 5s);
        std::uint64_t nonce = client.call("account_get", {{"account", crypto::to_address(from.account())}})
                                  .at("next_nonce")
                                  .get<std::uint64_t>();
        std::vector<std::string> waiting;
        while (!stop) {
            try {
                waiting.push_back(client.call("tx_submit", {{"tx", to_hex(transfer(from, nonce, to, 1))}})
                                      .at("hash")
                                      .get<std::string>());
                ++nonce;
            } catch (const client::RpcError&) {
                std::this_thread::sleep_for(5ms);
            }
            const Json tx = client.call("tx_get", {{"hash", waiting.front()}});
            if (tx.at("status") == "executed") {
                witness.saw_tx(waiting.front(), tx.at("height").get<std::uint64_t>());
                waiting.erase(waiting.begin());
            }
            if (waiting.empty()) {
                std::this_thread::sleep_for(1ms);
            }
        }
    } catch (const std::exception&) {
        // The node is gone: that is what this test does to it.
    }
}

void watch_blocks(const std::string& url, Witness& witness, const std::atomic<bool>& stop) {
    try {
        client::RpcClient client(url, 5s);
        while (!stop) {
            const Json status = client.call("node_status");
            const auto height = status.at("height").get<std::uint64_t>();
            witness.saw_block(height, status.at("app_hash").get<std::string>());
            client.call("chain_wait", {{"after", height}, {"timeout_ms", 1'000}});
        }
    } catch (const std::exception&) {
    }
}

void run_load(Daemon& daemon, const std::string& url, Witness& witness, std::chrono::milliseconds time) {
    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    for (std::uint8_t seed = 1; seed <= kSenders; ++seed) {
        threads.emplace_back([&, seed] { send_transfers(url, seed, witness, stop); });
    }
    threads.emplace_back([&] { watch_blocks(url, witness, stop); });
    std::this_thread::sleep_for(time);
    daemon.signal(SIGKILL);
    daemon.await_exit(10s);
    stop = true;
    for (std::thread& thread : threads) {
        thread.join();
    }
}

void check_txs(client::RpcClient& client, const std::map<std::string, std::uint64_t>& txs) {
    for (const auto& [tx_hash, height] : txs) {
        const std::string& hash = tx_hash;  // clang 14 captures no structured binding
        CAPTURE(hash);
        const Json tx = client.call("tx_get", {{"hash", hash}});
        REQUIRE(tx.at("status") == "executed");
        REQUIRE(tx.at("height") == height);
    }
}

std::uint32_t make_seed() {
    const char* const given = std::getenv("ASSAY_E2E_SEED");
    return given != nullptr ? static_cast<std::uint32_t>(std::stoul(given)) : std::random_device{}();
}

}  // namespace

TEST_CASE("a node killed at random instants under load always restarts and loses nothing it has told") {
    const std::uint32_t seed = make_seed();
    MESSAGE("ASSAY_E2E_SEED=", seed);
    std::mt19937 random(seed);
    const auto between = [&random](int low, int high) {
        return std::chrono::milliseconds(std::uniform_int_distribution<int>(low, high)(random));
    };
    const solo::test::TemporaryDirectory directory(true);
    const auto home = directory.path() / "home";
    const auto logs = directory.path() / "logs";
    const auto genesis_file = directory.path() / "genesis.json";
    node::write_genesis(genesis_file, make_genesis());
    REQUIRE(Daemon({"init", "--home", home.string(), "--genesis", genesis_file.string()}, logs).await_exit(20s) == 0);
    const std::vector<std::string> start{"start", "--home", home.string(), "--rpc-port", "0", "--block-interval-ms",
                                         "5"};

    Witness witness;
    constexpr int kKills = 30;
    for (int kill = 0; kill < kKills; ++kill) {
        CAPTURE(seed);
        CAPTURE(kill);
        Daemon daemon(start, logs);
        if (kill % 5 == 4) {
            // While it starts: opens, replays, binds.
            std::this_thread::sleep_for(between(0, 60));
            daemon.signal(SIGKILL);
            REQUIRE(daemon.await_exit(10s).has_value());
            continue;
        }
        const auto ready = daemon.await_ready(20s);
        INFO(daemon.err());
        REQUIRE(ready.has_value());
        REQUIRE(ready->height >= witness.last_height());
        REQUIRE(daemon.err().find(kill == 0 ? "last stop: first start" : "last stop: unclean") != std::string::npos);
        client::RpcClient client(ready->url, 10s);
        check_txs(client, witness.take_fresh());
        run_load(daemon, ready->url, witness, between(20, 600));
    }

    Daemon daemon(start, logs);
    const auto ready = daemon.await_ready(20s);
    REQUIRE(ready.has_value());
    client::RpcClient client(ready->url, 10s);
    check_txs(client, witness.heights());
    for (const auto& [height, app_hash] : witness.app_hashes()) {
        if (height > 0) {
            REQUIRE(client.call("chain_block", {{"height", height}}).at("app_hash") == app_hash);
        }
    }
    MESSAGE("blocks: ", ready->height, ", transactions witnessed: ", witness.heights().size());
    CHECK(witness.heights().size() > 100);

    const auto asked_at = std::chrono::steady_clock::now();
    daemon.signal(SIGTERM);
    REQUIRE(daemon.await_exit(20s) == 0);
    CHECK(std::chrono::steady_clock::now() - asked_at < 5s);

    const auto replay_logs = directory.path() / "replay";
    Daemon replay({"replay", "--home", home.string(), "-o", "json"}, replay_logs);
    REQUIRE(replay.await_exit(60s) == 0);
    const Json replayed = Json::parse(replay.out());
    CHECK(replayed.at("ok") == true);
    CHECK(replayed.at("height").get<std::uint64_t>() >= ready->height);

    // The replay's last hash is what the node itself has at that height.
    Daemon again(start, logs);
    const auto ready_again = again.await_ready(20s);
    REQUIRE(ready_again.has_value());
    CHECK(ready_again->height == replayed.at("height"));
    CHECK(again.err().find("last stop: clean") != std::string::npos);
    client::RpcClient last(ready_again->url, 10s);
    CHECK(last.call("chain_block", {{"height", replayed.at("height")}}).at("app_hash") == replayed.at("app_hash"));
}
