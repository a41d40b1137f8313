// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <thread>

#include <client/metrics_server.hpp>
#include <consensus/solo/block_log.hpp>
#include <consensus/solo/engine.hpp>
#include <contracts/arbitration/arbitration.hpp>
#include <contracts/state/slots.hpp>
#include <core/crypto/address.hpp>
#include <node/api/genesis_file.hpp>
#include <node/daemon/application.hpp>
#include <node/daemon/node.hpp>
#include <node/metrics/node_metrics.hpp>
#include <tests/unit/consensus/toy_machine.hpp>
#include <tests/unit/folders.hpp>
#include <tests/unit/node/chain.hpp>

using namespace assay;
using namespace assay::node;
using namespace assay::node::test;
using namespace std::chrono_literals;
using assay::solo::test::TemporaryDirectory;

namespace {

/// The samples of a scrape by name and labels.
std::map<std::string, double> samples_of(const std::string& text) {
    std::map<std::string, double> out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("#")) {
            const std::size_t space = line.rfind(' ');
            out[line.substr(0, space)] = std::stod(line.substr(space + 1));
        }
    }
    return out;
}

struct Fixture {
    metrics::NodeMetrics metrics{"1.2.3"};
    storage::Store store{"/memory", {.in_memory = true, .fault = {}}};
    Application app{store, [] { return std::uint64_t{0}; }};

