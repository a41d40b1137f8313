// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include <client/http/http.hpp>
#include <consensus/cometbft/bundle.hpp>
#include <contracts/state/tx_error.hpp>
#include <core/base/base64.hpp>
#include <node/daemon/comet_driver.hpp>
#include <tests/unit/consensus/fake_engine.hpp>
#include <tests/unit/consensus/toy_machine.hpp>
#include <tests/unit/node/chain.hpp>

using namespace assay;
using namespace assay::node;
using namespace assay::node::test;
using namespace std::chrono_literals;
using nlohmann::json;
using solo::test::TemporaryDirectory;

namespace {

constexpr auto kPatience = 20s;

/// CometBFT's JSON-RPC as the driver uses it. What is broadcast is checked by the application, as CometBFT does.
class FakeRpc {
  public:
    explicit FakeRpc(std::uint16_t port = 0)
        : server_({.port = port}, [this](const http::HttpRequest& request) { return answer(request); }) {}

    std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }
    std::uint16_t port() const { return server_.port(); }
    /// Where CheckTx goes; without it everything is taken.
    void connect(const std::string& application) { application_.emplace(application); }
    /// Lets broadcasts wait, or go on.
    void set_open(bool is_open) {
        const std::lock_guard lock(mutex_);
        is_open_ = is_open;
        changed_.notify_all();
    }
    void refuse_next(int count, const std::string& error) {
        const std::lock_guard lock(mutex_);
        refusals_ = count;
        error_ = error;
    }
    /// Waits until so many broadcasts have arrived, refused ones included.
    void await(std::size_t count) {
        std::unique_lock lock(mutex_);
        REQUIRE(changed_.wait_for(lock, kPatience, [&] { return arrived_ >= count; }));
    }
    /// The broadcasts that were answered with CheckTx's code 0, once there are so many.
    std::vector<Bytes> taken(std::size_t count) {
        std::unique_lock lock(mutex_);
        REQUIRE(changed_.wait_for(lock, kPatience, [&] { return taken_.size() >= count; }));
        return taken_;
    }

  private:
    http::HttpResponse answer(const http::HttpRequest& request) {
        const json asked = json::parse(request.body);
        const auto respond = [](json members) {
            members.update({{"jsonrpc", "2.0"}, {"id", 1}});
            return http::HttpResponse{.body = members.dump()};
        };
        if (asked.at("method") != "broadcast_tx_sync") {
            return respond({{"result", json::object()}});
        }
        const Bytes tx = *from_base64(asked.at("params").at("tx").get<std::string>());
        std::unique_lock lock(mutex_);
        ++arrived_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return is_open_; });
        if (refusals_ > 0) {
            --refusals_;
            return respond({{"error", {{"code", -32603}, {"message", "Internal error"}, {"data", error_}}}});
        }
        const auto code =
            application_ ? application_->ask(cometbft::test::check_request(tx)).check_tx().code() : std::uint32_t{0};
        if (code == 0) {
            taken_.push_back(tx);
            changed_.notify_all();
        }
        return respond({{"result", {{"code", code}}}});
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_open_ = true;
    int refusals_ = 0;
    std::string error_;
    std::size_t arrived_ = 0;
    std::vector<Bytes> taken_;
    std::optional<cometbft::test::FakeConnection> application_;
    http::HttpServer server_;
};

struct Running {
    storage::Store store{"/memory", {.in_memory = true, .fault = {}}};
    Application app{store, [] { return std::uint64_t{0}; }, true};
    TemporaryDirectory directory;
    std::vector<std::string> notes;
    std::unique_ptr<CometDriver> driver;

    explicit Running(const std::string& engine_rpc) {
        app.init(make_genesis());
        CometOptions options;
        options.genesis = make_genesis();
        options.software_version = "1";
        options.listen = "tcp://127.0.0.1:0";
        options.engine_rpc = engine_rpc;
        options.state_sync.directory = directory.path() / "snapshots";
        options.on_note = [this](const std::string& note) { notes.push_back(note); };
        driver = std::make_unique<CometDriver>(app, std::move(options));
        driver->start();
    }
    Bytes submit(std::uint64_t nonce) {
        Bytes tx = transfer(key(1), nonce, key(5).account(), 1);
        const auto hash = driver->submit(tx);
        REQUIRE(hash.has_value());
        CHECK(*hash == contracts::tx_hash(tx));
        CHECK(driver->is_waiting(*hash));
        return tx;
    }
};

Bytes bundle(const std::vector<Bytes>& txs) {
    std::vector<std::shared_ptr<const Bytes>> parts;
    for (const Bytes& tx : txs) {
        parts.push_back(std::make_shared<const Bytes>(tx));
    }
    return cometbft::encode_bundle(parts);
}

}  // namespace

