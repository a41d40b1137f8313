// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <core/codec/borsh.hpp>
#include <contracts/params/gas.hpp>
#include <contracts/state/tx_error.hpp>
#include <client/rpc_client.hpp>
#include <node/rpc/server.hpp>
#include <tests/unit/rpc/fake_node.hpp>

using namespace assay;
using namespace assay::contracts;
using assay::client::RpcClient;
using assay::rpc::test::FakeNode;
using assay::rpc::test::id;
using assay::rpc::test::key;
using nlohmann::json;

namespace {

struct Running {
    FakeNode node;
    rpc::RpcServer server{rpc::RpcOptions{}, node};
    std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
    RpcClient client{url};
};

const Action kTransfer = Transfer{key(2).account(), Amount{7}};
constexpr auto kSoon = std::chrono::milliseconds(400);

}  // namespace

TEST_CASE("the server answers JSON-RPC, a page and health") {
    Running running;
    CHECK(http::http_get(running.url).content_type == "text/html; charset=utf-8");
    CHECK(http::http_get(running.url + "livez").status == 200);
    CHECK(json::parse(http::http_get(running.url + "readyz").body).at("ready") == true);
    CHECK(http::http_get(running.url + "nothing").status == 404);
    CHECK(http::http_post(running.url + "nothing", "{}").status == 404);
    const auto notified = http::http_post(running.url, R"({"jsonrpc":"2.0","method":"node_status"})");
    CHECK(notified.status == 204);
    CHECK(notified.body.empty());
    const auto answered = http::http_post(running.url, R"({"jsonrpc":"2.0","id":1,"method":"node_status"})");
    CHECK(answered.status == 200);
    CHECK(answered.content_type == "application/json");
    const auto large = http::http_post(running.url, std::string((1U << 20U) + 1, ' '));
    CHECK(large.status == 413);
    CHECK(json::parse(large.body).at("error").at("data").at("name") == "limit_exceeded");
}

