// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>

#include <consensus/solo/engine.hpp>
#include <tests/unit/consensus/toy_machine.hpp>

using namespace assay;
using namespace assay::solo;
using namespace assay::solo::test;
using namespace std::chrono_literals;

namespace {

EngineOptions make_options() {
    return {
        .chain_id = "toy-1",
        .proposer = toy_key(1),
        .block_interval = 1ms,
        .create_empty_blocks = true,
        .block_bytes_max = 1'000,
        .mempool = {},
        .now_ms = [] { return std::uint64_t{5'000}; },
        .signing_randomness = [] { return std::array<std::uint8_t, 32>{}; },
        .after_stage = {},
        .on_failure = {},
    };
}

struct InjectedCrash {};

/// The app hashes that a chain of five blocks with these transactions has, height by height.
std::vector<Hash256> reference_hashes(std::uint64_t blocks) {
    const TemporaryDirectory directory;
    ToyMachine machine;
    BlockLog log(directory.path() / "blocks.log");
    SoloEngine engine(machine, log, make_options());
    std::vector<Hash256> out{machine.info().app_hash};
    for (std::uint64_t height = 1; height <= blocks; ++height) {
        REQUIRE(engine.submit(toy_tx(1, static_cast<std::uint8_t>(height - 1))).has_value());
        engine.make_block();
        out.push_back(machine.info().app_hash);
    }
    return out;
}

}  // namespace

TEST_CASE("the same transactions and clock give the same app hash at every height") {
    CHECK(reference_hashes(5) == reference_hashes(5));
}

TEST_CASE("BLK-14: block times increase although the clock stands still or runs back") {
    const TemporaryDirectory directory;
    ToyMachine machine;
    BlockLog log(directory.path() / "blocks.log");
    std::uint64_t now = 5'000;
    EngineOptions options = make_options();
    options.now_ms = [&now] { return now; };
    SoloEngine engine(machine, log, std::move(options));
    engine.make_block();
    engine.make_block();
    now = 10;
    engine.make_block();
    now = 9'000;
    engine.make_block();
    CHECK(log.read({1})->block.header.time_ms == 5'000);
    CHECK(log.read({2})->block.header.time_ms == 5'001);
    CHECK(log.read({3})->block.header.time_ms == 5'002);
    CHECK(log.read({4})->block.header.time_ms == 9'000);
    CHECK(engine.tip().time_ms == 9'000);
}

TEST_CASE("a crash after any stage of any block loses nothing that was logged and nothing else differs") {
    const auto reference = reference_hashes(6);
    for (const BlockStage stage :
         {BlockStage::kFinalized, BlockStage::kLogged, BlockStage::kCommitted, BlockStage::kMempoolUpdated}) {
        for (std::uint64_t crash_at = 1; crash_at <= 5; ++crash_at) {
            CAPTURE(static_cast<int>(stage));
            CAPTURE(crash_at);
            const TemporaryDirectory directory;
            const auto file = directory.path() / "blocks.log";
            ToyMachine::State durable;
            {
                ToyMachine machine;
                BlockLog log(file);
                EngineOptions options = make_options();
                options.after_stage = [&](BlockStage reached) {
                    if (reached == stage &&
                        machine.info().height.value + (stage < BlockStage::kCommitted ? 1 : 0) == crash_at) {
                        throw InjectedCrash{};
                    }
                };
                SoloEngine engine(machine, log, std::move(options));
                bool crashed = false;
                for (std::uint64_t height = 1; height <= 5 && !crashed; ++height) {
                    REQUIRE(engine.submit(toy_tx(1, static_cast<std::uint8_t>(height - 1))).has_value());
                    try {
                        engine.make_block();
                    } catch (const InjectedCrash&) {
                        crashed = true;
                    }
                }
                REQUIRE(crashed);
                durable = machine.durable();
            }
            ToyMachine machine;
            machine.restore(durable);
            BlockLog log(file);
            const std::uint64_t logged = stage == BlockStage::kFinalized ? crash_at - 1 : crash_at;
            REQUIRE(log.height().value == logged);
            SoloEngine engine(machine, log, make_options());
            REQUIRE(machine.info().height.value == logged);
            REQUIRE(machine.info().app_hash == reference[logged]);
            REQUIRE(engine.replayed() == (stage == BlockStage::kLogged ? 1 : 0));
            for (std::uint64_t height = logged + 1; height <= 6; ++height) {
                REQUIRE(engine.submit(toy_tx(1, static_cast<std::uint8_t>(height - 1))).has_value());
                engine.make_block();
                REQUIRE(machine.info().app_hash == reference[height]);
            }
        }
    }
}

TEST_CASE("a state that lost any number of commits is brought back by replay") {
    const TemporaryDirectory directory;
    const auto file = directory.path() / "blocks.log";
    std::vector<ToyMachine::State> states;
    {
        ToyMachine machine;
        BlockLog log(file);
        SoloEngine engine(machine, log, make_options());
        states.push_back(machine.durable());
        for (int i = 0; i < 4; ++i) {
            engine.make_block();
            states.push_back(machine.durable());
        }
    }
    for (const auto& state : states) {
        ToyMachine machine;
        machine.restore(state);
        const BlockLog log(file);
        CHECK(replay(machine, log, "toy-1", {}) == 4 - state.height.value);
        CHECK(machine.info().app_hash == states.back().app_hash);
    }
}

TEST_CASE("a state ahead of the log, of another chain, or that replays otherwise stops the start") {
    const TemporaryDirectory directory;
    const auto file = directory.path() / "blocks.log";
    ToyMachine::State two;
    {
        ToyMachine machine;
        BlockLog log(file);
        SoloEngine engine(machine, log, make_options());
        engine.make_block();
        engine.make_block();
        two = machine.durable();
    }
    const BlockLog log(file);
    ToyMachine ahead;
    two.height.value = 3;
    ahead.restore(two);
    CHECK_THROWS_WITH_AS(
        replay(ahead, log, "toy-1", {}), doctest::Contains("the state is at height 3 but the block log ends at 2"),
        HandshakeError
    );
    ToyMachine other;
    two.height.value = 2;
    two.app_hash.data[0] ^= 1U;
    other.restore(two);
    CHECK_THROWS_AS(replay(other, log, "toy-1", {}), AppHashMismatch);
    ToyMachine other_genesis;
    ToyMachine::State genesis;
    genesis.app_hash.data[5] = 1;
    other_genesis.restore(genesis);
    CHECK_THROWS_WITH_AS(
        replay(other_genesis, log, "toy-1", {}), doctest::Contains("the log is of another genesis"), HandshakeError
    );
    ToyMachine fresh;
    CHECK_THROWS_AS(replay(fresh, log, "toy-2", {}), HandshakeError);

    // A record that claims another result, framed and signed rightly.
    const auto forged = directory.path() / "forged.log";
    {
        BlockLog out(forged);
        auto record = *log.read({1});
        record.app_hash.data[0] ^= 1U;
        out.append(record);
    }
    const BlockLog forged_log(forged);
    ToyMachine replayer;
    CHECK_THROWS_AS(replay(replayer, forged_log, "toy-1", {}), AppHashMismatch);
}

TEST_CASE("BLK-17: a log with a block beyond the limits is not replayed") {
    const TemporaryDirectory directory;
    const auto file = directory.path() / "blocks.log";
    {
        ToyMachine machine;
        BlockLog log(file);
        SoloEngine engine(machine, log, make_options());
        REQUIRE(engine.submit(toy_tx(1, 0)).has_value());
        REQUIRE(engine.submit(toy_tx(1, 1)).has_value());
        engine.make_block();
    }
    const BlockLog log(file);
    ToyMachine machine;
    machine.txs_max = 1;
    CHECK_THROWS_WITH_AS(
        replay(machine, log, "toy-1", {}), doctest::Contains("its transactions exceed block_gas_max"), HandshakeError
    );
    CHECK(machine.info().height.value == 0);
    machine.txs_max = 2;
    CHECK(replay(machine, log, "toy-1", {}) == 1);
}

TEST_CASE("BLK-16: a node with another key does not continue the chain") {
    const TemporaryDirectory directory;
    ToyMachine machine;
    BlockLog log(directory.path() / "blocks.log");
    {
        SoloEngine engine(machine, log, make_options());
        engine.make_block();
    }
    EngineOptions options = make_options();
    options.proposer = toy_key(2);
    CHECK_THROWS_AS(SoloEngine(machine, log, std::move(options)), HandshakeError);
}

TEST_CASE("a started engine makes blocks, wakes who waits, and refuses after a stop") {
    const TemporaryDirectory directory;
    ToyMachine machine;
    BlockLog log(directory.path() / "blocks.log");
    SoloEngine engine(machine, log, make_options());
    engine.start();
    CHECK(engine.wait_for_block({2}, 10s).value > 2);
    const auto hash = engine.submit(toy_tx(7, 0));
    REQUIRE(hash.has_value());
    const Height after = engine.wait_for_block(engine.tip().height, 10s);
    engine.wait_for_block(after, 10s);
    CHECK(machine.nonce_of(7) == 1);
    CHECK_FALSE(engine.mempool().contains(*hash));
    engine.stop();
    engine.stop();
    const Height last = engine.tip().height;
    CHECK(engine.wait_for_block(last, 10s) == last);
    CHECK(engine.submit(toy_tx(7, 1)).error().reason == consensus::RefusalReason::kStopping);
}

TEST_CASE("without empty blocks a block comes with the first transaction") {
    const TemporaryDirectory directory;
    ToyMachine machine;
    BlockLog log(directory.path() / "blocks.log");
    EngineOptions options = make_options();
    options.create_empty_blocks = false;
    SoloEngine engine(machine, log, std::move(options));
    engine.start();
    CHECK(engine.wait_for_block({0}, 30ms).value == 0);
    REQUIRE(engine.submit(toy_tx(1, 0)).has_value());
    CHECK(engine.wait_for_block({0}, 10s).value == 1);
    CHECK(engine.wait_for_block({1}, 30ms).value == 1);
}

TEST_CASE("a block that cannot be made stops the engine and is reported once") {
    const TemporaryDirectory directory;
    ToyMachine machine;
    BlockLog log(directory.path() / "blocks.log");
    std::atomic<int> failures = 0;
    EngineOptions options = make_options();
    options.after_stage = [](BlockStage stage) {
        if (stage == BlockStage::kFinalized) {
            throw std::runtime_error("no more disk");
        }
    };
    options.on_failure = [&failures](const std::string& what) { failures += what == "no more disk" ? 1 : 100; };
    SoloEngine engine(machine, log, std::move(options));
    engine.start();
    CHECK(engine.wait_for_block({0}, 10s).value == 0);
    engine.stop();
    CHECK(failures == 1);
    CHECK(log.height().value == 0);
}