TEST_CASE("CMT-18: what is submitted while the engine is busy is answered at once and sent in one bundle") {
    FakeRpc rpc;
    Running node(rpc.url());
    rpc.connect(node.driver->listen_address());
    rpc.set_open(false);
    const Bytes first = node.submit(0);
    rpc.await(1);
    std::vector<Bytes> others;
    for (std::uint64_t nonce = 1; nonce <= 20; ++nonce) {
        others.push_back(node.submit(nonce));
    }
    CHECK(node.driver->waiting().txs == 21);
    rpc.set_open(true);
    const auto taken = rpc.taken(2);
    CHECK(taken[0] == first);
    CHECK(taken[1] == bundle(others));
    CHECK(node.driver->waiting().txs == 21);
    CHECK(node.driver->next_nonce(key(1).account()) == 21);
    CHECK(node.driver->tally().admitted == 21);
    CHECK(node.driver->tally().refused.empty());
}

TEST_CASE("CMT-18: what the mempool refuses is answered as before and never sent") {
    FakeRpc rpc;
    Running node(rpc.url());
    const auto submit = [&](const Bytes& tx) { return node.driver->submit(tx).error(); };
    CHECK(submit({1, 2}).code == static_cast<std::uint8_t>(contracts::TxError::kUndecodable));
    const Bytes gap = transfer(key(1), 1, key(5).account(), 1);
    CHECK(submit(gap).code == static_cast<std::uint8_t>(contracts::TxError::kNonceTooHigh));
    const Bytes tx = node.submit(0);
    CHECK(submit(tx).reason == consensus::RefusalReason::kAlreadyKnown);
    CHECK(rpc.taken(1) == std::vector<Bytes>{tx});
}

TEST_CASE("CMT-18: a caller is told when the engine cannot be reached, and nothing waits then") {
    std::uint16_t port = 0;
    {
        const FakeRpc gone;
        port = gone.port();
    }
    Running node("http://127.0.0.1:" + std::to_string(port));
    const Bytes tx = transfer(key(1), 0, key(5).account(), 1);
    CHECK(node.driver->submit(tx).error().reason == consensus::RefusalReason::kUnreachable);
    CHECK(node.driver->waiting().txs == 0);
    FakeRpc back(port);
    CHECK(node.driver->submit(tx).has_value());
    CHECK(back.taken(1) == std::vector<Bytes>{tx});
}

TEST_CASE("CMT-18: what an engine does not take is sent again until it does, before what came later") {
    auto rpc = std::make_unique<FakeRpc>();
    Running node(rpc->url());
    rpc->refuse_next(2, "mempool is full: number of txs 1 (max: 1)");
    std::vector<Bytes> txs{node.submit(0)};
    CHECK(rpc->taken(1) == txs);
    rpc->refuse_next(1, "mempool is still rechecking after a new committed block, so it is considered as full");
    txs.push_back(node.submit(1));
    CHECK(rpc->taken(2) == txs);
    CHECK(node.notes.empty());
}

TEST_CASE("CMT-18: what was answered before the engine went away is sent when it is back") {
    auto rpc = std::make_unique<FakeRpc>();
    Running node(rpc->url());
    node.submit(0);
    rpc->taken(1);
    const std::uint16_t port = rpc->port();
    rpc.reset();
    const Bytes tx = transfer(key(1), 1, key(5).account(), 1);
    const auto answer = node.driver->submit(tx);
    FakeRpc back(port);
    if (answer) {  // within a second of the engine's last answer
        CHECK(back.taken(1) == std::vector<Bytes>{tx});
    } else {
        CHECK(answer.error().reason == consensus::RefusalReason::kUnreachable);
        CHECK_FALSE(node.driver->is_waiting(contracts::tx_hash(tx)));
    }
}

TEST_CASE("CMT-18: an engine that will not take something is told to the operator once") {
    FakeRpc rpc;
    Running node(rpc.url());
    rpc.refuse_next(2, "tx too large");
    node.submit(0);
    rpc.await(1);
    node.submit(1);
    rpc.await(2);
    const Bytes third = node.submit(2);
    CHECK(rpc.taken(1) == std::vector<Bytes>{third});
    node.driver->stop();
    REQUIRE(node.notes.size() == 1);
    CHECK(node.notes.front().find("tx too large") != std::string::npos);
    CHECK(node.driver->waiting().txs == 3);
}

TEST_CASE("CMT-18: a node that stops sends first what is queued, and takes nothing more") {
    FakeRpc rpc;
    Running node(rpc.url());
    rpc.set_open(false);
    const Bytes first = node.submit(0);
    rpc.await(1);
    const std::vector<Bytes> others{node.submit(1), node.submit(2)};
    std::thread stopping([&] { node.driver->stop(); });
    node.driver->wait_for_block(Height{0}, kPatience);
    const auto late = node.driver->submit(transfer(key(1), 3, key(5).account(), 1));
    CHECK(late.error().reason == consensus::RefusalReason::kStopping);
    rpc.set_open(true);
    stopping.join();
    CHECK(rpc.taken(2) == std::vector<Bytes>{first, bundle(others)});
}

TEST_CASE("CMT-18: a node whose engine is gone stops without it") {
    auto rpc = std::make_unique<FakeRpc>();
    Running node(rpc->url());
    rpc->refuse_next(1'000'000, "mempool is full");
    node.submit(0);
    rpc->await(1);
    rpc.reset();
    const auto begin = std::chrono::steady_clock::now();
    node.driver->stop();
    CHECK(std::chrono::steady_clock::now() - begin < 10s);
}