TEST_CASE("a stopping server lets go of whoever waits") {
    Running running;
    std::thread waiter([&] {
        try {
            running.client.wait_for_block(Height{7}, std::chrono::seconds(30));
        } catch (const std::exception&) {
        }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto start = std::chrono::steady_clock::now();
    running.server.stop();
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(3));
    waiter.join();
    CHECK_THROWS_AS(running.client.height(), http::NetError);
}

TEST_CASE("typed reads decode what the node has") {
    Running running;
    CHECK(running.client.height() == Height{7});
    CHECK(running.client.chain_id() == "fake-1");
    CHECK(running.client.params() == Params{});
    CHECK_FALSE(running.client.task(id<TaskId>(1)));
    CHECK_FALSE(running.client.checkpoint(id<TaskId>(1), 0));
    CHECK_FALSE(running.client.dispute(id<DisputeId>(1)));
    for (std::uint8_t i = 1; i <= 150; ++i) {
        Task task;
        task.id = id<TaskId>(i);
        task.spec.steps = 1;
        task.spec.checkpoint_interval = 1;
        task.spec.title = std::to_string(i);
        running.node.put(keys::task(task.id), codec::encode(task));
        running.node.task_ids.push_back(task.id);
    }
    CHECK(running.client.tasks() == running.node.task_ids);
    CHECK(running.client.task(id<TaskId>(7))->spec.title == "7");
    running.node.put(keys::checkpoint(id<TaskId>(1), 0), codec::encode(Checkpoint{id<Hash256>(1), {}, Height{2}, {}}));
    CHECK(running.client.checkpoint(id<TaskId>(1), 0)->height == Height{2});
    Dispute dispute;
    dispute.id = id<DisputeId>(1);
    dispute.segment = 3;
    running.node.put(keys::dispute(dispute.id), codec::encode(dispute));
    running.node.dispute_ids.push_back(dispute.id);
    CHECK(running.client.dispute(dispute.id)->segment == 3);
    CHECK(running.client.disputes(id<TaskId>(1)) == running.node.dispute_ids);
}

TEST_CASE("an error of the node keeps its code, name and data") {
    Running running;
    try {
        running.client.call("task_get", {{"task", "short"}});
        FAIL("answered");
    } catch (const client::RpcError& error) {
        CHECK(error.code == -32602);
        CHECK(error.name == "invalid_params");
        CHECK(error.data.contains("hint"));
    }
}

TEST_CASE("FEE-1: sending signs with the next nonce and half more than the least fee and waits for the block") {
    Running running;
    for (std::uint64_t nonce = 0; nonce < 3; ++nonce) {
        const client::TxResult result = running.client.send(key(1), kTransfer);
        CHECK(result.code == 0);
        CHECK(result.error.empty());
        CHECK(result.height == Height{8 + nonce});
        const auto tx = running.node.tx(result.hash);
        REQUIRE(tx);
        const auto decoded = codec::decode<Tx>(tx->bytes);
        CHECK(decoded->body.nonce == nonce);
        const std::uint64_t gas = gas_of(*decoded, tx->bytes.size(), Params{});
        CHECK(decoded->body.fee.grains == 50 * gas + 25 * gas);
        CHECK(check_stateless(decode_tx(tx->bytes, result.hash, Params{}).value(), "fake-1").has_value());
    }
    running.node.dispute_ids.push_back(id<DisputeId>(1));
}

TEST_CASE(
    "POOL-2: a transaction that blocks leave out offers more under the same nonce, up to what is allowed" *
    doctest::test_suite("full")
) {
    Running running;
    running.node.fee_least = 100'000;
    CHECK(running.client.send(key(1), kTransfer).code == 0);
    CHECK(running.node.moved() == Amount{7});
    CHECK(running.node.next_nonce(key(1).account()) == 1);
    running.node.fee_least = 2 * client::kFeeMax.grains;
    CHECK_THROWS_AS(running.client.send(key(1), kTransfer, std::chrono::seconds(2)), client::TxUncertain);
    running.node.fee_least = 0;
    running.client.wait_for_block(running.client.height(), std::chrono::seconds(1));
    const auto tx = codec::decode<Tx>(running.node.block(running.client.height())->signed_block->txs.at(0));
    CHECK(tx->body.fee.grains <= client::kFeeMax.grains);
    CHECK(tx->body.fee.grains > client::kFeeMax.grains / 2);
    CHECK(running.node.moved() == Amount{14});
}

TEST_CASE("DTY-2: an answer names its deadline, costs nothing, and is signed anew with each block that leaves it out") {
    Running running;
    std::set<Bytes> shown;
    running.node.refuse = [&](const Bytes& tx) {
        shown.insert(tx);
        return std::optional<consensus::Refusal>();
    };
    running.node.owed_at = 90;
    running.node.answers_left_out = 3;
    const client::TxResult result = running.client.answer(key(1), Contribute{}, "fake-1", Height{90});
    CHECK(result.code == 0);
    CHECK(shown.size() == 4);
    for (const Bytes& tx : shown) {
        const auto decoded = codec::decode<Tx>(tx);
        CHECK(decoded->body.fee == Amount{});
        CHECK(decoded->body.nonce == 90);
        CHECK(check_stateless(decode_tx(tx, tx_hash(tx), Params{}).value(), "fake-1").has_value());
    }
    CHECK(running.node.next_nonce(key(1).account()) == 0);
}

TEST_CASE("OPR-2: a client signs and answers for an owner with the operator's key and nonce") {
    Running running;
    const AccountId owner = key(9).account();
    std::vector<TxBody> bodies;
    running.node.refuse = [&](const Bytes& tx) {
        bodies.push_back(codec::decode<Tx>(tx)->body);
        return std::optional<consensus::Refusal>();
    };
    running.node.owed_at = 90;
    running.client.answer(key(1), Contribute{}, "fake-1", Height{90}, std::chrono::seconds(5), owner);
    client::SigningBase base{.chain_id = "fake-1", .params = Params{}, .base_fee = Amount{1}};
    base.owner = owner;
    running.client.send(key(1), LeaveBeacon{}, base);
    REQUIRE(bodies.size() >= 2);
    for (const TxBody& body : bodies) {
        CHECK(body.owner == owner);
        CHECK(body.sender == key(1).account());
        CHECK(body.actor() == owner);
    }
    CHECK(running.node.next_nonce(key(1).account()) == 1);
    CHECK(running.node.next_nonce(owner) == 0);
}

TEST_CASE("DTY-2: an answer that nobody owes, or owes no longer, is an error" * doctest::test_suite("full")) {
    Running running;
    const auto refused = [&] {
        try {
            running.client.answer(key(1), Contribute{}, "fake-1", Height{90}, std::chrono::seconds(5));
            FAIL("accepted");
        } catch (const client::RpcError& error) {
            CHECK(error.name == "tx_rejected");
            CHECK(error.data.at("reason") == "not_owed");
        }
    };
    refused();
    running.node.owed_at = 90;
    running.node.before_block = [&] {  // the duty ends in another way while the answer waits
        running.node.owed_at = 1;
        running.node.drop_mempool();
    };
    refused();
}

TEST_CASE("a transaction that fails in its block is a result with a code") {
    Running running;
    running.node.receipt_code = static_cast<std::uint8_t>(TxError::kInsufficientBalance);
    const client::TxResult result = running.client.send(key(1), kTransfer);
    CHECK(result.code == running.node.receipt_code);
    CHECK(result.error == "insufficient_balance");
}

TEST_CASE("a transaction that the mempool refuses is an error") {
    Running running;
    running.node.refuse = [](const Bytes&) {
        return std::optional(consensus::Refusal{.code = static_cast<std::uint8_t>(TxError::kCannotPayFee)});
    };
    try {
        running.client.send(key(1), kTransfer);
        FAIL("accepted");
    } catch (const client::RpcError& error) {
        CHECK(error.name == "tx_rejected");
        CHECK(error.data.at("reason") == "cannot_pay_fee");
    }
}

TEST_CASE("one send signs once, whatever the receipt says of an executed transaction") {
    Running running;
    running.node.receipt_code = static_cast<std::uint8_t>(TxError::kNonceTooLow);  // of the second copy in its block
    const Action hundred = Transfer{key(2).account(), Amount{100}};
    CHECK_THROWS_AS(running.client.send(key(1), hundred), client::TxUncertain);
    CHECK(running.node.moved() == Amount{100});
    CHECK(running.node.next_nonce(key(1).account()) == 1);
}

TEST_CASE("a nonce that somebody else took is not followed by a second signature") {
    Running running;
    std::set<Bytes> seen;
    running.node.refuse = [&](const Bytes& tx) {
        seen.insert(tx);
        running.node.take_nonce(key(1).account());
        return std::optional<consensus::Refusal>();
    };
    CHECK_THROWS_AS(running.client.send(key(1), kTransfer), client::TxUncertain);
    CHECK(seen.size() == 1);
    CHECK(running.node.moved() == Amount{});
}

TEST_CASE("threads that send with one key do not take each other's nonces") {
    Running running;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] { RpcClient(running.url).send(key(1), kTransfer); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(running.node.moved() == Amount{28});
}

TEST_CASE("a transaction that the node has already is waited for") {
    Running running;
    running.node.refuse = [&](const Bytes& tx) {
        running.node.refuse = nullptr;
        CHECK(running.node.submit(tx).has_value());
        return std::optional(consensus::Refusal{.reason = consensus::RefusalReason::kAlreadyKnown});
    };
    CHECK(running.client.send(key(1), kTransfer).code == 0);
}

TEST_CASE("a transaction that leaves the mempool is submitted again, byte for byte" * doctest::test_suite("full")) {
    Running running;
    std::set<Bytes> seen;
    running.node.refuse = [&](const Bytes& tx) {
        seen.insert(tx);
        return std::optional<consensus::Refusal>();
    };
    int drops = 2;
    running.node.before_block = [&] {
        if (drops > 0) {
            --drops;
            running.node.drop_mempool();
        }
    };
    CHECK(running.client.send(key(1), kTransfer).code == 0);
    CHECK(seen.size() == 1);
    CHECK(running.node.moved() == Amount{7});
}

TEST_CASE(
    "a transaction that leaves the mempool for another of its nonce is given up, not signed again" *
    doctest::test_suite("full")
) {
    Running running;
    running.node.before_block = [&] {
        running.node.drop_mempool();
        if (running.node.next_nonce(key(1).account()) == 0) {
            running.node.take_nonce(key(1).account());
        }
    };
    CHECK_THROWS_AS(running.client.send(key(1), kTransfer), client::TxUncertain);
    CHECK(running.node.moved() == Amount{});
    CHECK(running.node.next_nonce(key(1).account()) == 1);
}

TEST_CASE("a transaction that a block takes between two questions is found") {
    Running running;
    running.node.hidden_lookups = 3;  // so many tell the client that it is gone; then it asks for the nonce
    CHECK(running.client.send(key(1), kTransfer).code == 0);
    CHECK(running.node.moved() == Amount{7});
}

TEST_CASE("no block in time is a timeout that names the transaction") {
    Running running;
    running.node.makes_blocks = false;
    try {
        running.client.send(key(1), kTransfer, kSoon);
        FAIL("no block was made");
    } catch (const http::NetTimeout& error) {
        CHECK(std::string(error.what()).find("not in a block") != std::string::npos);
    }
    CHECK(running.node.next_nonce(key(1).account()) == 1);
}

TEST_CASE("a listing that a lying node never ends is ended" * doctest::test_suite("full")) {
    std::atomic<int> calls = 0;
    std::atomic<bool> is_empty = true;
    http::HttpServer liar({}, [&](const http::HttpRequest&) {
        json items = json::array();
        for (int i = 0; i < (is_empty ? 0 : 20'000); ++i) {
            items.push_back({{"id", std::string(64, 'a')}});
        }
        ++calls;
        const json answer{{"jsonrpc", "2.0"}, {"id", 1}, {"result", {{"tasks", items}, {"next_cursor", "on"}}}};
        return http::HttpResponse{.body = answer.dump()};
    });
    RpcClient client("http://127.0.0.1:" + std::to_string(liar.port()) + "/");
    CHECK_THROWS_AS(client.tasks(), client::RpcError);
    CHECK(calls <= 1'001);
    is_empty = false;
    calls = 0;
    CHECK_THROWS_AS(client.tasks(), client::RpcError);
    CHECK(calls <= 51);
}

TEST_CASE("a fee above what the user allows is not signed") {
    Running running;
    const client::SigningBase base{.chain_id = "fake-1", .params = {}, .base_fee = {100}, .nonce = 0};
    CHECK_THROWS_AS(running.client.send(key(1), kTransfer, base, Amount{1'000}), client::FeeTooHigh);
    CHECK(running.node.next_nonce(key(1).account()) == 0);
    const client::SignedTx one = running.client.sign(key(1), kTransfer, base, client::kFeeMax);
    CHECK(one.bytes != running.client.sign(key(1), kTransfer, base, client::kFeeMax).bytes);  // auxiliary randomness
    CHECK(
        running.client
            .sign(
                key(1), kTransfer, {.chain_id = "fake-1", .params = {}, .base_fee = {100}, .nonce = 4}, client::kFeeMax
            )
            .nonce == 4
    );
}

TEST_CASE("nobody there is a NetError, something else there too") {
    RpcClient nobody("http://127.0.0.1:1/");
    CHECK_THROWS_AS(nobody.height(), http::NetError);
    http::HttpServer web({}, [](const http::HttpRequest&) {
        http::HttpResponse response;
        response.body = "<html>";
        return response;
    });
    RpcClient other("http://127.0.0.1:" + std::to_string(web.port()) + "/");
    CHECK_THROWS_AS(other.height(), http::NetError);
}