    explicit Fixture(const contracts::Genesis& genesis = make_genesis()) {
        app.observe(&metrics);
        app.init(genesis);
    }
    void run(std::vector<Bytes> txs) {
        static_cast<void>(app.finalize(make_block(app.info().height.value + 1, std::move(txs))));
        app.commit();
    }
    std::map<std::string, double> scrape(const NodeReadings& readings = {}) {
        NodeStatus status;
        status.chain_id = kChainId;
        status.engine = "solo";
        status.height = app.info().height;
        status.time_ms = 1'000 * status.height.value;
        return samples_of(metrics.scrape(status, readings, {}, status.time_ms + 2'500));
    }
};

}  // namespace

TEST_CASE("metrics: counters move with a block that is committed, and not before") {
    Fixture fixture;
    const AccountId stranger = key(8).account();
    const std::vector<Bytes> txs{
        transfer(key(1), 0, stranger, 10), transfer(key(2), 0, stranger, kRich * 2), Bytes{1, 2, 3}};
    static_cast<void>(fixture.app.finalize(make_block(1, txs)));
    CHECK(fixture.scrape().at("assay_node_height") == 0);
    CHECK(fixture.scrape().count("assay_blocks_executed_total") == 0);
    // An engine may give up a block that it had executed, and executes another one of that height.
    static_cast<void>(fixture.app.finalize(make_block(1, txs)));
    fixture.app.commit();
    auto scrape = fixture.scrape();
    CHECK(scrape.at("assay_node_height") == 1);
    CHECK(scrape.at("assay_blocks_executed_total") == 1);
    CHECK(scrape.at("assay_block_transactions") == 3);
    CHECK(scrape.at("assay_transactions_executed_total{action=\"transfer\"}") == 1);
    CHECK(scrape.at("assay_transactions_failed_total{error=\"insufficient_balance\"}") == 1);
    CHECK(scrape.at("assay_transactions_failed_total{error=\"undecodable\"}") == 1);
    CHECK(scrape.at("assay_block_execution_seconds_count") == 1);
    CHECK(scrape.at("assay_block_commit_seconds_count") == 1);
    CHECK(scrape.at("assay_block_gas{part=\"transactions\"}") > 0);
    CHECK(scrape.at("assay_node_block_age_seconds") == doctest::Approx(2.5));
    fixture.run({transfer(key(1), 1, stranger, 10)});
    scrape = fixture.scrape();
    CHECK(scrape.at("assay_blocks_executed_total") == 2);
    CHECK(scrape.at("assay_block_transactions") == 1);
    CHECK(scrape.at("assay_transactions_executed_total{action=\"transfer\"}") == 2);
    CHECK(scrape.at("assay_node_info{version=\"1.2.3\",chain_id=\"node-1\",engine=\"solo\"}") == 1);
}

// The chain of a demo with a fraud: a task, a dispute, a conviction, payments.
TEST_CASE("metrics: counters of a recorded chain are those of its history") {
    for (const std::string name : {"exact", "tolerance"}) {
        CAPTURE(name);
        const auto folder = std::filesystem::path(folders::source()) / "tests/vectors/chain" / name;
        Fixture fixture(read_genesis(folder / "genesis.json"));
        const solo::BlockLog log(folder / "blocks.log", solo::BlockLog::Mode::kReadOnly);
        std::map<std::string, double> expected;
        double disputes_max = 0;
        for (Height height{1}; height <= log.height(); ++height.value) {
            static_cast<void>(fixture.app.finalize(solo::to_request(log.read(height).value().block)));
            fixture.app.commit();
            const auto state = fixture.app.committed();
            double open = 0;
            const history::Reader reader(state->snapshot());
            for (const auto& id : reader.disputes(std::nullopt, 0, 100).items) {
                open += contracts::is_open(contracts::find_dispute(*state, id)->state()) ? 1 : 0;
            }
            const auto scrape = fixture.scrape();
            CHECK(
                scrape.at("assay_disputes_open{state=\"active\"}") +
                    scrape.at("assay_disputes_open{state=\"awaiting\"}") ==
                open
            );
            disputes_max = std::max(disputes_max, open);
            for (const auto& record : reader.events_of(height)) {
                if (const auto* paid = std::get_if<contracts::history::Paid>(&record.event)) {
                    const std::string label = std::string("{reason=\"") + contracts::to_string(paid->reason) + "\"}";
                    expected["assay_payments_total" + label] += 1;
                    expected["assay_paid_grains_total" + label] += static_cast<double>(paid->amount.grains);
                } else if (const auto* slashed = std::get_if<contracts::history::Slashed>(&record.event)) {
                    const std::string label = std::string("{reason=\"") + contracts::to_string(slashed->reason) + "\"}";
                    expected["assay_slashes_total" + label] += 1;
                    expected["assay_slashed_grains_total" + label] += static_cast<double>(slashed->amount.grains);
                } else if (const auto* changed = std::get_if<contracts::history::StateChanged>(&record.event)) {
                    expected
                        [std::string("assay_task_state_changes_total{state=\"") + contracts::to_string(changed->state) +
                         "\"}"] += 1;
                }
            }
        }
        CHECK((disputes_max > 0) == (name == "exact"));
        CHECK(expected.size() > 10);
        const auto scrape = fixture.scrape();
        for (const auto& [sample, value] : expected) {
            CAPTURE(sample);
            REQUIRE(scrape.count(sample) == 1);
            CHECK(scrape.at(sample) == value);
        }
        CHECK(scrape.at("assay_blocks_executed_total") == static_cast<double>(log.height().value));
    }
}

TEST_CASE("metrics: a watched account that has to move sees its clock, the other party does not") {
    const auto folder = std::filesystem::path(folders::source()) / "tests/vectors/chain/exact";
    Fixture fixture(read_genesis(folder / "genesis.json"));
    const solo::BlockLog log(folder / "blocks.log", solo::BlockLog::Mode::kReadOnly);
    std::size_t clocks_seen = 0;
    std::size_t idle_seen = 0;
    for (Height height{1}; height <= log.height(); ++height.value) {
        static_cast<void>(fixture.app.finalize(solo::to_request(log.read(height).value().block)));
        fixture.app.commit();
        const auto state = fixture.app.committed();
        std::map<AccountId, std::uint64_t> owed;  // by the party to move: blocks until its first deadline
        std::map<AccountId, std::uint64_t> answers;
        NodeReadings readings;
        for (const auto& id : history::Reader(state->snapshot()).disputes(std::nullopt, 0, 100).items) {
            const auto dispute = contracts::find_dispute(*state, id).value();
            readings.accounts.push_back({dispute.responder, {7}});
            readings.accounts.push_back({dispute.challenger, {7}});
            if (dispute.game() != nullptr) {
                const auto& mover = contracts::is_responders_turn(dispute) ? dispute.responder : dispute.challenger;
                const std::uint64_t left = dispute.game()->deadline.value - height.value;
                owed[mover] = owed.contains(mover) ? std::min(owed[mover], left) : left;
                ++answers[dispute.responder];
            }
        }
        const auto scrape = fixture.scrape(readings);
        for (const auto& watched : readings.accounts) {
            const std::string label = "{account=\"" + crypto::to_address(watched.account) + "\"";
            const std::string left = "assay_account_dispute_blocks_left" + label + "}";
            CHECK(scrape.at("assay_account_balance_grains" + label + "}") == 7);
            CHECK(
                scrape.at("assay_account_disputes_open" + label + ",side=\"responder\"}") ==
                static_cast<double>(answers[watched.account])
            );
            REQUIRE(scrape.contains(left) == owed.contains(watched.account));
            if (scrape.contains(left)) {
                CHECK(scrape.at(left) == static_cast<double>(owed[watched.account]));
                ++clocks_seen;
            } else {
                ++idle_seen;
            }
        }
    }
    CHECK(clocks_seen > 0);
    CHECK(idle_seen > 0);
}

TEST_CASE("metrics: calls are counted by method and outcome, and unknown names share a series") {
    metrics::NodeMetrics metrics("1");
    metrics.on_call("tx_get", "ok", 2ms);
    metrics.on_call("tx_get", "not_found", 2ms);
    metrics.on_call("", "method_not_found", 1ms);
    const auto scrape = samples_of(metrics.scrape({}, {}, {.connections = 3, .subscribers = 2}, 0));
    CHECK(scrape.at("assay_rpc_calls_total{method=\"tx_get\",outcome=\"ok\"}") == 1);
    CHECK(scrape.at("assay_rpc_calls_total{method=\"tx_get\",outcome=\"not_found\"}") == 1);
    CHECK(scrape.at("assay_rpc_calls_total{method=\"unknown\",outcome=\"method_not_found\"}") == 1);
    CHECK(scrape.at("assay_rpc_call_seconds_bucket{method=\"tx_get\",le=\"0.001\"}") == 0);
    CHECK(scrape.at("assay_rpc_call_seconds_bucket{method=\"tx_get\",le=\"0.0025\"}") == 2);
    CHECK(scrape.at("assay_rpc_connections") == 3);
    CHECK(scrape.at("assay_rpc_subscribers") == 2);
    CHECK(scrape.count("assay_validator_own_power") == 0);
    CHECK(scrape.count("assay_node_catching_up") == 0);
}

TEST_CASE("metrics: what is open when a node starts again is shown before its next block") {
    const auto folder = std::filesystem::path(folders::source()) / "tests/vectors/chain/exact";
    const TemporaryDirectory directory;
    std::filesystem::create_directories(directory.path() / "data");
    std::filesystem::copy(folder / "blocks.log", directory.path() / "data/blocks.log");
    const auto genesis = read_genesis(folder / "genesis.json");
    const auto scrape_of = [&] {
        metrics::NodeMetrics metrics("1");
        Node node(
            {.home = {directory.path()},
             .config = {},
             .genesis = genesis,
             .key = key(9),
             .only_inspects = true,
             .on_failure = {},
             .observer = &metrics}
        );
        metrics.seed(node, node.validators());
        return samples_of(metrics.scrape(node.status(), node.readings(), {}, 0));
    };
    const auto first = scrape_of();
    const auto again = scrape_of();  // finds every block in the database
    CHECK(first.at("assay_blocks_executed_total") > 20);
    CHECK(again.count("assay_blocks_executed_total") == 0);
    double tasks = 0;
    for (const auto& [sample, value] : first) {
        if (sample.starts_with("assay_tasks{") || sample.starts_with("assay_disputes_open{")) {
            CAPTURE(sample);
            CHECK(again.at(sample) == value);
            tasks += value;
        }
    }
    CHECK(tasks >= 0);
    CHECK(again.at("assay_database_bytes") > 0);
    CHECK(again.at("assay_block_log_bytes") == static_cast<double>(std::filesystem::file_size(folder / "blocks.log")));
    CHECK(again.at("assay_disk_size_bytes") > again.at("assay_disk_free_bytes"));
}

TEST_CASE("metrics: a node is scraped over HTTP while it makes blocks") {
    const TemporaryDirectory directory;
    metrics::NodeMetrics metrics("1");
    Config config;
    config.block_interval_ms = 2;
    Node node(
        {.home = {directory.path()},
         .config = config,
         .genesis = make_genesis(),
         .key = key(9),
         .on_failure = {},
         .observer = &metrics,
         .watched = {key(1).account(), key(9).account()}}
    );
    metrics.seed(node, node.validators());
    client::MetricsServer server("127.0.0.1", 0, [&] { return metrics.scrape(node.status(), node.readings(), {}, 0); });
    node.start();
    std::atomic<bool> is_over = false;
    std::thread sender([&] {
        for (std::uint64_t nonce = 0; nonce < 100; ++nonce) {
            static_cast<void>(node.submit(transfer(key(1), nonce, key(8).account(), 1)));
        }
        static_cast<void>(node.submit(transfer(key(1), 0, key(8).account(), 1)));
        is_over = true;
    });
    std::map<std::string, double> last;
    bool is_whole = false;  // the last scrape began after everything had been sent, and found nothing waiting
    for (int i = 0; i < 5'000 && (i < 5 || !is_whole); ++i) {
        const bool was_over = is_over;
        const auto response = http::http_get(server.url());
        REQUIRE(response.status == 200);
        CHECK(response.content_type == metrics::kContentType);
        auto scrape = samples_of(response.body);
        for (const char* name : {"assay_node_height", "assay_blocks_executed_total", "assay_mempool_admitted_total"}) {
            CHECK(scrape[name] >= last[name]);
        }
        last = std::move(scrape);
        is_whole = was_over && last.at("assay_mempool_transactions") == 0;
    }
    sender.join();
    CHECK(last.at("assay_transactions_executed_total{action=\"transfer\"}") == 100);
    CHECK(last.at("assay_mempool_admitted_total") == 100);
    CHECK(last.at("assay_account_balance_grains{account=\"" + crypto::to_address(key(1).account()) + "\"}") < kRich);
    CHECK(last.count("assay_account_balance_grains{account=\"" + crypto::to_address(key(9).account()) + "\"}") == 1);
    const auto refused = samples_of(http::http_get(server.url()).body);
    CHECK(refused.at("assay_mempool_refused_total{reason=\"nonce_too_low\"}") == 1);
    const std::string root = server.url().substr(0, server.url().size() - std::string("/metrics").size());
    CHECK(http::http_get(root + "/other").status == 404);
    CHECK(http::http_post(server.url(), "{}").status == 405);
    server.stop();
    node.stop();
}
