// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include <tools/cli/doctor/doctor.hpp>

using namespace assay;
using namespace assay::cli::doctor;

namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;

/// A node and a home without anything to complain about.
Facts healthy() {
    Facts out{.version = "1.2.0", .protocol = 3, .now_ms = 1'000'000'000};
    out.node = {
        .url = "http://127.0.0.1:26600",
        .version = "1.2.0",
        .protocol = 3,
        .engine = "solo",
        .height = 7,
        .block_at_ms = out.now_ms - 900,
        .block_interval_ms = 1'000};
    out.home.path = "/home/a";
    out.home.is_node = true;
    out.home.is_running = true;
    out.home.disk_free = 500 * kGiB;
    out.home.disk_size = 1'000 * kGiB;
    out.home.ports = {{.setting = "rpc.port", .address = "127.0.0.1", .port = 26'600, .state = PortState::kOurs}};
    out.home.keys = {{.file = "/home/a/node_key", .is_there = true, .mode = 0600, .is_needed = true}};
    return out;
}

/// The worst that is said under `name`.
Level level_of(const Facts& facts, const std::string& name) {
    Level out = Level::kOk;
    bool is_there = false;
    for (const Check& check : check_all(facts)) {
        if (check.name == name) {
            is_there = true;
            out = std::max(out, check.level);
            CHECK((check.level == Level::kOk) == check.advice.empty());
        }
    }
    CHECK(is_there);
    return out;
}

}  // namespace

TEST_CASE("a healthy node has nothing to complain about, and its report is ok") {
    const auto checks = check_all(healthy());
    CHECK_FALSE(has_failure(checks));
    CHECK(std::all_of(checks.begin(), checks.end(), [](const Check& each) { return each.level == Level::kOk; }));
    CHECK(to_json(checks).at("ok") == true);
    CHECK(to_json(checks).at("checks").size() == checks.size());
}

TEST_CASE("a clock is held against the time of the last block") {
    Facts facts = healthy();
    facts.node.block_at_ms = facts.now_ms + 5'000;
    CHECK(level_of(facts, "clock") == Level::kOk);
    facts.node.block_at_ms = facts.now_ms + 5'001;
    CHECK(level_of(facts, "clock") == Level::kFailure);
    facts.node.block_at_ms = facts.now_ms - 60'000;
    CHECK(level_of(facts, "clock") == Level::kOk);
    facts.node.block_at_ms = facts.now_ms - 60'001;
    CHECK(level_of(facts, "clock") == Level::kWarning);
    facts.node.block_interval_ms = 30'000;
    CHECK(level_of(facts, "clock") == Level::kOk);
}

TEST_CASE("a disk is full below a gibibyte, and low below ten or a twentieth of it") {
    Facts facts = healthy();
    facts.home.disk_free = kGiB - 1;
    CHECK(level_of(facts, "disk") == Level::kFailure);
    CHECK(to_json(check_all(facts)).at("ok") == false);
    facts.home.disk_free = 10 * kGiB - 1;
    CHECK(level_of(facts, "disk") == Level::kWarning);
    facts.home.disk_size = 40 * kGiB;
    CHECK(level_of(facts, "disk") == Level::kOk);
}

TEST_CASE("a port that another program has is a failure, and the node's own is not") {
    Facts facts = healthy();
    facts.home.ports.front().state = PortState::kFree;
    CHECK(level_of(facts, "ports") == Level::kOk);
    facts.home.ports.front().state = PortState::kForeign;
    CHECK(level_of(facts, "ports") == Level::kFailure);
    CHECK(to_text(check_all(facts)).find("ss -ltnp 'sport = :26600'") != std::string::npos);
}

TEST_CASE("another protocol is a failure, another release a warning") {
    Facts facts = healthy();
    facts.node.version = "1.1.0";
    CHECK(level_of(facts, "versions") == Level::kWarning);
    facts.node.protocol = 2;
    CHECK(level_of(facts, "versions") == Level::kFailure);
    facts = healthy();
    facts.programs = {{.name = "assayd", .version = "1.0.0"}, {.name = "none", .version = ""}};
    CHECK(level_of(facts, "versions") == Level::kWarning);
}

TEST_CASE("a key that others can read and one that is missing are failures") {
    Facts facts = healthy();
    facts.home.keys.front().mode = 0640;
    CHECK(level_of(facts, "keys") == Level::kFailure);
    CHECK(to_text(check_all(facts)).find("chmod 600 /home/a/node_key") != std::string::npos);
    facts.home.keys = {{.file = "/home/a/node_key", .is_there = false, .mode = 0, .is_needed = true}};
    CHECK(level_of(facts, "keys") == Level::kFailure);
    facts = healthy();
    facts.home.has_public_rpc = true;
    CHECK(level_of(facts, "settings") == Level::kWarning);
    facts.home.config_error = "config.toml:3: unknown setting";
    CHECK(level_of(facts, "settings") == Level::kFailure);
}

TEST_CASE("a node that does not answer is a failure whose advice depends on whether it runs") {
    Facts facts = healthy();
    facts.node.error = "connection refused";
    CHECK(level_of(facts, "node") == Level::kFailure);
    CHECK(to_text(check_all(facts)).find("--node-token-file") != std::string::npos);
    facts.home.is_running = false;
    CHECK(to_text(check_all(facts)).find("assayd start --home /home/a") != std::string::npos);
    facts.home.is_node = false;
    CHECK(to_text(check_all(facts)).find("ASSAY_NODE") != std::string::npos);
}

TEST_CASE("peers are asked for under CometBFT alone") {
    Facts facts = healthy();
    facts.node.engine = "cometbft";
    CHECK(level_of(facts, "peers") == Level::kWarning);
    facts.peers = 0;
    CHECK(level_of(facts, "peers") == Level::kWarning);
    facts.peers = 3;
    CHECK(level_of(facts, "peers") == Level::kOk);
    facts.node.engine = "solo";
    CHECK(check_peers(facts).empty());
}

TEST_CASE("stakes below the least are warned of with the command that adds what is missing") {
    Facts facts = healthy();
    facts.stakes = {
        {.account = "a", .name = "alice", .role = "verifier", .staked = {kGrainsPerAsy / 2}, .least = {kGrainsPerAsy}},
        {.account = "a", .name = "alice", .role = "solver", .staked = {0}, .least = {kGrainsPerAsy}}};
    CHECK(level_of(facts, "stakes") == Level::kWarning);
    CHECK(check_stakes(facts).size() == 1);
    CHECK(check_stakes(facts).front().advice == "assay stake bond verifier \"0.5 ASY\" --from alice");
    facts.stakes.front().staked = {kGrainsPerAsy};
    CHECK(level_of(facts, "stakes") == Level::kOk);
}

TEST_CASE("VAL-3: a validator below the least stake is told what to bond before it registers") {
    CHECK(validator_warning({5}, {5}).empty());
    const std::string text = validator_warning({kGrainsPerAsy}, {3 * kGrainsPerAsy});
    CHECK(text.find("1 ASY") != std::string::npos);
    CHECK(text.find("assay stake bond validator \"2 ASY\"") != std::string::npos);
}

TEST_CASE("ART-23: a relay that would take no worker is a failure with its reason") {
    Facts facts = healthy();
    CHECK(check_relays(facts).empty());
    facts.relays = {{.relay = "a.example:4010"}};
    CHECK(level_of(facts, "relay") == Level::kOk);
    facts.relays.push_back({.relay = "b.example:4010", .trouble = "it cannot be reached: Connection refused"});
    CHECK(level_of(facts, "relay") == Level::kFailure);
    CHECK(check_relays(facts).back().text == "b.example:4010: it cannot be reached: Connection refused");
    CHECK_FALSE(check_relays(facts).back().advice.empty());
}

TEST_CASE("relays of the worker's service are found in its settings") {
    CHECK(relays_of_service("").empty());
    CHECK(relays_of_service("#ASSAY_WORKER_OPTIONS=--relay a:1\nASSAY_WORKER_ROLE=--relay\n").empty());
    const std::string twice =
        "ASSAY_WORKER_OPTIONS=--relay a:1\nASSAY_WORKER_OPTIONS=\"--relay b:2 --threads 2 --relay=c:3\"\n";
    CHECK(relays_of_service(twice) == std::vector<std::string>{"b:2", "c:3"});
    CHECK(relays_of_service("ASSAY_WORKER_OPTIONS=--threads 2 --relay").empty());
}

TEST_CASE("a sandbox that does not work is a failure, and one that is off a warning") {
    Facts facts = healthy();
    CHECK(level_of(facts, "sandbox") == Level::kOk);
    facts.sandbox.error = "the kernel takes no seccomp filter";
    CHECK(level_of(facts, "sandbox") == Level::kFailure);
    CHECK(check_sandbox(facts).front().text == facts.sandbox.error);
    CHECK_FALSE(check_sandbox(facts).front().advice.empty());
    facts.sandbox.is_on = false;
    CHECK(level_of(facts, "sandbox") == Level::kWarning);
}

TEST_CASE("a GPU is listed where the worker is installed") {
    Facts facts = healthy();
    CHECK(check_gpu(facts).empty());
    facts.gpu.has_worker = true;
    CHECK(level_of(facts, "gpu") == Level::kOk);
    facts.gpu.devices = {"a GPU"};
    CHECK(check_gpu(facts).front().text == "a GPU");
}
