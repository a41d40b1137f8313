// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include <consensus/solo/block_log.hpp>
#include <consensus/solo/engine.hpp>
#include <core/codec/borsh.hpp>
#include <core/merkle/jmt.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/state/tx_error.hpp>
#include <node/daemon/node.hpp>
#include <tests/unit/consensus/toy_machine.hpp>
#include <tests/unit/node/chain.hpp>

using namespace assay;
using namespace assay::node;
using namespace assay::node::test;
using namespace std::chrono_literals;
using assay::solo::test::TemporaryDirectory;

namespace {

NodeOptions options(const std::filesystem::path& root) {
    Config config;
    config.block_interval_ms = 2;
    return {.home = {root}, .config = config, .genesis = make_genesis(), .key = key(9), .on_failure = {}};
}

/// Submits and waits until the transaction is in a block.
StoredTx execute(Node& node, const Bytes& tx) {
    const auto hash = node.submit(tx);
    REQUIRE(hash.has_value());
    for (int i = 0; i < 1'000; ++i) {
        if (auto stored = node.tx(*hash)) {
            return *std::move(stored);
        }
        node.wait_for_block(node.status().height, 1s);
    }
    FAIL("not executed");
    return {};
}

}  // namespace

TEST_CASE("a node executes what is submitted and answers from the committed state") {
    const TemporaryDirectory directory;
    Node node(options(directory.path()));
    CHECK(node.status().last_stop == LastStop::kFirstStart);
    CHECK(node.status().height.value == 0);
    CHECK(node.params() == contracts::Params{});
    node.start();
    const AccountId alice = key(1).account();
    const AccountId bob = key(8).account();
    CHECK(node.next_nonce(alice) == 0);
    const Bytes tx = transfer(key(1), 0, bob, 77);
    const StoredTx stored = execute(node, tx);
    CHECK(stored.bytes == tx);
    CHECK(stored.receipt.code == 0);
    CHECK(stored.receipt.action == "transfer");
    CHECK_FALSE(node.in_mempool(contracts::tx_hash(tx)));
    CHECK(node.next_nonce(alice) == 1);
    CHECK(node.submit(tx).error().code == static_cast<std::uint8_t>(contracts::TxError::kNonceTooLow));
    CHECK(codec::decode<contracts::Account>(*node.state(contracts::keys::account(bob)))->balance.grains == 77);

    const auto block = node.block(stored.height);
    REQUIRE(block.has_value());
    CHECK(block->hash == solo::block_hash(block->signed_block.value().header));
    CHECK(solo::is_authentic(*block->signed_block));
    CHECK(block->receipts.at(stored.index).tx == contracts::tx_hash(tx));
    CHECK_FALSE(node.block({0}).has_value());
    CHECK_FALSE(node.block({1'000'000}).has_value());

    const auto proven = node.prove(contracts::keys::account(bob), stored.height);
    CHECK(proven.app_hash == block->app_hash);
    CHECK(merkle::verify_proof(block->app_hash, contracts::keys::account(bob), proven.value, proven.proof).has_value());
    CHECK_THROWS_AS(node.prove({1}, Height{1'000'000}), consensus::HeightNotKept);

    execute(node, transfer(key(1), 1, bob, 1));
    const auto sent = node.account_history(alice, 0, 1);
    REQUIRE(sent.items.size() == 1);
    CHECK(sent.items[0].bytes == tx);
    REQUIRE(sent.next.has_value());
    CHECK(node.account_history(alice, *sent.next, 9).items.size() == 1);
    CHECK(node.tasks(0, 10, Order::kOldest).items.empty());
    CHECK_FALSE(node.one_step_us({}).has_value());
    node.stop();
    CHECK(node.submit(transfer(key(1), 2, bob, 1)).error().reason == consensus::RefusalReason::kStopping);
}

TEST_CASE("no row of a listing reads a block: rows are whole where their blocks are not") {
    const TemporaryDirectory directory;
    const auto with = options(directory.path());
    Node node(with);
    node.start();
    const AccountId alice = key(1).account();
    const Bytes first = transfer(key(1), 0, key(8).account(), 1);
    const Bytes second = transfer(key(1), 1, key(8).account(), 2);
    const Height height = execute(node, first).height;
    execute(node, second);
    node.stop();
    const auto damage = [&](const Bytes& tx, std::ptrdiff_t offset) {
        Bytes log = solo::test::read_file(with.home.block_log());
        const auto at = std::search(log.begin(), log.end(), tx.begin(), tx.end());
        REQUIRE(at != log.end());
        *(at + offset) ^= 1U;
        // In place: the node has the file open.
        std::fstream file(with.home.block_log(), std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(at - log.begin() + offset);
        file.put(static_cast<char>(*(at + offset)));
    };
    damage(first, -20);  // in the signature of the block
    CHECK_THROWS_AS(node.block(height), solo::BlockLogError);
    CHECK(node.tx(contracts::tx_hash(first))->bytes == first);
    CHECK(node.account_history(alice, 0, 9).items.size() == 2);
    damage(second, 3);
    CHECK_THROWS_AS(node.tx(contracts::tx_hash(second)), storage::StorageError);
    CHECK(node.tx(contracts::tx_hash(first))->bytes == first);
}

TEST_CASE("a stopped node goes on where it was and reports how it was stopped") {
    const TemporaryDirectory directory;
    Height height;
    Hash256 app_hash;
    {
        Node node(options(directory.path()));
        node.start();
        execute(node, transfer(key(1), 0, key(2).account(), 5));
        node.stop();
        height = node.status().height;
        app_hash = node.status().app_hash;
    }
    {
        const Node node(options(directory.path()));
        CHECK(node.status().last_stop == LastStop::kClean);
        CHECK(node.status().height == height);
        CHECK(node.status().app_hash == app_hash);
        CHECK(node.start_notes().empty());
        CHECK_THROWS_AS(Node(options(directory.path())), HomeError);
    }
    // The database is only a copy of what the log says.
    std::filesystem::remove_all(Home{directory.path()}.db());
    {
        const Node node(options(directory.path()));
        CHECK(node.status().last_stop == LastStop::kUnclean);
        CHECK(node.start_notes().at(0) == "replayed " + std::to_string(height.value) + " blocks from the log");
        CHECK(node.status().app_hash == app_hash);
    }
    std::filesystem::remove(Home{directory.path()}.block_log());
    CHECK_THROWS_AS(Node(options(directory.path())), solo::HandshakeError);
}

TEST_CASE("a node refuses a genesis or a key that is not its chain's") {
    const TemporaryDirectory directory;
    {
        Node node(options(directory.path()));
        node.start();
        node.wait_for_block({0}, 10s);
    }
    NodeOptions other_genesis = options(directory.path());
    other_genesis.genesis.balances.begin()->second.grains += 1;
    CHECK_THROWS_WITH(Node(std::move(other_genesis)), doctest::Contains("another genesis"));
    NodeOptions other_key = options(directory.path());
    other_key.key = key(7);
    CHECK_THROWS_AS(Node(std::move(other_key)), solo::HandshakeError);
}
