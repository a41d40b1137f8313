// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <consensus/cometbft/frame.hpp>
#include <consensus/cometbft/handler.hpp>
#include <consensus/cometbft/server.hpp>
#include <consensus/cometbft/supervisor.hpp>
#include <contracts/state/tx_error.hpp>
#include <tests/unit/consensus/fake_engine.hpp>
#include <tests/unit/consensus/toy_machine.hpp>

namespace assay::cometbft {
namespace {

using contracts::TxError;
using solo::test::toy_tx;
using solo::test::ToyMachine;
using namespace test;

HandlerOptions options() {
    HandlerOptions out;
    out.genesis.chain_id = "toy";
    out.software_version = "1";
    return out;
}

/// A machine behind a handler, as far as block `height`.
struct Toy {
    ToyMachine machine;
    Handler handler{machine, options()};

    explicit Toy(std::int64_t height = 0) {
        handler.handle(init_request("toy"));
        for (std::int64_t h = 1; h <= height; ++h) {
            block(h, {});
        }
    }
    std::string block(std::int64_t height, const std::vector<Bytes>& txs) {
        const auto finalized = handler.handle(finalize_request(height, txs)).finalize_block();
        handler.handle(commit_request());
        return finalized.app_hash();
    }
    std::uint32_t check(const Bytes& tx, bool again = false) {
        return handler.handle(check_request(tx, again)).check_tx().code();
    }
};

constexpr std::uint32_t code(TxError error) { return static_cast<std::uint32_t>(error); }

// --- frames ----------------------------------------------------------------------------------------------------

TEST_CASE("CMT-1: a flush is the bytes that the protocol gives") {
    std::string out;
    append_frame(out, flush_request().SerializeAsString());
    CHECK(out == std::string("\x02\x12\x00", 3));
    ToyMachine machine;
    Handler handler(machine, options());
    out.clear();
    append_frame(out, handler.handle(flush_request()).SerializeAsString());
    CHECK(out == std::string("\x02\x1a\x00", 3));
}

TEST_CASE("CMT-1: frames come out whole however they arrive") {
    std::string stream;
    std::vector<std::string> messages;
    for (const std::size_t size : {0U, 1U, 127U, 128U, 300U, 16'384U, 70'000U}) {
        messages.emplace_back(size, static_cast<char>('a' + messages.size()));
        append_frame(stream, messages.back());
    }
    for (const std::size_t piece : {1U, 2U, 7U, 1'000U, 1'000'000U}) {
        FrameReader reader;
        std::vector<std::string> out;
        for (std::size_t at = 0; at < stream.size(); at += piece) {
            reader.feed(stream.data() + at, std::min(piece, stream.size() - at));
            while (const auto message = reader.next()) {
                out.push_back(*message);
            }
        }
        CHECK(out == messages);
        CHECK_FALSE(reader.is_partial());
    }
}

TEST_CASE("CMT-1: what is no frame is refused") {
    FrameReader endless;
    const std::string ones(11, '\xff');
    endless.feed(ones.data(), ones.size());
    CHECK_THROWS_AS(endless.next(), FrameError);
    FrameReader large;
    const std::string size("\xff\xff\xff\xff\x0f");
    large.feed(size.data(), size.size());
    CHECK_THROWS_AS(large.next(), FrameError);
    FrameReader begun;
    begun.feed("\x80", 1);
    CHECK_FALSE(begun.next().has_value());
    CHECK(begun.is_partial());
}

// --- the handler -----------------------------------------------------------------------------------------------

TEST_CASE("CMT-2: a fresh chain is initialised, again when the engine asks again, and goes on from block 1") {
    Toy toy;
    CHECK(toy.handler.handle(info_request()).info().last_block_height() == 0);
    CHECK(toy.handler.handle(info_request()).info().last_block_app_hash().empty());
    CHECK_NOTHROW(toy.handler.handle(init_request("toy")));
    const std::string hash = toy.block(1, {toy_tx(1, 0)});
    const auto info = toy.handler.handle(info_request()).info();
    CHECK(info.last_block_height() == 1);
    CHECK(info.last_block_app_hash() == hash);
}

TEST_CASE("CMT-15: Info and InitChain name the protocol's version as the application's") {
    Toy toy;
    CHECK(toy.handler.handle(info_request()).info().app_version() == contracts::kProtocolVersion);
    const auto init = toy.handler.handle(init_request("toy")).init_chain();
    CHECK(init.consensus_params().version().app() == contracts::kProtocolVersion);
}

TEST_CASE("CMT-2: an engine of another chain, or one that begins elsewhere, is refused") {
    ToyMachine machine;
    Handler handler(machine, options());
    CHECK_THROWS_WITH_AS(handler.handle(init_request("other")), doctest::Contains("\"other\""), ProtocolError);
    auto late = init_request("toy");
    late.mutable_init_chain()->set_initial_height(5);
    CHECK_THROWS_AS(handler.handle(late), ProtocolError);
}

TEST_CASE("CMT-3: a block that is decided again before its commit gives the same") {
    Toy toy(2);
    const auto request = finalize_request(3, {toy_tx(1, 0), toy_tx(2, 0)});
    const auto first = toy.handler.handle(request).finalize_block();
    const auto second = toy.handler.handle(request).finalize_block();
    CHECK(first.SerializeAsString() == second.SerializeAsString());
    CHECK(first.tx_results_size() == 2);
    toy.handler.handle(commit_request());
    CHECK(toy.machine.info().height == Height{3});
}

TEST_CASE("CMT-3: blocks out of order and commits of nothing end the connection") {
    Toy toy(2);
    CHECK_THROWS_AS(toy.handler.handle(finalize_request(2, {})), ProtocolError);
    CHECK_THROWS_AS(toy.handler.handle(finalize_request(4, {})), ProtocolError);
    CHECK_THROWS_AS(toy.handler.handle(finalize_request(0, {})), ProtocolError);
    CHECK_THROWS_AS(toy.handler.handle(commit_request()), ProtocolError);
    auto short_hash = finalize_request(3, {});
    short_hash.mutable_finalize_block()->set_hash("abc");
    CHECK_THROWS_AS(toy.handler.handle(short_hash), ProtocolError);
    auto no_proposer = finalize_request(3, {});
    no_proposer.mutable_finalize_block()->clear_proposer_address();
    CHECK_THROWS_AS(toy.handler.handle(no_proposer), ProtocolError);
    CHECK_THROWS_AS(toy.handler.handle(abci::Request{}), ProtocolError);
    toy.block(3, {});
    CHECK_THROWS_AS(toy.handler.handle(commit_request()), ProtocolError);
}

TEST_CASE("CMT-3: what was finalized and not committed is gone after a restart, and given again") {
    Toy toy(2);
    const auto request = finalize_request(3, {toy_tx(1, 0)});
    const std::string before = toy.handler.handle(request).finalize_block().app_hash();
    ToyMachine restarted;
    restarted.restore(toy.machine.durable());
    Handler handler(restarted, options());
    CHECK(handler.handle(info_request()).info().last_block_height() == 2);
    CHECK(handler.handle(request).finalize_block().app_hash() == before);
}

TEST_CASE("CMT-4: a sender's transactions enter without gaps, and what left the pool is refused when asked about again"
) {
    Toy toy;
    CHECK(toy.check(toy_tx(1, 0)) == 0);
    CHECK(toy.check(toy_tx(1, 1)) == 0);
    CHECK(toy.check(toy_tx(1, 1)) == kWaitsAlready);  // the engine forgot it
    CHECK(toy.check(toy_tx(1, 3)) == code(TxError::kNonceTooHigh));
    CHECK(toy.check(toy_tx(1, 1, 0, 5)) == code(TxError::kNonceTooLow));
    CHECK(toy.check(toy_tx(2, 1)) == code(TxError::kNonceTooHigh));
    CHECK(toy.check(toy_tx(1, 2, 2)) == 0);
    CHECK(toy.handler.mempool().size().txs == 3);
    toy.block(1, {toy_tx(1, 0)});
    CHECK(toy.check(toy_tx(1, 0), true) == kDropped);
    CHECK(toy.check(toy_tx(1, 1), true) == 0);
    CHECK(toy.check(toy_tx(1, 2, 2), true) == 0);
    toy.block(2, {toy_tx(1, 1)});
    CHECK(toy.check(toy_tx(1, 2, 2), true) == kDropped);  // the new state refuses it
    CHECK(toy.check(toy_tx(1, 2)) == 0);
    CHECK(toy.check({1, 2, 3}) == code(TxError::kUndecodable));
}

TEST_CASE("CMT-4: a pool that is full says so, and takes what pays more") {
    ToyMachine machine;
    machine.has_prices = true;
    HandlerOptions given = options();
    given.mempool.txs_max = 2;
    Handler handler(machine, given);
    handler.handle(init_request("toy"));
    const auto check = [&](const Bytes& tx, bool again = false) {
        return handler.handle(check_request(tx, again)).check_tx().code();
    };
    CHECK(check(toy_tx(1, 0, 0, 10)) == 0);
    CHECK(check(toy_tx(2, 0, 0, 20)) == 0);
    CHECK(check(toy_tx(3, 0, 0, 10)) == kMempoolFull);
    CHECK(check(toy_tx(3, 0, 0, 12)) == 0);
    CHECK(check(toy_tx(1, 0, 0, 10), true) == kDropped);
}

TEST_CASE("GAS-9: the engine is told the gas of transactions and the limits of blocks") {
    ToyMachine machine;
    HandlerOptions given = options();
    given.genesis.params.block_size_max = 100'000;
    given.genesis.params.block_gas_max = 70'000;
    given.genesis.params.duty_gas_max = given.genesis.params.block_gas_max;
    given.genesis.params.duty_wait_blocks = 1'000;
    Handler handler(machine, given);
    const auto init = handler.handle(init_request("toy")).init_chain();
    CHECK(init.consensus_params().block().max_bytes() == 100'000);
    CHECK(init.consensus_params().block().max_gas() == 70'000);
    CHECK_FALSE(init.consensus_params().has_evidence());
    // With parameters that name no version the engine forgets the one that Info names, and no snapshot can be restored.
    CHECK(init.consensus_params().version().app() == contracts::kProtocolVersion);
    CHECK(handler.handle(check_request(toy_tx(1, 0), false)).check_tx().gas_wanted() == ToyMachine::kTxGas);
    const auto finalized = handler.handle(finalize_request(1, {toy_tx(1, 0)})).finalize_block();
    REQUIRE(finalized.tx_results_size() == 1);
    CHECK(finalized.tx_results(0).gas_wanted() == ToyMachine::kTxGas);
    CHECK(finalized.tx_results(0).gas_used() == ToyMachine::kTxGas);
}

TEST_CASE("GAS-9: the engine's genesis file has the limits of the chain's") {
    const solo::test::TemporaryDirectory home;
    const auto file = home.path() / "config" / "genesis.json";
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << R"({"consensus_params":{"block":{"max_bytes":"1","max_gas":"-1"},"evidence":{}}})";
    contracts::Params params;
    params.block_gas_max = 123'456;
    params.duty_gas_max = params.block_gas_max;
    params.duty_wait_blocks = 1'000;
    write_genesis(home.path(), "toy", "2026-01-01T00:00:00Z", {}, params);
    std::ifstream in(file);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    CHECK(text.find("\"max_gas\": \"123456\"") != std::string::npos);
    CHECK(text.find("\"max_bytes\": \"4194304\"") != std::string::npos);
    CHECK(text.find("\"max_age_num_blocks\": \"1000\"") != std::string::npos);
    CHECK(text.find("\"max_age_duration\": \"1814400000000000\"") != std::string::npos);  // VAL-9: 21 days
}

TEST_CASE("GAS-7: a proposal that is refused is refused with a reason") {
    ToyMachine machine;
    machine.txs_max = 1;
    HandlerOptions given = options();
    std::vector<std::string> reasons;
    given.on_refusal = [&](const consensus::FinalizeRequest& proposal, consensus::ProposalError error) {
        CHECK(proposal.height.value == 1);
        reasons.emplace_back(consensus::to_string(error));
    };
    Handler handler(machine, given);
    handler.handle(init_request("toy"));
    const auto status_of = [&](const std::vector<Bytes>& txs) {
        return handler.handle(process_request(1, txs)).process_proposal().status();
    };
    CHECK(status_of({toy_tx(1, 0)}) == abci::ResponseProcessProposal::ACCEPT);
    CHECK(reasons.empty());
    CHECK(status_of({toy_tx(1, 0), toy_tx(1, 1)}) == abci::ResponseProcessProposal::REJECT);
    REQUIRE(reasons.size() == 1);
    CHECK(reasons.front() == "its transactions exceed block_gas_max");
}

TEST_CASE("CMT-5: a proposal fits the bytes that the engine counts") {
    Toy toy;
    std::vector<Bytes> txs;
    for (std::uint8_t sender = 0; sender < 10; ++sender) {
        txs.push_back(toy_tx(sender, 0));
        CHECK(toy.check(txs.back()) == 0);
    }
    // Each takes its four bytes, one of length and a tag. What the engine's own mempool hands over does not matter.
    CHECK(toy.handler.handle(prepare_request({}, 6 * 4)).prepare_proposal().txs_size() == 4);
    CHECK(toy.handler.handle(prepare_request({}, 6 * 4 - 1)).prepare_proposal().txs_size() == 3);
    CHECK(toy.handler.handle(prepare_request({Bytes(9)}, -1)).prepare_proposal().txs_size() == 10);
    CHECK(toy.handler.handle(prepare_request({}, 0)).has_prepare_proposal());
    CHECK(
        toy.handler.handle(process_request(1, txs)).process_proposal().status() == abci::ResponseProcessProposal::ACCEPT
    );
}

TEST_CASE("CMT-5: a proposal holds what pays most, however late it came and whatever waits before it") {
    ToyMachine machine;
    machine.has_prices = true;
    Handler handler(machine, options());
    handler.handle(init_request("toy"));
    for (std::uint8_t nonce = 0; nonce < 200; ++nonce) {
        REQUIRE(handler.handle(check_request(toy_tx(1, nonce, 0, 10), false)).check_tx().code() == 0);
    }
    REQUIRE(handler.handle(check_request(toy_tx(2, 0, 0, 11), false)).check_tx().code() == 0);
    const auto proposal = handler.handle(prepare_request({}, 6 * 3)).prepare_proposal();
    REQUIRE(proposal.txs_size() == 3);
    const Bytes dearest = toy_tx(2, 0, 0, 11);
    CHECK(proposal.txs(0) == std::string(dearest.begin(), dearest.end()));
}

TEST_CASE("CMT-6: what this application does without is answered as the protocol wants") {
    Toy toy;
    abci::Request request;
    request.mutable_list_snapshots();
    CHECK(toy.handler.handle(request).list_snapshots().snapshots_size() == 0);
    request.mutable_offer_snapshot();
    CHECK(toy.handler.handle(request).offer_snapshot().result() == abci::ResponseOfferSnapshot::ABORT);
    request.mutable_apply_snapshot_chunk();
    CHECK(toy.handler.handle(request).apply_snapshot_chunk().result() == abci::ResponseApplySnapshotChunk::ABORT);
    request.mutable_extend_vote();
    CHECK(toy.handler.handle(request).extend_vote().vote_extension().empty());
    request.mutable_verify_vote_extension()->set_vote_extension("x");
    using Verify = abci::ResponseVerifyVoteExtension;
    CHECK(toy.handler.handle(request).verify_vote_extension().status() == Verify::REJECT);
    request.mutable_query()->set_path("/other");
    CHECK(toy.handler.handle(request).query().code() != 0);
}

// --- the server ------------------------------------------------------------------------------------------------

TEST_CASE("CMT-7: four connections are answered, each in the order of its requests") {
    Toy toy;
    Server server(toy.handler, {.address = "tcp://127.0.0.1:0", .on_failure = {}});
    FakeConnection query(server.address());
    FakeConnection snapshot(server.address());
    FakeConnection mempool(server.address());
    FakeConnection consensus(server.address());
    for (std::uint8_t i = 0; i < 100; ++i) {
        mempool.send(check_request(toy_tx(1, i)));
        mempool.send(i % 10 == 9 ? flush_request() : echo_request(std::to_string(i)));
    }
    CHECK(query.ask(echo_request("hello")).echo().message() == "hello");
    CHECK(snapshot.ask(flush_request()).has_flush());
    CHECK(consensus.ask(finalize_request(1, {toy_tx(2, 0)})).finalize_block().tx_results_size() == 1);
    CHECK(consensus.ask(commit_request()).has_commit());
    for (std::uint8_t i = 0; i < 100; ++i) {
        CHECK(mempool.receive().has_check_tx());
        const auto second = mempool.receive();
        CHECK(second.has_flush() == (i % 10 == 9));
        CHECK((second.has_flush() || second.echo().message() == std::to_string(i)));
    }
    CHECK(query.ask(info_request()).info().last_block_height() == 1);
    CHECK(server.connections() == 4);
}

TEST_CASE("CMT-8: an unanswerable request closes every connection and is told once") {
    Toy toy;
    std::mutex mutex;
    std::vector<std::string> failures;
    Server server(toy.handler, {.address = "tcp://127.0.0.1:0", .on_failure = [&](const std::string& why) {
                                    const std::lock_guard lock(mutex);
                                    failures.push_back(why);
                                }});
    FakeConnection query(server.address());
    FakeConnection consensus(server.address());
    CHECK(query.ask(flush_request()).has_flush());
    consensus.send(commit_request());
    CHECK(consensus.is_closed());
    CHECK(query.is_closed());
    server.stop();
    REQUIRE(failures.size() == 1);
    CHECK(failures[0].find("commits without a finalized block") != std::string::npos);
}

TEST_CASE("CMT-8: bytes that are no requests end a connection") {
    for (const std::string& bytes : {std::string(11, '\xff'), std::string("\x02\xff\xff", 3)}) {
        Toy toy;
        std::atomic<int> failures{0};
        Server server(toy.handler, {.address = "tcp://127.0.0.1:0", .on_failure = [&](const std::string&) {
                                        ++failures;
                                    }});
        FakeConnection connection(server.address());
        connection.send_raw(bytes);
        CHECK(connection.is_closed());
        server.stop();
        CHECK(failures == 1);
    }
}

TEST_CASE("an engine that goes away is no failure, and may come again") {
    Toy toy;
    std::atomic<int> failures{0};
    Server server(toy.handler, {.address = "tcp://127.0.0.1:0", .on_failure = [&](const std::string&) { ++failures; }});
    for (int i = 0; i < 20; ++i) {
        FakeConnection connection(server.address());
        connection.send_raw(std::string("\x05\x0a", 2));  // half a request
    }
    FakeConnection again(server.address());
    CHECK(again.ask(info_request()).has_info());
    server.stop();
    CHECK(failures == 0);
}

TEST_CASE("the server takes a socket file, and over one that nobody serves any more") {
    const solo::test::TemporaryDirectory directory;
    const auto file = directory.path() / "abci.sock";
    const std::string address = "unix://" + file.string();
    Toy toy;
    {
        Server server(toy.handler, {.address = address, .on_failure = {}});
        FakeConnection connection(server.address());
        CHECK(connection.ask(info_request()).has_info());
        CHECK_THROWS_WITH(
            Server(toy.handler, {.address = address, .on_failure = {}}), doctest::Contains("another process")
        );
    }
    CHECK_FALSE(std::filesystem::exists(file));
    std::ofstream(file) << "left over";
    CHECK_NOTHROW(Server(toy.handler, {.address = address, .on_failure = {}}));
    CHECK_THROWS_WITH(Server(toy.handler, {.address = "http://x", .on_failure = {}}), doctest::Contains("neither tcp"));
}

/// Holds finalize() until it is let go.
class SlowMachine final : public consensus::StateMachine {
  public:
    consensus::Info info() const override { return inner_.info(); }
    Hash256 init(const contracts::Genesis& genesis) override { return inner_.init(genesis); }
    consensus::CheckResult check(ByteView tx, const Hash256& hash, consensus::CheckKind kind) const override {
        return inner_.check(tx, hash, kind);
    }
    std::vector<Bytes> prepare(std::vector<Bytes> txs, std::uint64_t max) const override {
        return inner_.prepare(std::move(txs), max);
    }
    Result<void, consensus::ProposalError> process(const consensus::FinalizeRequest& proposal) const override {
        return inner_.process(proposal);
    }
    consensus::FinalizeResult finalize(const consensus::FinalizeRequest& block) override {
        std::unique_lock lock(mutex_);
        may_go_.wait(lock, [this] { return go_; });
        return inner_.finalize(block);
    }
    void commit() override { inner_.commit(); }
    consensus::QueryResult query(const consensus::QueryRequest& request) const override {
        return inner_.query(request);
    }
    void let_go() {
        const std::lock_guard lock(mutex_);
        go_ = true;
        may_go_.notify_all();
    }

  private:
    ToyMachine inner_;
    std::mutex mutex_;
    std::condition_variable may_go_;
    bool go_ = false;
};

TEST_CASE("CMT-9: transactions are checked while a block runs") {
    SlowMachine machine;
    Handler handler(machine, options());
    Server server(handler, {.address = "tcp://127.0.0.1:0", .on_failure = {}});
    FakeConnection consensus(server.address());
    FakeConnection mempool(server.address());
    consensus.send(finalize_request(1, {}));
    CHECK(mempool.ask(check_request(toy_tx(1, 0))).check_tx().code() == 0);
    CHECK(mempool.ask(info_request()).info().last_block_height() == 0);
    machine.let_go();
    CHECK(consensus.receive().has_finalize_block());
}

TEST_CASE("LGT-5: state sync trusts a block for as long as the chain's parameters say") {
    EngineSettings settings;
    settings.state_sync = StateSyncSettings{
        .rpc_servers = "a,b", .trust_height = 7, .trust_hash = std::string(64, 'a'), .trust_period_ms = 5'000};
    const auto command = make_command(settings);
    CHECK(std::find(command.begin(), command.end(), "CMT_STATESYNC_TRUST_PERIOD=5000ms") != command.end());
}

TEST_CASE("the engine awaits a remote signer at the address of the settings, and without one none") {
    EngineSettings settings;
    CHECK_FALSE(make_command(settings).back().starts_with("--priv_validator_laddr"));
    settings.remote_signer = "tcp://127.0.0.1:26659";
    CHECK(make_command(settings).back() == "--priv_validator_laddr=tcp://127.0.0.1:26659");
}

TEST_CASE("protections against eclipse are off on test networks alone") {
    EngineSettings settings;
    const auto has = [&](const char* text) {
        const auto command = make_command(settings);
        return std::find(command.begin(), command.end(), text) != command.end();
    };
    CHECK(has("CMT_P2P_ALLOW_DUPLICATE_IP=false"));
    CHECK(has("CMT_P2P_ADDR_BOOK_STRICT=true"));
    settings.test_network = true;
    CHECK(has("CMT_P2P_ALLOW_DUPLICATE_IP=true"));
    CHECK(has("CMT_P2P_ADDR_BOOK_STRICT=false"));
}

}  // namespace
}  // namespace assay::cometbft
