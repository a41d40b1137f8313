// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include <contracts/state/slots.hpp>
#include <core/crypto/ed25519.hpp>
#include <node/daemon/node.hpp>
#include <tests/unit/consensus/toy_machine.hpp>
#include <tests/unit/node/chain.hpp>

using namespace assay;
using namespace assay::node;
using namespace assay::node::test;
using namespace std::chrono_literals;
using assay::solo::test::TemporaryDirectory;

namespace {

constexpr std::uint32_t kDelay = 3;
constexpr std::uint32_t kNext = contracts::kProtocolVersion + 1;

/// A chain whose only validator is key(1)'s account.
contracts::Genesis governed_genesis() {
    contracts::Genesis genesis = make_genesis();
    genesis.params.vote_delay_blocks = kDelay;
    const crypto::Ed25519Key consensus(crypto::Ed25519Key::Seed{});
    genesis.validators.push_back(
        {key(1).account(), contracts::ConsensusKey{consensus.public_key()}, genesis.params.validator_stake_min}
    );
    return genesis;
}

/// A node and what it says when it ends.
struct Run {
    explicit Run(const std::filesystem::path& root, const ProgramRules& program = {})
        : node(
              {.home = {root},
               .config = quick(),
               .genesis = governed_genesis(),
               .key = key(9),
               .on_failure = [this](const std::string&) { has_ended = true; },
               .program = program}
          ) {
        node.start();
    }
    static Config quick() {
        Config config;
        config.block_interval_ms = 1;
        return config;
    }
    void send(std::uint64_t nonce, const contracts::Action& action) {
        const auto hash = node.submit(make_tx(key(1), nonce, action));
        REQUIRE(hash.has_value());
        for (int i = 0; i < 10'000 && !node.tx(*hash); ++i) {
            node.wait_for_block(node.status().height, 100ms);
        }
        REQUIRE(node.tx(*hash).has_value());
        REQUIRE(node.tx(*hash)->receipt.code == 0);
    }
    void await_end() {
        for (int i = 0; i < 3'000 && !has_ended; ++i) {
            std::this_thread::sleep_for(10ms);
        }
        REQUIRE(has_ended);
        node.stop();
    }
    void await(Height height) {
        for (int i = 0; i < 10'000 && node.status().height < height; ++i) {
            node.wait_for_block(node.status().height, 100ms);
        }
        REQUIRE(node.status().height >= height);
    }

    std::atomic<bool> has_ended = false;
    Node node;
};

/// Whether a node with this home does not start because of what is planned.
void check_halted(const std::filesystem::path& root, const ProgramRules& program, const std::string& words) {
    try {
        const Run run(root, program);
        FAIL("it started");
    } catch (const consensus::HaltError& halt) {
        CHECK(std::string(halt.what()).find(words) != std::string::npos);
    }
}

}  // namespace

TEST_CASE("GOV-8: a program stops before an upgrade, and only one of the new version goes on from there") {
    const TemporaryDirectory directory;
    const std::filesystem::path& root = directory.path();
    const ProgramRules next{.protocol_version = kNext, .resume_at = {}};
    check_halted(root, next, "start the release that implements " + std::to_string(contracts::kProtocolVersion));
    Height planned;
    {
        Run run(root);
        planned = Height{run.node.status().height.value + 200};
        run.send(0, contracts::ProposeUpgrade{planned, kNext});
        run.await_end();
        CHECK(run.node.status().height.value == planned.value - 1);
        CHECK(run.node.why_halted().value().find("version " + std::to_string(kNext)) != std::string::npos);
        CHECK(run.node.params().protocol_version == contracts::kProtocolVersion);
    }
    check_halted(root, {}, "start the release that implements " + std::to_string(kNext));
    check_halted(root, {.protocol_version = kNext + 1, .resume_at = {}}, "this program implements version");
    check_halted(root, {.protocol_version = contracts::kProtocolVersion, .resume_at = planned}, "from block");
    {
        Run run(root, next);
        CHECK(run.node.status().last_stop == LastStop::kClean);
        run.await(Height{planned.value + 2});
        CHECK(run.node.params().protocol_version == kNext);
        run.node.stop();
    }
    check_halted(root, {}, "the chain has version " + std::to_string(kNext));
    {
        Run again(root, next);
        again.await(Height{planned.value + 4});
        again.node.stop();
    }
    // From the first block on neither program does the whole.
    std::filesystem::remove_all(Home{root}.db());
    check_halted(root, next, "the chain has version " + std::to_string(contracts::kProtocolVersion));
    check_halted(root, {}, "start the release that implements " + std::to_string(kNext));
}

TEST_CASE("GOV-8: a chain that was halted goes on with the block that its operator names, and no other") {
    const TemporaryDirectory directory;
    const std::filesystem::path& root = directory.path();
    Height next;
    {
        Run run(root);
        run.send(0, contracts::ProposeHalt{});
        run.await_end();
        next = Height{run.node.status().height.value + 1};
        CHECK(run.node.why_halted().value().find("--resume-at " + std::to_string(next.value)) != std::string::npos);
    }
    check_halted(root, {}, "voted to halt");
    const auto resuming_at = [](Height height) {
        return ProgramRules{.protocol_version = contracts::kProtocolVersion, .resume_at = height};
    };
    check_halted(root, resuming_at(Height{next.value + 1}), "voted to halt");
    {
        Run run(root, resuming_at(next));
        run.await(Height{next.value + 2});
        run.node.stop();
    }
    Run run(root);  // the halt is over
    run.await(Height{next.value + 4});
    CHECK(run.node.params().protocol_version == contracts::kProtocolVersion);
    run.node.stop();
}

TEST_CASE("GOV-8: a proposal for a block that this program does not execute is refused, and none is made") {
    const TemporaryDirectory directory;
    storage::Store store(directory.path() / "db", {.in_memory = true, .fault = {}, .on_disk_failure = {}});
    Application application(
        store, [] { return std::uint64_t{0}; }, false, 0, {.protocol_version = kNext, .resume_at = {}}
    );
    application.init(governed_genesis());
    const consensus::FinalizeRequest block{
        .height = Height{1}, .time_ms = 1, .block_hash = {}, .proposer = {}, .txs = {}};
    CHECK(application.process(block).error() == consensus::ProposalError::kHalted);
    CHECK(application.prepare({transfer(key(1), 0, key(8).account(), 1)}, 1'000).empty());
    CHECK_THROWS_AS(application.finalize(block), consensus::HaltError);
}
