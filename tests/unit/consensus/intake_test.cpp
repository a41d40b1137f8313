// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include <consensus/cometbft/bundle.hpp>
#include <consensus/cometbft/handler.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/transaction/transaction.hpp>
#include <tests/unit/consensus/fake_engine.hpp>
#include <tests/unit/consensus/toy_machine.hpp>

namespace assay::cometbft {
namespace {

using contracts::TxError;
using solo::test::toy_tx;
using solo::test::ToyMachine;
using namespace test;

/// Counts what it is asked to check as new.
class CountingMachine final : public ToyMachine {
  public:
    consensus::CheckResult check(ByteView tx, const Hash256& hash, consensus::CheckKind kind) const override {
        checks += kind == consensus::CheckKind::kNew ? 1 : 0;
        return ToyMachine::check(tx, hash, kind);
    }
    mutable std::atomic<int> checks = 0;
};

struct Node {
    CountingMachine machine;
    Handler handler;

    explicit Node(HandlerOptions options = make_options()) : handler(machine, std::move(options)) {
        handler.handle(init_request("toy"));
    }
    static HandlerOptions make_options() {
        HandlerOptions out;
        out.genesis.chain_id = "toy";
        out.genesis.params.block_gas_max = 77'777;
        return out;
    }
    std::uint32_t check(const Bytes& entry, bool again = false) {
        return handler.handle(check_request(entry, again)).check_tx().code();
    }
    void block(std::int64_t height, const std::vector<Bytes>& txs) {
        handler.handle(finalize_request(height, txs));
        handler.handle(commit_request());
    }
    bool waits(const Bytes& tx) const { return handler.mempool().contains(contracts::tx_hash(tx)); }
};

/// Senders 1 to `count`, their transactions with `nonce`.
std::vector<Bytes> txs_of(std::uint8_t count, std::uint8_t nonce = 0) {
    std::vector<Bytes> out;
    for (std::uint8_t sender = 1; sender <= count; ++sender) {
        out.push_back(toy_tx(sender, nonce));
    }
    return out;
}

Bytes bundle(const std::vector<Bytes>& txs) {
    std::vector<std::shared_ptr<const Bytes>> parts;
    for (const Bytes& tx : txs) {
        parts.push_back(std::make_shared<const Bytes>(tx));
    }
    return encode_bundle(parts);
}

std::vector<Bytes> joined(std::vector<Bytes> first, const std::vector<Bytes>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

constexpr std::uint32_t number(TxError error) { return static_cast<std::uint32_t>(error); }

TEST_CASE("CMT-17: the parts of a bundle wait one by one, and blocks hold them and no bundle") {
    Node node;
    const auto txs = txs_of(8);
    const Bytes sent = bundle(txs);
    const auto answer = node.handler.handle(check_request(sent)).check_tx();
    CHECK(answer.code() == 0);
    CHECK(answer.gas_wanted() == 77'777);
    CHECK(node.handler.mempool().size().txs == 8);
    CHECK(node.handler.outbox().size() == 0);  // the engine passes the bundle on
    const auto proposal = node.handler.handle(prepare_request({sent}, -1)).prepare_proposal();
    REQUIRE(proposal.txs_size() == 8);
    for (const std::string& tx : proposal.txs()) {
        CHECK(node.waits(to_bytes(tx)));
    }
}

TEST_CASE("CMT-17: a bundle of which less than half is new is not passed on, and what is new of it is") {
    Node node;
    const auto known = txs_of(20);
    CHECK(node.check(bundle(known)) == 0);
    const auto fresh = txs_of(20, 1);
    // Whoever bundles again what travels already gets nowhere with it.
    CHECK(node.check(bundle({known[1], known[0]})) == kMostlyStale);
    const std::vector<Bytes> some(fresh.begin(), fresh.begin() + 8);
    CHECK(node.check(bundle(joined(known, some))) == kMostlyStale);
    CHECK(node.handler.mempool().size().txs == 28);
    const auto parcel = node.handler.outbox().take();
    REQUIRE(parcel.has_value());
    CHECK(parcel->bytes == bundle(some));
    CHECK(node.check(bundle(joined({known[0]}, {fresh[8], fresh[9], fresh[10]}))) == 0);
    CHECK(node.handler.outbox().size() == 0);
    // A part that comes twice is new once.
    CHECK(node.check(bundle({fresh[11], fresh[11], fresh[11], fresh[11]})) == kMostlyStale);
}

TEST_CASE("CMT-17: a bundle with a malformed part is refused, and what was taken before is passed on without it") {
    Node node;
    const auto txs = txs_of(6);
    CHECK(node.check(bundle({txs[0], txs[1], txs[2], {9, 9}, txs[3]})) == number(TxError::kUndecodable));
    CHECK(node.waits(txs[2]));
    CHECK_FALSE(node.waits(txs[3]));
    CHECK(node.handler.outbox().take()->bytes == bundle({txs[0], txs[1], txs[2]}));
    CHECK(node.check(bundle({txs[3], txs[4]})) == 0);
    Bytes cut = bundle({txs[4], txs[5]});
    cut.pop_back();
    CHECK(node.check(cut) == number(TxError::kUndecodable));
}

TEST_CASE("CMT-17: what the state refuses costs no signature, and keeps nothing else of the bundle out") {
    Node node;
    std::vector<Bytes> stale;
    for (std::uint8_t salt = 0; salt < 200; ++salt) {
        stale.push_back(toy_tx(1, 0, 0, salt));
    }
    node.block(1, {stale[0]});
    node.machine.checks = 0;
    CHECK(node.check(bundle(stale)) == kMostlyStale);
    CHECK(node.machine.checks == 0);
    const Bytes good = toy_tx(2, 0);
    CHECK(node.check(bundle(joined(stale, {good}))) == kMostlyStale);
    CHECK(node.machine.checks == 1);
    CHECK(node.waits(good));
    CHECK(node.handler.outbox().take()->bytes == good);
    CHECK(node.handler.mempool().tally().refused.size() == 1);
}

TEST_CASE("CMT-17: whoever sends one node what others refuse keeps nobody's transactions from them") {
    Node node;
    std::vector<Bytes> conflicts;
    for (std::uint8_t salt = 1; salt < 200; ++salt) {
        conflicts.push_back(toy_tx(1, 0, 0, salt));
    }
    CHECK(node.check(toy_tx(1, 0)) == 0);
    const auto honest = txs_of(5, 0);
    CHECK(node.check(bundle(joined(conflicts, {honest[3], honest[4]}))) == kMostlyStale);
    CHECK(node.waits(honest[3]));
    CHECK(node.handler.outbox().take()->bytes == bundle({honest[3], honest[4]}));
}

TEST_CASE("CMT-17: what a recent block has is not checked again") {
    Node node;
    const auto txs = txs_of(50);
    node.block(1, txs);
    node.machine.checks = 0;
    CHECK(node.check(bundle(txs)) == kMostlyStale);
    CHECK(node.machine.checks == 0);
    // Half of a bundle that arrives after the block with the other half.
    CHECK(node.check(bundle(joined(txs_of(20), txs_of(21, 1)))) == 0);
    CHECK(node.handler.mempool().size().txs == 21);
}

TEST_CASE("CMT-17: a transaction waits for its predecessor in another bundle, in whatever order they come") {
    Node node;
    CHECK(node.check(bundle({toy_tx(1, 2), toy_tx(1, 3), toy_tx(1, 5)})) == kMostlyStale);
    CHECK(node.handler.mempool().size().txs == 0);
    CHECK(node.check(bundle({toy_tx(1, 0), toy_tx(1, 1)})) == 0);
    CHECK(node.handler.mempool().size().txs == 4);
    // Nobody passed the first bundle on.
    CHECK(node.handler.outbox().take()->bytes == bundle({toy_tx(1, 2), toy_tx(1, 3)}));
    CHECK(node.check(toy_tx(1, 4)) == 0);
    CHECK(node.waits(toy_tx(1, 5)));
    CHECK(node.handler.outbox().take()->bytes == toy_tx(1, 5));
}

TEST_CASE("CMT-17: a transaction whose predecessors come in a block waits after it") {
    Node node;
    CHECK(node.check(bundle({toy_tx(1, 2), toy_tx(1, 3)})) == kMostlyStale);
    node.block(1, {toy_tx(1, 0)});
    CHECK(node.handler.mempool().size().txs == 0);
    node.block(2, {toy_tx(1, 1)});
    CHECK(node.handler.mempool().size().txs == 2);
    CHECK(node.handler.outbox().take()->bytes == bundle({toy_tx(1, 2), toy_tx(1, 3)}));
}

TEST_CASE("CMT-17: the engine keeps a bundle while half of it waits, and the rest is sent anew") {
    Node node;
    const auto txs = txs_of(10);
    const Bytes sent = bundle(txs);
    CHECK(node.check(sent) == 0);
    node.block(1, {txs[0], txs[1], txs[2], txs[3]});
    CHECK(node.check(sent, true) == 0);
    node.block(2, {txs[4], txs[5]});
    CHECK(node.check(sent, true) == kDropped);
    CHECK(node.check(sent, true) == kDropped);
    const auto rest = node.handler.outbox().take();
    REQUIRE(rest.has_value());
    CHECK(rest->bytes == bundle({txs[6], txs[7], txs[8], txs[9]}));
    CHECK(node.handler.outbox().size() == 0);
    CHECK(node.check(rest->bytes) == 0);
    node.block(3, {txs[6], txs[7], txs[8], txs[9]});
    CHECK(node.check(rest->bytes, true) == kDropped);
    CHECK(node.handler.outbox().size() == 0);
    CHECK(node.check(Bytes{kBundleTag}, true) == kDropped);
}

TEST_CASE("CMT-17: answers to duties travel in bundles like other transactions") {
    Node node;
    const Bytes answer = toy_tx(1, 7, 4);
    const Bytes sent = bundle({answer, toy_tx(2, 8, 4), toy_tx(3, 0)});
    CHECK(node.check(sent) == 0);
    CHECK(node.handler.mempool().size().txs == 3);
    CHECK(node.check(sent, true) == 0);
    node.machine.owed_from = 8;
    node.block(1, {toy_tx(3, 0)});
    CHECK(node.check(sent, true) == kDropped);
    CHECK(node.handler.outbox().take()->bytes == toy_tx(2, 8, 4));
    CHECK(node.check(bundle({answer, toy_tx(4, 0), toy_tx(5, 0), toy_tx(6, 0)})) == 0);
    CHECK_FALSE(node.waits(answer));
}

TEST_CASE("CMT-18: what this node sends is let through, and the same from others is not") {
    Node node;
    const auto txs = txs_of(3);
    for (const Bytes& tx : txs) {
        const auto submitted = node.handler.submit(tx);
        REQUIRE(submitted.has_value());
        CHECK(submitted->hash == contracts::tx_hash(tx));
    }
    CHECK(node.handler.submit(txs[0]).error().reason == consensus::RefusalReason::kAlreadyKnown);
    const auto parcel = node.handler.outbox().take();
    REQUIRE(parcel.has_value());
    CHECK(node.check(parcel->bytes) == 0);
    node.handler.outbox().finish();
    CHECK(node.check(parcel->bytes) == kMostlyStale);

    REQUIRE(node.handler.submit(toy_tx(4, 0)).has_value());
    const auto single = node.handler.outbox().take();
    REQUIRE(single.has_value());
    CHECK(node.check(single->bytes) == 0);
    node.handler.outbox().finish();
    CHECK(node.check(single->bytes) == kWaitsAlready);
    // A peer cannot make transactions that came in a bundle travel once more, one by one.
    CHECK(node.check(txs[1]) == kWaitsAlready);
}

TEST_CASE("CMT-18: a user is told what a transaction lacks, and it is not sent") {
    auto options = Node::make_options();
    options.mempool.txs_max = 1;
    Node node(std::move(options));
    CHECK(node.handler.submit({1, 2, 3}).error().code == number(TxError::kUndecodable));
    CHECK(node.handler.submit(toy_tx(1, 1)).error().code == number(TxError::kNonceTooHigh));
    CHECK(node.handler.submit(toy_tx(1, 0)).has_value());
    CHECK(node.handler.submit(toy_tx(2, 0)).error().reason == consensus::RefusalReason::kFull);
    CHECK(node.handler.outbox().size() == 1);
}

}  // namespace
}  // namespace assay::cometbft
