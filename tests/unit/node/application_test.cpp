// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <random>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/merkle/jmt.hpp>
#include <consensus/mempool.hpp>
#include <contracts/params/gas.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/state/tx_error.hpp>
#include <node/daemon/application.hpp>
#include <node/daemon/config.hpp>
#include <tests/unit/consensus/toy_machine.hpp>
#include <tests/unit/node/chain.hpp>

using namespace assay;
using namespace assay::node;
using namespace assay::node::test;
using assay::consensus::CheckKind;
using assay::consensus::ProposalError;
using assay::solo::test::TemporaryDirectory;
using contracts::TxError;

namespace {

storage::StoreOptions in_memory() { return {.in_memory = true, .fault = {}}; }

/// An application over a store of its own.
struct Fixture {
    storage::Store store{"/memory", in_memory()};
    Application app{store, [] { return std::uint64_t{0}; }};
    Hash256 genesis_hash = app.init(make_genesis());

    consensus::FinalizeResult run(std::vector<Bytes> txs) {
        auto result = app.finalize(make_block(app.info().height.value + 1, std::move(txs)));
        app.commit();
        return result;
    }
    std::uint64_t balance(std::uint8_t seed) const {
        return contracts::get_account(*app.committed(), key(seed).account()).balance.grains;
    }
    consensus::CheckResult check_fully(const Bytes& tx, CheckKind kind = CheckKind::kNew) const {
        return app.check(tx, contracts::tx_hash(tx), kind);
    }
    TxError check(const Bytes& tx, CheckKind kind = CheckKind::kNew) const {
        return TxError{check_fully(tx, kind).code};
    }
};

/// Blocks with transfers, good and bad, and empty ones.
std::vector<std::vector<Bytes>> sample_blocks() {
    const AccountId stranger = key(8).account();
    return {
        {transfer(key(1), 0, stranger, 10), transfer(key(2), 0, stranger, 20)},
        {},
        {transfer(key(1), 1, key(2).account(), 30), transfer(key(1), 3, stranger, 1), Bytes{1, 2, 3}},
        {transfer(key(1), 2, stranger, kRich * 2)},
        {make_tx(key(3), 0, contracts::Bond{.role = contracts::Role::kSolver, .amount = {1'000}})},
    };
}

}  // namespace

TEST_CASE("the genesis is written once, may be given again, and another one is refused") {
    Fixture fixture;
    CHECK(fixture.app.info().height.value == 0);
    CHECK(fixture.app.info().app_hash == fixture.genesis_hash);
    CHECK(fixture.app.init(make_genesis()) == fixture.genesis_hash);
    fixture.run({});
    CHECK(fixture.app.init(make_genesis()) == fixture.genesis_hash);
    auto other = make_genesis();
    other.balances.begin()->second.grains += 1;
    CHECK_THROWS(fixture.app.init(other));
    storage::Store store("/memory", in_memory());
    Application app(store, [] { return std::uint64_t{0}; });
    CHECK(app.info().height.value == 0);
    other.chain_id = "Not A Chain";
    CHECK_THROWS(app.init(other));
}

TEST_CASE("a block's signatures count the same whether a check has seen them or not") {
    Fixture checked;
    Fixture unchecked;
    std::vector<Bytes> txs;
    for (std::uint64_t nonce = 0; nonce < 100; ++nonce) {
        txs.push_back(transfer(key(1), nonce, key(8).account(), 1));
    }
    txs[60].back() ^= 1U;
    txs.push_back(Bytes{1, 2, 3});
    for (const Bytes& tx : txs) {
        static_cast<void>(checked.check(tx));
    }
    CHECK(checked.check(txs[60]) == TxError::kBadSignature);
    const auto one = checked.run(txs);
    const auto two = unchecked.run(txs);
    CHECK(one.app_hash == two.app_hash);
    CHECK(codec::encode(one.receipts) == codec::encode(two.receipts));
    CHECK(one.receipts[59].code == 0);
    CHECK(TxError{one.receipts[60].code} == TxError::kBadSignature);
    CHECK(TxError{one.receipts[61].code} == TxError::kNonceTooHigh);
    CHECK(TxError{one.receipts[100].code} == TxError::kUndecodable);
}

TEST_CASE("the same blocks give the same app hashes and only a commit changes the state") {
    Fixture one;
    Fixture two;
    for (const auto& txs : sample_blocks()) {
        const auto before = one.app.info();
        const auto first = one.app.finalize(make_block(before.height.value + 1, txs));
        CHECK(one.app.info().app_hash == before.app_hash);
        CHECK(one.app.finalize(make_block(before.height.value + 1, txs)).app_hash == first.app_hash);
        one.app.commit();
        CHECK(one.app.info().height.value == before.height.value + 1);
        CHECK(one.app.info().app_hash == first.app_hash);
        CHECK(two.run(txs).app_hash == first.app_hash);
    }
    CHECK(one.balance(8) == 30);
}

TEST_CASE("an application continues from what the store holds") {
    const TemporaryDirectory directory;
    Fixture reference;
    for (const auto& txs : sample_blocks()) {
        storage::Store store(directory.path());
        Application app(store, [] { return std::uint64_t{0}; });
        app.init(make_genesis());
        CHECK(app.info().app_hash == reference.app.info().app_hash);
        app.finalize(make_block(app.info().height.value + 1, txs));
        app.commit();
        reference.run(txs);
    }
    const storage::Store store(directory.path());
    CHECK(store.snapshot()->get(storage::Column::kMeta, as_bytes("meta")).has_value());
}

TEST_CASE("every slot at every height is proven against that height's app hash") {
    Fixture fixture;
    std::vector<Hash256> hashes{fixture.genesis_hash};
    std::vector<std::vector<std::optional<Bytes>>> values;
    const std::vector<Bytes> slots{
        contracts::keys::account(key(1).account()),
        contracts::keys::account(key(8).account()),
        contracts::keys::supply(),
        contracts::keys::params(),
        contracts::keys::stake(contracts::Role::kSolver, key(3).account()),
        Bytes{1}};
    const auto remember = [&] {
        auto& now = values.emplace_back();
        for (const Bytes& slot : slots) {
            now.push_back(fixture.app.committed()->get(slot));
        }
    };
    remember();
    for (const auto& txs : sample_blocks()) {
        hashes.push_back(fixture.run(txs).app_hash);
        remember();
    }
    for (std::uint64_t height = 0; height < hashes.size(); ++height) {
        for (std::size_t i = 0; i < slots.size(); ++i) {
            CAPTURE(height);
            CAPTURE(i);
            const auto result = fixture.app.query({.key = slots[i], .height = Height{height}});
            CHECK(result.height.value == height);
            CHECK(result.app_hash == hashes[height]);
            CHECK(result.value == values[height][i]);
            CHECK(merkle::verify_proof(hashes[height], slots[i], result.value, result.proof).has_value());
            CHECK_FALSE(merkle::verify_proof(hashes[height], slots[i], Bytes{1, 2}, result.proof).has_value());
        }
    }
    CHECK(fixture.app.query({.key = slots[0], .height = std::nullopt}).height.value == hashes.size() - 1);
    CHECK_THROWS_AS(fixture.app.query({.key = slots[0], .height = Height{hashes.size()}}), std::out_of_range);
}

TEST_CASE("a check refuses what the envelope forbids and leaves later nonces to the mempool") {
    Fixture fixture;
    const AccountId to = key(2).account();
    const Bytes good = transfer(key(1), 0, to, 1);
    CHECK(fixture.check_fully(good).code == 0);
    CHECK(fixture.check_fully(good).sender == key(1).account());
    CHECK(fixture.check_fully(transfer(key(1), 7, to, 1)).code == 0);
    CHECK(fixture.check_fully(transfer(key(1), 7, to, 1)).nonce == 7);
    Bytes cut = good;
    cut.pop_back();
    CHECK(fixture.check(cut) == TxError::kUndecodable);
    CHECK(fixture.check(cut, CheckKind::kRecheck) == TxError::kUndecodable);
    Bytes longer = good;
    longer.push_back(0);
    CHECK(fixture.check(longer) == TxError::kUndecodable);
    Bytes forged = good;
    forged.back() ^= 1U;
    CHECK(fixture.check(forged) == TxError::kBadSignature);
    CHECK(fixture.check(Bytes(70'000, 0)) == TxError::kTooLarge);
    CHECK(fixture.check(make_tx(key(1), 0, contracts::Transfer{.to = to, .amount = {1}}, {1})) == TxError::kFeeTooLow);
    CHECK(fixture.check(transfer(key(7), 0, to, 1)) == TxError::kCannotPayFee);
    fixture.run({good});
    CHECK(fixture.check(good) == TxError::kNonceTooLow);
    CHECK(fixture.check(good, CheckKind::kRecheck) == TxError::kNonceTooLow);
    CHECK(fixture.check_fully(transfer(key(1), 1, to, 1), CheckKind::kRecheck).state_nonce == 1);
}

TEST_CASE("BLK-17: a block of more bytes than the parameters allow is neither proposed nor accepted") {
    storage::Store store("/memory", in_memory());
    Application app(store, [] { return std::uint64_t{0}; });
    auto genesis = make_genesis();
    genesis.params.tx_size_max = genesis.params.block_size_max = 45'000;  // PAR-7
    genesis.params.duty_gas_max = genesis.params.block_gas_max;           // PAR-12
    genesis.params.duty_wait_blocks = 100'000;
    app.init(genesis);
    std::vector<Bytes> txs;
    for (std::uint64_t nonce = 0; nonce < 6; ++nonce) {
        const contracts::RevealMove large{{}, 0, std::vector<Hash256>(256)};
        txs.push_back(make_tx(key(1), nonce, large, {100'000}));
    }
    const std::vector<Bytes> fitting(txs.begin(), txs.end() - 1);
    REQUIRE(txs[0].size() * 5 <= genesis.params.block_size_max);
    REQUIRE(txs[0].size() * 6 > genesis.params.block_size_max);
    CHECK(app.process(make_block(1, fitting)).has_value());
    CHECK(app.process(make_block(1, txs)).error() == ProposalError::kTooLarge);
    CHECK(app.process(make_block(2, {})).error() == ProposalError::kHeight);
    CHECK(app.prepare(txs, 1U << 30U).size() == 5);
    CHECK(app.prepare(txs, 5).empty());
    CHECK(app.prepare({}, 5).empty());
}

TEST_CASE("GAS-7: a block of more gas than the parameters allow is neither proposed nor accepted") {
    storage::Store store("/memory", in_memory());
    Application app(store, [] { return std::uint64_t{0}; });
    auto genesis = make_genesis();
    genesis.params.block_gas_max = static_cast<std::uint32_t>(contracts::gas_max(genesis.params));
    genesis.params.duty_gas_max = genesis.params.block_gas_max;
    genesis.params.duty_wait_blocks = 1'000;
    app.init(genesis);
    const AccountId to = key(2).account();
    const Bytes cheap = transfer(key(1), 0, to, 1);
    const std::uint64_t cheap_gas = contracts::gas_of_bytes(cheap, genesis.params);
    CHECK(app.check(cheap, contracts::tx_hash(cheap), CheckKind::kNew).gas == cheap_gas);
    // A dear one that does not fit behind the cheap: what follows it waits with it.
    const Bytes other = make_tx(key(1), 0, contracts::CompleteTask{}, {5'000'000});
    const std::uint64_t dear_gas = contracts::gas_of_bytes(other, genesis.params);
    REQUIRE(cheap_gas < dear_gas);
    const std::uint64_t fitting = (genesis.params.block_gas_max - dear_gas) / cheap_gas + 1;
    std::vector<Bytes> txs;
    for (std::uint64_t nonce = 0; nonce < fitting; ++nonce) {
        txs.push_back(transfer(key(1), nonce, to, 1));
    }
    txs.push_back(make_tx(key(1), fitting, contracts::CompleteTask{}, {5'000'000}));
    txs.push_back(transfer(key(1), fitting + 1, to, 1));
    const auto chosen = app.prepare(txs, 1U << 30U);
    CHECK(chosen.size() == fitting);
    CHECK(app.process(make_block(1, chosen)).has_value());
    txs.pop_back();
    CHECK(app.process(make_block(1, txs)).error() == ProposalError::kTooMuchGas);
    // It is executed all the same when it has been decided: FinalizeBlock is total.
    CHECK(app.finalize(make_block(1, txs)).receipts.size() == txs.size());
    CHECK(app.prepare({other}, 1U << 30U).size() == 1);
}

TEST_CASE("FEE-4: a proposal that holds a transaction twice, garbage, or what nobody has paid for is refused") {
    Fixture fixture;
    const AccountId to = key(2).account();
    const auto verdict = [&](const std::vector<Bytes>& txs) { return fixture.app.process(make_block(1, txs)); };
    const Bytes first = transfer(key(1), 0, to, 100);
    CHECK(verdict({first, transfer(key(1), 1, to, 1)}).has_value());
    CHECK(verdict({first, first}).error() == ProposalError::kUnpaid);
    CHECK(verdict({transfer(key(1), 1, to, 1)}).error() == ProposalError::kUnpaid);
    CHECK(verdict({first, Bytes(4'000'000, 3)}).error() == ProposalError::kUnpaid);
    Bytes forged = first;
    forged.back() ^= 1U;
    CHECK(verdict({forged}).error() == ProposalError::kUnpaid);
    const Amount most{kRich / 2 + 1};
    const contracts::Action pay = contracts::Transfer{.to = to, .amount = {1}};
    CHECK(verdict({make_tx(key(1), 0, pay, most), make_tx(key(1), 1, pay, most)}).error() == ProposalError::kUnpaid);
    CHECK(verdict({make_tx(key(1), 0, pay, {1})}).error() == ProposalError::kUnpaid);
    // Once it is in a block, no later proposal holds it.
    fixture.run({first});
    CHECK(fixture.app.process(make_block(2, {first})).error() == ProposalError::kUnpaid);
    CHECK(fixture.app.prepare({first, first}, 1U << 30U).empty());
}

TEST_CASE("FEE-4: a transaction that is decided twice moves money once, and its first receipt stays") {
    Fixture fixture;
    const Bytes tx = transfer(key(1), 0, key(8).account(), 100);
    const auto result = fixture.run({tx, tx});
    CHECK(result.receipts[0].is_charged);
    CHECK_FALSE(result.receipts[1].is_charged);
    CHECK(fixture.balance(8) == 100);
    fixture.run({tx});
    const auto state = fixture.app.committed();
    CHECK(history::Reader(state->snapshot()).find_tx(contracts::tx_hash(tx)) == history::TxPlace{{1}, 0});
}

TEST_CASE("FEE-4: what is prepared from any candidates is accepted") {
    storage::Store store("/memory", in_memory());
    Application app(store, [] { return std::uint64_t{0}; });
    auto genesis = make_genesis();
    genesis.params.block_gas_max = static_cast<std::uint32_t>(contracts::gas_max(genesis.params));
    genesis.params.duty_gas_max = genesis.params.block_gas_max;
    genesis.params.duty_wait_blocks = 1'000;
    app.init(genesis);
    std::mt19937_64 random(7);
    const std::vector<contracts::Action> actions{
        contracts::Transfer{},   contracts::Transfer{{}, {1}}, contracts::CompleteTask{}, contracts::ProveMove{},
        contracts::RevealMove{}, contracts::SubmitTask{},      contracts::Unjail{}};
    std::size_t cut = 0;
    std::size_t taken = 0;
    for (int round = 0; round < 50; ++round) {
        std::vector<Bytes> candidates;
        std::uint64_t nonce = 0;
        for (std::uint64_t n = random() % 80; n > 0; --n) {
            if (random() % 8 == 0) {
                candidates.emplace_back(random() % 100'000, static_cast<std::uint8_t>(random()));
                continue;
            }
            nonce += random() % 8 == 0 ? 0U : 1U;
            const Amount fee{random() % 8 == 0 ? kRich / 3 : 300'000};
            const std::uint64_t next = nonce - std::min<std::uint64_t>(nonce, 1);
            candidates.push_back(make_tx(key(1), next, actions[random() % actions.size()], fee));
        }
        const std::uint64_t max_bytes = random() % 2 == 0 ? 1U << 30U : random() % 1'000'000;
        const auto chosen = app.prepare(candidates, max_bytes);
        CHECK(app.process(make_block(1, chosen)).has_value());
        cut += chosen.size() < candidates.size() ? 1U : 0U;
        taken += chosen.size();
    }
    CHECK(cut > 10);
    CHECK(taken > 50);
}

TEST_CASE("POOL-1: followers of one fee keep nobody out of the next block") {
    auto genesis = make_genesis();
    genesis.params.block_gas_max = static_cast<std::uint32_t>(4 * contracts::gas_max(genesis.params));
    genesis.params.duty_gas_max = genesis.params.block_gas_max;
    genesis.params.duty_wait_blocks = 1'000;
    const crypto::SecretKey filler = key(9);
    const Amount dear{100 * contracts::gas_max(genesis.params)};
    genesis.balances[filler.account()] = dear;
    for (std::uint8_t seed = 20; seed < 52; ++seed) {
        genesis.balances[key(seed).account()] = Amount{10'000'000};
    }
    storage::Store store("/memory", in_memory());
    Application app(store, [] { return std::uint64_t{0}; });
    app.init(genesis);
    consensus::Mempool pool(app, {});
    // What the filler has pays for one transaction; its followers used to be checked against the same balance.
    const contracts::Action pay = contracts::Transfer{.to = key(1).account(), .amount = {1}};
    std::size_t filled = 0;
    for (std::uint64_t nonce = 0; nonce < 400; ++nonce) {
        filled += pool.add(make_tx(filler, nonce, pay, Amount{dear.grains - 1})) ? 1U : 0U;
    }
    CHECK(filled == 1);
    for (std::uint8_t seed = 20; seed < 52; ++seed) {
        REQUIRE(pool.add(make_tx(key(seed), 0, pay, {100'000})).has_value());
    }
    const auto block = app.prepare(pool.candidates(1U << 20U), 1U << 20U);
    CHECK(block.size() == 33);
    CHECK(app.process(make_block(1, block)).has_value());
}

TEST_CASE("POOL-2: a filler with money keeps out nobody who offers an eighth more") {
    auto genesis = make_genesis();
    genesis.params.block_gas_max = static_cast<std::uint32_t>(contracts::gas_max(genesis.params));
    genesis.params.duty_gas_max = genesis.params.block_gas_max;
    genesis.params.duty_wait_blocks = 1'000;
    storage::Store store("/memory", in_memory());
    Application app(store, [] { return std::uint64_t{0}; });
    app.init(genesis);
    consensus::Mempool pool(app, {.txs_max = 300, .sender_txs_max = 300});
    const contracts::Action pay = contracts::Transfer{.to = key(3).account(), .amount = {1}};
    const std::uint64_t gas = contracts::gas_of_bytes(make_tx(key(1), 0, pay), genesis.params);
    std::uint64_t filler = 0;
    std::uint64_t honest = 0;
    for (std::uint64_t height = 1; height <= 40; ++height) {
        CAPTURE(height);
        // The filler offers twice the base fee and fills the pool again; the honest party an eighth more than that.
        const Amount base = contracts::get_base_fee(*app.committed(), genesis.params);
        const Amount usual = contracts::fee_of(gas, Amount{2 * base.grains});
        while (pool.add(make_tx(key(1), filler, pay, usual))) {
            ++filler;
        }
        const Amount more{usual.grains + usual.grains / 8 + gas};
        REQUIRE(pool.add(make_tx(key(2), honest, pay, more)).has_value());
        filler = pool.next_nonce(key(1).account()).value_or(filler);
        const auto block = app.prepare(pool.candidates(1U << 20U), 1U << 20U);
        REQUIRE(app.process(make_block(height, block)).has_value());
        app.finalize(make_block(height, block));
        app.commit();
        pool.update(block);
        ++honest;
        REQUIRE(contracts::get_account(*app.committed(), key(2).account()).nonce == honest);
    }
    // Filling blocks has its price.
    CHECK(contracts::get_base_fee(*app.committed(), genesis.params) > genesis.params.gas_price_min);
}

TEST_CASE(
    "where a write to the device fails the application is at a whole height and replays to the same hash" *
    doctest::test_suite("full")
) {
    auto blocks = sample_blocks();
    blocks.resize(2 * kSyncBlocks + 10);
    Fixture reference;
    std::vector<Hash256> hashes{reference.genesis_hash};
    for (const auto& txs : blocks) {
        hashes.push_back(reference.run(txs).app_hash);
    }
    bool fired = true;
    bool was_between = false;
    for (std::uint64_t n = 0; fired; n += 11) {
        CAPTURE(n);
        const TemporaryDirectory directory;
        fired = false;
        std::uint64_t committed = 0;
        try {
            storage::Store store(
                directory.path(), {.in_memory = false,
                                   .write_buffer_bytes = std::size_t{64} << 10U,
                                   .fault =
                                       [&fired, n](std::uint64_t count) {
                                           fired = fired || count == n;
                                           return count == n ? storage::Fault::kTear : storage::Fault::kNone;
                                       }}
            );
            Application app(store, [] { return std::uint64_t{0}; });
            app.init(make_genesis());
            for (const auto& txs : blocks) {
                app.finalize(make_block(committed + 1, txs));
                app.commit();
                ++committed;
            }
        } catch (const storage::StorageError&) {
            REQUIRE(fired);
        }
        storage::Store store(directory.path());
        Application app(store, [] { return std::uint64_t{0}; });
        app.init(make_genesis());
        const std::uint64_t found = app.info().height.value;
        REQUIRE(found <= committed + 1);
        REQUIRE(found + kSyncBlocks > committed);
        was_between = was_between || (fired && found > 0 && found < committed);
        REQUIRE(app.info().app_hash == hashes[found]);
        for (std::uint64_t height = found; height < blocks.size(); ++height) {
            REQUIRE(app.finalize(make_block(height + 1, blocks[height])).app_hash == hashes[height + 1]);
            app.commit();
        }
    }
    CHECK(was_between);
}
