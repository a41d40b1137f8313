// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <memory>
#include <random>

#include <consensus/cometbft/bundle.hpp>
#include <consensus/cometbft/handler.hpp>
#include <consensus/solo/engine.hpp>
#include <core/codec/borsh.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/state/tx_error.hpp>
#include <node/daemon/application.hpp>
#include <tests/unit/consensus/fake_engine.hpp>
#include <tests/unit/consensus/ics23_check.hpp>
#include <tests/unit/consensus/toy_machine.hpp>
#include <tests/unit/node/chain.hpp>

using namespace assay;
using namespace assay::node;
using namespace assay::node::test;

namespace {

storage::StoreOptions in_memory() { return {.in_memory = true, .fault = {}}; }

/// The application behind ABCI.
struct Abci {
    storage::Store store{"/memory", in_memory()};
    Application app{store, [] { return std::uint64_t{0}; }, true};
    cometbft::Handler handler{app, {.genesis = make_genesis(), .software_version = "1", .on_commit = {}}};

    Abci() { handler.handle(cometbft::test::init_request(kChainId)); }

    /// Has the engine decide what another engine decided.
    std::string decide(const consensus::FinalizeRequest& block) {
        abci::Request request =
            cometbft::test::finalize_request(static_cast<std::int64_t>(block.height.value), block.txs);
        auto& message = *request.mutable_finalize_block();
        message.set_hash(std::string(block.block_hash.data.begin(), block.block_hash.data.end()));
        message.mutable_time()->set_seconds(static_cast<std::int64_t>(block.time_ms / 1'000));
        message.mutable_time()->set_nanos(static_cast<std::int32_t>(block.time_ms % 1'000 * 1'000'000));
        const auto response = handler.handle(request);
        handler.handle(cometbft::test::commit_request());
        return response.finalize_block().app_hash();
    }
};

/// Random blocks: transfers and bonds, some of them wrong, and bytes that are no transactions.
std::vector<Bytes> random_txs(std::mt19937_64& random, std::array<std::uint64_t, 4>& nonces) {
    std::vector<Bytes> out;
    const auto count = random() % 6;
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto sender = static_cast<std::uint8_t>(random() % 4 + 1);
        std::uint64_t& nonce = nonces[sender - 1U];
        switch (random() % 5) {
            case 0:
                out.push_back(Bytes(random() % 40, static_cast<std::uint8_t>(random())));
                break;
            case 1:
                out.push_back(transfer(key(sender), nonce + 3, key(5).account(), 1));
                break;
            case 2:
                out.push_back(transfer(key(sender), nonce++, key(5).account(), kRich * 2));
                break;
            case 3:
                out.push_back(make_tx(
                    key(sender), nonce++, contracts::Bond{contracts::Role::kVerifier, {random() % 1'000'000 + 1}}
                ));
                break;
            default:
                out.push_back(transfer(key(sender), nonce++, key(6).account(), random() % 1'000));
                break;
        }
    }
    return out;
}

}  // namespace

TEST_CASE("CMT-10: the embedded engine's blocks give the same app hash at every height through ABCI") {
    const solo::test::TemporaryDirectory directory;
    storage::Store store("/memory", in_memory());
    Application app(store, [] { return std::uint64_t{0}; });
    app.init(make_genesis());
    solo::BlockLog log(directory.path() / "blocks.log");
    std::uint64_t now = 1'700'000'000'000;
    solo::EngineOptions options{
        .chain_id = kChainId,
        .proposer = key(9),
        .mempool = {},
        .now_ms = [&now] { return now += 777; },
        .signing_randomness = [] { return std::array<std::uint8_t, 32>{}; },
        .after_stage = {},
        .on_failure = {}};
    solo::SoloEngine engine(app, log, std::move(options));
    std::mt19937_64 random(11);
    std::array<std::uint64_t, 4> nonces{};
    Abci abci;
    std::uint64_t failed = 0;
    for (std::uint64_t height = 1; height <= 60; ++height) {
        for (Bytes& tx : random_txs(random, nonces)) {
            failed += engine.submit(std::move(tx)) ? 0U : 1U;
        }
        engine.make_block();
        const auto record = log.read({height});
        REQUIRE(record.has_value());
        CHECK(abci.decide(solo::to_request(record->block)) == string_of(app.info().app_hash));
    }
    CHECK(failed > 0);
    CHECK(abci.app.info().height == app.info().height);
}

TEST_CASE("CMT-10: what a proposer puts into a block although no mempool would take it executes alike") {
    Abci abci;
    storage::Store store("/memory", in_memory());
    Application direct(store, [] { return std::uint64_t{0}; });
    direct.init(make_genesis());
    std::mt19937_64 random(12);
    std::array<std::uint64_t, 4> nonces{};
    for (std::uint64_t height = 1; height <= 40; ++height) {
        const auto block = make_block(height, random_txs(random, nonces));
        const auto result = direct.finalize(block);
        direct.commit();
        CHECK(abci.decide(block) == string_of(result.app_hash));
    }
}

TEST_CASE("CMT-16: a proposal that holds a bundle is refused, and one of its parts is not") {
    Abci abci;
    const std::vector<Bytes> txs{transfer(key(1), 0, key(5).account(), 7), transfer(key(1), 1, key(5).account(), 7)};
    const Bytes bundle =
        cometbft::encode_bundle({std::make_shared<const Bytes>(txs[0]), std::make_shared<const Bytes>(txs[1])});
    const auto status_of = [&](const std::vector<Bytes>& proposed) {
        return abci.handler.handle(cometbft::test::process_request(1, proposed)).process_proposal().status();
    };
    CHECK(abci.handler.handle(cometbft::test::check_request(bundle)).check_tx().code() == 0);
    CHECK(status_of(txs) == abci::ResponseProcessProposal::ACCEPT);
    CHECK(status_of({bundle}) == abci::ResponseProcessProposal::REJECT);
    CHECK(status_of({txs[0], bundle}) == abci::ResponseProcessProposal::REJECT);
    const auto proposal = abci.handler.handle(cometbft::test::prepare_request({bundle}, -1)).prepare_proposal();
    REQUIRE(proposal.txs_size() == 2);
    CHECK(to_bytes(proposal.txs(0)) == txs[0]);
    CHECK(to_bytes(proposal.txs(1)) == txs[1]);
}

TEST_CASE("CMT-17: the first part of a bundle whose signature is wrong ends it") {
    Abci abci;
    std::vector<std::shared_ptr<const Bytes>> parts;
    for (std::uint64_t nonce = 0; nonce < 4; ++nonce) {
        Bytes tx = transfer(key(1), nonce, key(5).account(), 7);
        tx.back() ^= nonce == 2 ? 1U : 0U;
        parts.push_back(std::make_shared<const Bytes>(std::move(tx)));
    }
    const auto answer = abci.handler.handle(cometbft::test::check_request(cometbft::encode_bundle(parts))).check_tx();
    CHECK(answer.code() == static_cast<std::uint32_t>(contracts::TxError::kBadSignature));
    CHECK(abci.handler.mempool().next_nonce(key(1).account()) == 2);
}

TEST_CASE("CMT-17: transfers of one sender wait, in whatever order their bundles arrive") {
    Abci abci;
    const auto bundle_of = [](std::uint64_t first, std::uint64_t count) {
        std::vector<std::shared_ptr<const Bytes>> parts;
        for (std::uint64_t nonce = first; nonce < first + count; ++nonce) {
            parts.push_back(std::make_shared<const Bytes>(transfer(key(1), nonce, key(5).account(), 7)));
        }
        return cometbft::encode_bundle(parts);
    };
    const auto check = [&](const Bytes& bundle) {
        return abci.handler.handle(cometbft::test::check_request(bundle)).check_tx().code();
    };
    CHECK(check(bundle_of(20, 10)) == cometbft::kMostlyStale);
    CHECK(check(bundle_of(10, 10)) == cometbft::kMostlyStale);
    CHECK(check(bundle_of(0, 10)) == 0);
    CHECK(abci.handler.mempool().next_nonce(key(1).account()) == 30);
    CHECK(abci.handler.outbox().size() == 20);
}

TEST_CASE("a kept block is the one that was executed") {
    Abci abci;
    const auto block = make_block(1, {transfer(key(1), 0, key(5).account(), 7), Bytes{1, 2, 3}});
    abci.decide(block);
    const auto kept = abci.app.kept_block({1});
    CHECK(kept.hash == block.block_hash);
    CHECK(kept.time_ms == block.time_ms);
    CHECK(kept.txs == block.txs);
    CHECK_THROWS_AS(abci.app.kept_block({2}), consensus::HeightNotKept);
    CHECK(abci.app.app_hash_at({1}) == abci.app.info().app_hash);
    CHECK_THROWS_AS(abci.app.app_hash_at({2}), consensus::HeightNotKept);
}

namespace {

abci::ResponseQuery ask(Abci& abci, const std::string& key, std::int64_t height) {
    abci::Request request;
    request.mutable_query()->set_path("/store");
    request.mutable_query()->set_data(key);
    request.mutable_query()->set_prove(true);
    request.mutable_query()->set_height(height);
    return abci.handler.handle(request).query();
}

bool is_proven(const abci::ResponseQuery& answer, const Hash256& app_hash) {
    const auto value = answer.value().empty() ? std::nullopt : std::optional(answer.value());
    return answer.proof_ops().ops_size() == 1 && answer.proof_ops().ops(0).type() == "ics23:jmt" &&
           cometbft::test::ics23_accepts(string_of(app_hash), answer.key(), value, answer.proof_ops().ops(0).data());
}

}  // namespace

TEST_CASE("CMT-11: queries through ABCI prove slots there and not there at every height kept") {
    Abci abci;
    std::vector<std::string> keys;
    for (std::uint8_t i = 1; i <= 20; ++i) {
        const Bytes slot = contracts::keys::account(key(i).account());
        keys.emplace_back(slot.begin(), slot.end());
    }
    for (std::uint8_t height = 1; height <= 10; ++height) {
        const AccountId newcomer = key(static_cast<std::uint8_t>(height + 10)).account();
        abci.decide(make_block(height, {transfer(key(1), height - 1U, newcomer, 7)}));
    }
    std::size_t present = 0;
    for (std::uint8_t height = 1; height <= 10; ++height) {
        const Hash256 app_hash = abci.app.app_hash_at({height});
        for (const std::string& slot : keys) {
            const auto answer = ask(abci, slot, height);
            CHECK(answer.code() == 0);
            CHECK(answer.height() == height);
            CHECK(is_proven(answer, app_hash));
            CHECK_FALSE(is_proven(answer, abci.app.app_hash_at({height == 1U ? 2U : 1U})));
            present += answer.value().empty() ? 0U : 1U;
        }
    }
    CHECK(present > 50);
    CHECK(present < 200);
    CHECK(ask(abci, keys[0], 11).code() != 0);
}
