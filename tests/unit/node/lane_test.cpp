// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <consensus/mempool.hpp>
#include <contracts/beacon/contributing.hpp>
#include <contracts/params/gas.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/chain/duty.hpp>
#include <contracts/duties/lane.hpp>
#include <node/daemon/application.hpp>
#include <tests/unit/node/chain.hpp>

using namespace assay;
using namespace assay::node;
using namespace assay::node::test;
using assay::consensus::ProposalError;

namespace {

constexpr std::uint8_t kFirstContributor = 20;
constexpr std::uint64_t kAsy = 1'000'000'000;
constexpr std::uint64_t kBlockBytes = 1U << 20U;

Hash256 secret_of(std::uint8_t seed, int number) {
    return crypto::sha256(as_bytes("secret " + std::to_string(seed) + " " + std::to_string(number)));
}
Hash256 commitment_of(std::uint8_t seed, int number) {
    return contracts::beacon_commitment(key(seed).account(), secret_of(seed, number));
}

contracts::TaskSpec make_spec() {
    contracts::TaskSpec spec;
    spec.title = "a task";
    spec.program.state_tensors = 2;
    spec.program.init_nodes = 3;
    spec.program.step_nodes = 5;
    spec.program.batch_size = 4;
    spec.program.dataset = {.rows = 100, .width = 3};
    spec.program_artifact.location = "http://127.0.0.1:4000";
    spec.dataset_artifact.location = "http://127.0.0.1:4000";
    spec.steps = 10;
    spec.checkpoint_interval = 4;
    spec.reward = {20 * kAsy};
    spec.verification_fee = {3 * kAsy};
    spec.training_blocks = 30;
    return spec;
}

/// A narrow lane, and so many contributors that their secrets take more than one block's.
contracts::Genesis make_lane_genesis() {
    auto genesis = make_genesis();
    genesis.params.contributor_bond = {kAsy};
    genesis.params.contributors_max = 60;
    genesis.params.duty_gas_max = static_cast<std::uint32_t>(contracts::dispute_weight(genesis.params)) + 500;
    genesis.params.duty_wait_blocks = 100'000;  // PAR-12
    for (std::uint32_t i = 0; i < genesis.params.contributors_max; ++i) {
        genesis.balances[key(static_cast<std::uint8_t>(kFirstContributor + i)).account()] = Amount{kRich};
    }
    return genesis;
}

/// An application in whose open round every contributor owes its secret.
struct OpenRound {
    contracts::Genesis genesis = make_lane_genesis();
    storage::Store store{"/memory", {.in_memory = true, .fault = {}}};
    Application app{store, [] { return std::uint64_t{0}; }};
    std::vector<Bytes> answers;  ///< the secrets

    OpenRound() {
        app.init(genesis);
        std::vector<Bytes> bonds;
        std::vector<Bytes> joins;
        for (std::uint32_t i = 0; i < genesis.params.contributors_max; ++i) {
            const auto seed = static_cast<std::uint8_t>(kFirstContributor + i);
            const contracts::Bond bond{.role = contracts::Role::kVerifier, .amount = genesis.params.contributor_bond};
            bonds.push_back(make_tx(key(seed), 0, bond));
            joins.push_back(make_tx(key(seed), 1, contracts::JoinBeacon{commitment_of(seed, 0)}));
        }
        run(bonds);
        run(joins);
        run({make_tx(key(1), 0, contracts::SubmitTask{make_spec()}, {kAsy})});
        run({});
        REQUIRE(contracts::get_beacon(*app.committed()).round.has_value());
        for (std::uint32_t i = 0; i < genesis.params.contributors_max; ++i) {
            answers.push_back(answer(static_cast<std::uint8_t>(kFirstContributor + i)));
        }
    }

    Bytes answer(std::uint8_t seed) const {
        const contracts::Contribute action{.secret = secret_of(seed, 0), .next = commitment_of(seed, 1)};
        const auto duty = contracts::find_duty(*app.committed(), genesis.params, key(seed).account(), action);
        REQUIRE(duty.has_value());
        return make_tx(key(seed), duty->due.value, action, {});
    }
    std::uint64_t next_height() const { return app.info().height.value + 1; }
    void run(const std::vector<Bytes>& txs) {
        for (const auto& receipt : app.finalize(make_block(next_height(), txs)).receipts) {
            CHECK(receipt.code == 0);
        }
        app.commit();
    }
    /// How many of the answers one block holds.
    std::size_t fitting() const {
        return genesis.params.duty_gas_max / contracts::gas_of_bytes(answers.front(), genesis.params);
    }
};

}  // namespace

TEST_CASE("DTY-4: a proposal holds the answers that fit the lane, and others behind those that wait for it") {
    OpenRound round;
    REQUIRE(round.fitting() > 1);
    REQUIRE(round.fitting() < round.answers.size());
    std::vector<Bytes> candidates = round.answers;
    const Bytes paid = transfer(key(2), 0, key(3).account(), 1);
    candidates.push_back(paid);
    std::vector<Bytes> expected(
        round.answers.begin(), round.answers.begin() + static_cast<std::ptrdiff_t>(round.fitting())
    );
    expected.push_back(paid);
    CHECK(round.app.prepare(candidates, kBlockBytes) == expected);
    CHECK(round.app.process(make_block(round.next_height(), expected)).has_value());
    // One more is refused, and executed all the same when it has been decided.
    std::vector<Bytes> wide = expected;
    wide.push_back(round.answers[round.fitting()]);
    CHECK(round.app.process(make_block(round.next_height(), wide)).error() == ProposalError::kLane);
    round.run(wide);
}

TEST_CASE("DTY-4: an answer that a proposal leaves out is in a later one, unless somebody has answered") {
    OpenRound round;
    consensus::Mempool pool(round.app, {});
    for (const Bytes& answer : round.answers) {
        REQUIRE(pool.add(answer).has_value());
    }
    std::size_t blocks = 0;
    std::vector<Bytes> answered;
    while (pool.size().txs != 0) {
        const auto block = round.app.prepare(pool.candidates(kBlockBytes), kBlockBytes);
        REQUIRE(!block.empty());
        round.run(block);
        pool.update(block);
        answered.insert(answered.end(), block.begin(), block.end());
        ++blocks;
    }
    CHECK(answered == round.answers);
    CHECK(blocks == div_ceil(round.answers.size(), round.fitting()));
}

TEST_CASE("POOL-4: answers that wait for the lane leave other transactions their bytes") {
    OpenRound round;
    consensus::Mempool pool(round.app, {});
    for (const Bytes& answer : round.answers) {
        REQUIRE(pool.add(answer).has_value());
    }
    const Bytes paid = transfer(key(2), 0, key(3).account(), 1);
    REQUIRE(pool.add(paid).has_value());
    // As many bytes as the answers take together: without them there is room for the lane's and for more.
    const std::uint64_t bytes_max = round.answers.size() * round.answers.front().size();
    const auto block = round.app.prepare(pool.candidates(bytes_max), bytes_max);
    CHECK(block.size() == round.fitting() + 1);
    CHECK(std::count(block.begin(), block.end(), paid) == 1);
}
