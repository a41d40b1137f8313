// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <chrono>

#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/state/tx_error.hpp>
#include <node/rpc/methods.hpp>
#include <node/rpc/render.hpp>
#include <tests/unit/rpc/method_server.hpp>

using namespace assay;
using namespace assay::contracts;
using assay::rpc::Json;
using assay::rpc::test::id;
using assay::rpc::test::key;
using assay::rpc::test::Server;

namespace {

template <class Id>
std::string hex(const Id& value) {
    return to_hex(value.view());
}

Bytes transfer(std::uint64_t nonce) {
    return codec::encode(
        sign_tx(TxBody{"fake-1", key(1).account(), nonce, Amount{5}, Transfer{key(2).account(), Amount{7}}}, key(1))
    );
}

}  // namespace

TEST_CASE("every documented method is there") {
    const Server server;
    for (const char* method : {"node_status", "chain_params", "chain_wait",      "chain_block",  "tx_submit",
                               "tx_get",      "account_get",  "account_history", "stake_get",    "beacon_get",
                               "task_get",    "task_list",    "task_history",    "task_lineage", "checkpoint_get",
                               "dispute_get", "dispute_list", "profile_get",     "chain_proof",  "rpc.discover"}) {
        CAPTURE(method);
        const int code = server.code(method, {{"no_such_parameter", 1}});
        CHECK(code == rpc::kInvalidParams);
        const std::string message = server.call(method, {{"no_such_parameter", 1}}).at("error").at("message");
        CHECK(message.find("no_such_parameter") != std::string::npos);
    }
}

TEST_CASE("OPR-2: a transaction shows its owner beside its sender") {
    Tx tx{{"fake-1", key(1).account(), 3, Amount{4}, CompleteTask{}}, {}};
    CHECK(rpc::render_tx_bytes(codec::encode(tx), false).at("owner").is_null());
    tx.body.owner = key(2).account();
    const Json got = rpc::render_tx_bytes(codec::encode(tx), false);
    CHECK(got.at("owner") == crypto::to_address(key(2).account()));
    CHECK(got.at("sender") == crypto::to_address(key(1).account()));
}

TEST_CASE("parameters of the wrong kind are refused") {
    Server server;
    const std::string hash(64, 'a');
    const std::vector<std::pair<const char*, Json>> table{
        {"chain_wait", Json::object()},
        {"chain_wait", {{"after", -1}}},
        {"chain_wait", {{"after", "1"}}},
        {"chain_wait", {{"after", 1.5}}},
        {"chain_wait", {{"after", 0}, {"timeout_ms", 30'001}}},
        {"tx_submit", Json::object()},
        {"tx_submit", {{"tx", "abc"}}},
        {"tx_submit", {{"tx", "zz"}}},
        {"tx_submit", {{"tx", 5}}},
        {"tx_get", {{"hash", hash + "aa"}}},
        {"tx_get", {{"hash", "aa"}}},
        {"tx_get", {{"hash", nullptr}}},
        {"account_get", {{"account", "assay1nothing"}}},
        {"account_get", {{"account", Json::array()}}},
        {"account_history", {{"account", hash}, {"limit", 0}}},
        {"account_history", {{"account", hash}, {"limit", 101}}},
        {"account_history", {{"account", hash}, {"cursor", "00"}}},
        {"account_history", {{"account", hash}, {"cursor", 5}}},
        {"task_list", {{"state", "closed"}}},
        {"task_list", {{"state", 1}}},
        {"dispute_list", {{"state", "open"}}},
        {"checkpoint_get", {{"task", hash}}},
        {"checkpoint_get", {{"task", hash}, {"index", 4'294'967'296U}}},
        {"chain_proof", Json::object()},
        {"chain_proof", {{"task", hash}, {"account", hash}}},
        {"chain_proof", {{"key", "0g"}}},
        {"chain_proof", {{"stake", {{"account", hash}}}}},
        {"chain_proof", {{"stake", {{"account", hash}, {"role", "king"}}}}},
        {"chain_proof", {{"stake", {{"account", hash}, {"role", "solver"}, {"more", 1}}}}},
        {"chain_proof", {{"stake", hash}}},
    };
    for (const auto& [name, arguments] : table) {
        const std::string method = name;  // clang 14 captures no structured binding
        const Json& params = arguments;
        CAPTURE(method);
        CAPTURE(params.dump());
        CHECK(server.code(method, params) == rpc::kInvalidParams);
    }
}

TEST_CASE("what is not there is not_found") {
    Server server;
    const std::string hash(64, 'a');
    const std::vector<std::pair<const char*, Json>> table{
        {"chain_block", {{"height", 0}}},
        {"chain_block", {{"height", 1'000}}},
        {"tx_get", {{"hash", hash}}},
        {"task_get", {{"task", hash}}},
        {"task_lineage", {{"task", hash}}},
        {"task_history", {{"task", hash}}},
        {"checkpoint_get", {{"task", hash}, {"index", 0}}},
        {"dispute_get", {{"dispute", hash}}},
        {"profile_get", {{"task", hash}, {"profiler", hash}}},
    };
    for (const auto& [name, arguments] : table) {
        const std::string method = name;  // clang 14 captures no structured binding
        const Json& params = arguments;
        CAPTURE(method);
        CHECK(server.code(method, params) == rpc::kNotFound);
    }
}

TEST_CASE("status, parameters and blocks are as documented") {
    Server server;
    const Json status = server.result("node_status");
    CHECK(status.at("chain_id") == "fake-1");
    CHECK(status.at("height") == 7);
    CHECK(status.at("last_stop") == "unclean");
    CHECK(status.at("mempool") == Json{{"txs", 0}, {"bytes", 0}});
    CHECK(status.at("genesis_hash").get<std::string>().size() == 64);
    CHECK(status.size() == 18);
    CHECK(status.at("plan").is_null());
    CHECK(status.at("protocol_version") == kProtocolVersion);
    CHECK(status.at("first_history") == 1);
    const Json params = server.result("chain_params");
    CHECK(params.at("raw") == to_hex(codec::encode(Params{})));
    CHECK(params.at("protocol_version") == kProtocolVersion);
    CHECK(params.at("gas_price_min") == "50");
    CHECK(params.at("task_value_max") == "200000000000");
    const Json block = server.result("chain_block", {{"height", 7}});
    CHECK(block.at("height") == 7);
    CHECK(block.at("parent_app_hash") == hex(id<Hash256>(4)));
    CHECK(block.at("app_hash") == hex(id<Hash256>(5)));
    CHECK(block.at("txs") == Json::array());
    CHECK(block.at("gas") == 0);
    CHECK(block.at("gas_max") == Params{}.block_gas_max);
    const auto bytes = from_hex(block.at("raw").get<std::string>());
    const auto decoded = codec::decode<solo::Block>(*bytes);
    REQUIRE(decoded);
    CHECK(solo::is_authentic(*decoded));
    CHECK(server.result("chain_block").at("height") == 7);
}

TEST_CASE("GOV-6: proposals are shown with the powers of now, and plans by height") {
    Server server;
    const Json none{{"proposals", Json::array()}, {"plans", Json::array()}};
    CHECK(server.result("proposal_list") == none);
    Proposal proposal;
    proposal.proposer = key(1).account();
    proposal.kind = ProposalKind::kParams;
    proposal.changes = {{VotableParam::kJailBlocks, 9}};
    proposal.ends = Height{50};
    proposal.votes = {key(1).account()};
    const auto number = id<ProposalId>(6);
    server.node.put(keys::proposal(number), codec::encode(proposal));
    server.node.put(keys::proposals(), codec::encode(std::vector<OpenProposal>{{proposal.proposer, number}}));
    server.node.put(
        keys::plans(),
        codec::encode(std::vector<Plan>{{Height{20}, kProtocolVersion}, {Height{30}, kProtocolVersion + 1}})
    );
    server.node.put(keys::validators(), codec::encode(std::vector<AccountId>{proposal.proposer}));
    Validator validator;
    validator.power = 70;
    server.node.put(keys::validator(proposal.proposer), codec::encode(validator));
    const Json answer = server.result("proposal_list");
    const Json shown = answer.at("proposals").at(0);
    CHECK(shown.at("id") == hex(number));
    CHECK(shown.at("kind") == "params");
    CHECK(shown.at("changes").at(0).at("param") == "jail_blocks");
    CHECK(shown.at("height").is_null());
    CHECK(shown.at("power_in_favour") == 70);
    CHECK(shown.at("power_total") == 70);
    CHECK(shown.at("has_passed") == false);
    CHECK(shown.at("effective").is_null());
    CHECK(answer.at("plans").at(0) == Json{{"kind", "halt"}, {"height", 20}, {"protocol_version", kProtocolVersion}});
    CHECK(answer.at("plans").at(1).at("kind") == "upgrade");
    CHECK(server.result("node_status").at("plan").at("height") == 20);
}

TEST_CASE("a transaction is pending, then executed, and in its sender's history") {
    Server server;
    const Bytes tx = transfer(0);
    const std::string hash = hex(tx_hash(tx));
    CHECK(server.result("tx_submit", {{"tx", to_hex(tx)}}).at("hash") == hash);
    const Json pending = server.result("tx_get", {{"hash", hash}});
    CHECK(pending.at("status") == "pending");
    CHECK(pending.at("height").is_null());
    CHECK(server.result("account_get", {{"account", hex(key(1).account())}}).at("next_nonce") == 1);
    server.node.wait_for_block(Height{7}, std::chrono::milliseconds(0));
    const Json executed = server.result("tx_get", {{"hash", hash}});
    CHECK(executed.at("status") == "executed");
    CHECK(executed.at("height") == 8);
    CHECK(executed.at("index") == 0);
    CHECK(executed.at("action") == "transfer");
    CHECK(executed.at("sender") == crypto::to_address(key(1).account()));
    CHECK(executed.at("nonce") == 0);
    CHECK(executed.at("fee") == "5");
    CHECK(executed.at("code") == 0);
    CHECK(executed.at("error").is_null());
    CHECK(executed.at("size_bytes") == tx.size());
    CHECK(executed.at("body") == Json{{"to", crypto::to_address(key(2).account())}, {"amount", "7"}});
    CHECK(executed.at("raw") == to_hex(tx));
    CHECK(executed.at("gas") == 77);
    CHECK(pending.at("gas").is_null());
    const Json block = server.result("chain_block", {{"height", 8}});
    CHECK(block.at("txs")[0].at("hash") == hash);
    CHECK(block.at("txs")[0].at("action") == "transfer");
    CHECK(block.at("txs")[0].at("gas") == 77);
    CHECK(block.at("gas") == 77);
    const Json history = server.result("account_history", {{"account", crypto::to_address(key(1).account())}});
    REQUIRE(history.at("txs").size() == 1);
    CHECK(history.at("txs")[0].at("hash") == hash);
    CHECK_FALSE(history.at("txs")[0].contains("body"));
    CHECK(history.at("next_cursor").is_null());
}

TEST_CASE("a refused transaction says why") {
    Server server;
    const auto refuse_with = [&](consensus::Refusal error) {
        server.node.refuse = [error](const Bytes&) { return std::optional(error); };
        return server.call("tx_submit", {{"tx", "00"}}).at("error");
    };
    const auto code = static_cast<std::uint8_t>(TxError::kFeeTooLow);
    const Json rejected = refuse_with({.code = code});
    CHECK(rejected.at("code") == rpc::kTxRejected);
    CHECK(rejected.at("data").at("tx_error") == code);
    CHECK(rejected.at("data").at("reason") == "fee_too_low");
    const Json dear = refuse_with({.code = static_cast<std::uint8_t>(TxError::kValueTooHigh)});
    CHECK(dear.at("data").at("reason") == "value_too_high");
    const auto message = dear.at("message").get<std::string>();
    CHECK(message.find("task_value_max, 200000000000 grains") != std::string::npos);
    CHECK(message.find("split the training") != std::string::npos);
    CHECK(refuse_with({.reason = consensus::RefusalReason::kAlreadyKnown}).at("data").at("reason") == "already_known");
    CHECK(refuse_with({.reason = consensus::RefusalReason::kFull}).at("code") == rpc::kLimitExceeded);
    CHECK(refuse_with({.reason = consensus::RefusalReason::kStopping}).at("code") == rpc::kUnavailable);
}

TEST_CASE("accounts and stakes never seen are zeros") {
    const Server server;
    const std::string account = crypto::to_address(key(9).account());
    CHECK(
        server.result("account_get", {{"account", account}}) ==
        Json{{"account", account}, {"balance", "0"}, {"nonce", 0}, {"next_nonce", 0}, {"operator", nullptr}}
    );
    const Json none{
        {"free", "0"},
        {"locked", "0"},
        {"unbonding", Json::array()},
        {"terms",
         {{"hardware_class", 0}, {"price", 0}, {"memory", 0}, {"replay_blocks", 0}, {"offers", Json::array()}}},
        {"score", 0},
        {"is_unlisted", false},
        {"declined_until", nullptr}};
    CHECK(
        server.result("stake_get", {{"account", hex(key(9).account())}}) ==
        Json{
            {"account", account},
            {"operator", nullptr},
            {"roles", {{"solver", none}, {"verifier", none}, {"whistleblower", none}, {"validator", none}}}}
    );
}

TEST_CASE("the beacon shows its seats, who owes a secret, and the open round") {
    Server server;
    CHECK(
        server.result("beacon_get") ==
        Json{
            {"rounds", 0},
            {"seed", nullptr},
            {"withheld", Json::array()},
            {"seats", Json::array()},
            {"round", nullptr},
            {"raw", to_hex(codec::encode(Beacon{}))}}
    );
    Beacon beacon;
    beacon.rounds = 3;
    beacon.seed.data[0] = 1;
    beacon.withheld = {key(3).account()};
    beacon.seats = {{key(1).account(), {}, Height{4}, Amount{7}}, {key(2).account(), {}, Height{6}, Amount{7}}};
    beacon.round = Round{Height{5}, {}, {{key(2).account(), {}}}};
    server.node.put(keys::beacon(), codec::encode(beacon));
    const Json answer = server.result("beacon_get");
    CHECK(answer.at("rounds") == 3);
    CHECK(answer.at("withheld") == Json{crypto::to_address(key(3).account())});
    CHECK(answer.at("seats").at(0).at("due") == true);
    CHECK(answer.at("seats").at(0).at("bond") == "7");
    CHECK(answer.at("seats").at(1).at("due") == false);
    CHECK(answer.at("round").at("opened_at") == 5);
    CHECK(answer.at("round").at("contributions").at(0).at("account") == crypto::to_address(key(2).account()));
}

TEST_CASE("a listing is read page by page, filtered, with cursors of its own") {
    Server server;
    for (std::uint8_t i = 1; i <= 7; ++i) {
        server.put_task(i, i % 2 == 0 ? TaskState::kSettled : TaskState::kOpen);
    }
    std::vector<Json> ids;
    Json params{{"state", "open"}, {"limit", 3}};
    for (int pages = 0; pages < 10; ++pages) {
        const Json page = server.result("task_list", params);
        for (const Json& task : page.at("tasks")) {
            CHECK(task.at("state") == "open");
            ids.push_back(task.at("id"));
        }
        if (page.at("next_cursor").is_null()) {
            break;
        }
        params["cursor"] = page.at("next_cursor");
    }
    CHECK(ids == std::vector<Json>{hex(id<TaskId>(1)), hex(id<TaskId>(3)), hex(id<TaskId>(5)), hex(id<TaskId>(7))});
    const Json cursor = server.result("task_list", {{"limit", 2}}).at("next_cursor");
    REQUIRE(cursor.is_string());
    CHECK(server.result("task_list", {{"cursor", cursor}}).at("tasks").size() == 5);
    CHECK(server.code("task_list", {{"cursor", cursor}, {"state", "open"}}) == rpc::kInvalidParams);
    CHECK(server.code("dispute_list", {{"cursor", cursor}}) == rpc::kInvalidParams);
    CHECK(server.code("task_history", {{"task", hex(id<TaskId>(1))}, {"cursor", cursor}}) == rpc::kInvalidParams);
}

TEST_CASE("a task, its history, checkpoints and disputes are found") {
    Server server;
    Task task = server.put_task(1, TaskState::kChallenge);
    task.checkpoints = 1;
    server.node.put(keys::task(task.id), codec::encode(task));
    server.node.put(keys::checkpoint(task.id, 0), codec::encode(Checkpoint{}));
    Dispute dispute;
    dispute.id = id<DisputeId>(2);
    dispute.task = task.id;
    server.node.put(keys::dispute(dispute.id), codec::encode(dispute));
    server.node.dispute_ids.push_back(dispute.id);
    server.node.moves.push_back({id<Hash256>(1), Height{3}, "open_dispute", 99});
    for (std::uint32_t i = 0; i < 3; ++i) {
        server.node.history.push_back({task.id, i, Height{i}, {}, {}, history::Completed{}});
    }
    const Json got = server.result("task_get", {{"task", hex(task.id)}});
    CHECK(got.at("checkpoints").size() == 1);
    CHECK(got.at("disputes") == Json::array({hex(dispute.id)}));
    CHECK(got.at("raw") == to_hex(codec::encode(task)));
    const Json history = server.result("task_history", {{"task", hex(task.id)}, {"limit", 2}});
    CHECK(history.at("records").size() == 2);
    CHECK(history.at("records")[1].at("raw") == to_hex(codec::encode(server.node.history[1])));
    CHECK(
        server.result("task_history", {{"task", hex(task.id)}, {"cursor", history.at("next_cursor")}})
            .at("records")[0]
            .at("index") == 2
    );
    CHECK(
        server.result("checkpoint_get", {{"task", hex(task.id)}, {"index", 0}}).at("raw") ==
        to_hex(codec::encode(Checkpoint{}))
    );
    const Json shown = server.result("dispute_get", {{"dispute", hex(dispute.id)}});
    CHECK(shown.at("moves")[0].at("size_bytes") == 99);
    CHECK(shown.at("referee_us") == 12.5);
    const Json listed = server.result("dispute_list", {{"task", hex(task.id)}, {"state", "active"}});
    REQUIRE(listed.at("disputes").size() == 1);
    CHECK_FALSE(listed.at("disputes")[0].contains("raw"));
    CHECK(server.result("dispute_list", {{"state", "moot"}}).at("disputes").empty());
}

TEST_CASE("a node that began with a snapshot says from which block on its listings are") {
    Server server;
    server.node.first_block = 6;
    server.node.first_history = 4;
    const Task task = server.put_task(1, TaskState::kChallenge);
    Dispute dispute;
    dispute.id = id<DisputeId>(2);
    dispute.task = task.id;
    server.node.put(keys::dispute(dispute.id), codec::encode(dispute));
    CHECK(server.result("node_status").at("first_history") == 4);
    CHECK(server.result("task_list").at("first_height") == 4);
    CHECK(server.result("task_get", {{"task", hex(task.id)}}).at("first_height") == 4);
    CHECK(server.result("dispute_list").at("first_height") == 4);
    CHECK(server.result("dispute_get", {{"dispute", hex(dispute.id)}}).at("first_height") == 4);
    // Transactions are pruned with their blocks; what happened to tasks is not.
    CHECK(server.result("account_history", {{"account", hex(key(1).account())}}).at("first_height") == 6);
    Task busy = task;
    busy.history_count = 3;
    server.node.put(keys::task(busy.id), codec::encode(busy));
    const Json refused = server.call("task_history", {{"task", hex(task.id)}}).at("error");
    CHECK(refused.at("code") == rpc::kUnavailable);
    CHECK(refused.at("data").at("first_height") == 4);
}

TEST_CASE("a profile is found by who measured it") {
    Server server;
    Task task = server.put_task(1, TaskState::kProfiling);
    auto& profiles = task.tolerance.emplace().profiles;
    profiles.resize(2);
    profiles[0].profiler = key(1).account();
    profiles[1].profiler = key(2).account();
    server.node.put(keys::task(task.id), codec::encode(task));
    ProfileReport report;
    report.start_root.data.fill(7);
    report.segments.resize(2);
    server.node.put(keys::profile(task.id, 1), codec::encode(report));
    const Json got = server.result("profile_get", {{"task", hex(task.id)}, {"profiler", hex(key(2).account())}});
    CHECK(got.at("raw") == to_hex(codec::encode(report)));
    CHECK(got.at("segments").size() == 2);
    // Not published, and not drawn.
    for (const std::uint8_t other : {std::uint8_t{1}, std::uint8_t{3}}) {
        CAPTURE(other);
        CHECK(
            server.code("profile_get", {{"task", hex(task.id)}, {"profiler", hex(key(other).account())}}) ==
            rpc::kNotFound
        );
    }
}

TEST_CASE("a proof names its slot, whichever way it was asked for") {
    Server server;
    const Task task = server.put_task(1, TaskState::kOpen);
    const std::string account = hex(key(1).account());
    const std::vector<std::pair<Json, Bytes>> table{
        {{{"task", hex(task.id)}}, keys::task(task.id)},
        {{{"account", account}}, keys::account(key(1).account())},
        {{{"dispute", hex(id<DisputeId>(2))}}, keys::dispute(id<DisputeId>(2))},
        {{{"stake", {{"account", account}, {"role", "verifier"}}}}, keys::stake(Role::kVerifier, key(1).account())},
        {{{"key", to_hex(keys::params())}}, keys::params()},
    };
    for (const auto& [arguments, slot] : table) {
        const Json& params = arguments;
        CAPTURE(params.dump());
        const Json got = server.result("chain_proof", params);
        CHECK(got.at("key") == to_hex(slot));
        CHECK(got.at("height") == 7);
        CHECK(got.at("proof") == "0001000000" + hex(id<Hash256>(4)));
    }
    CHECK(server.result("chain_proof", {{"task", hex(task.id)}}).at("value") == to_hex(codec::encode(task)));
    CHECK(server.result("chain_proof", {{"account", account}}).at("value").is_null());
    server.node.oldest_height = 5;
    CHECK(server.result("chain_proof", {{"account", account}, {"height", 6}}).at("height") == 6);
    CHECK(server.code("chain_proof", {{"account", account}, {"height", 4}}) == rpc::kUnavailable);
}

TEST_CASE("a lineage has the ancestors, nearest first, and each descendant after its parent") {
    Server server;
    const auto put = [&](std::uint8_t seed, std::optional<std::uint8_t> parent, const Lineage& lineage) {
        Task task = server.put_task(seed, TaskState::kVerifying);
        task.spec.parent = parent ? std::optional(id<TaskId>(*parent)) : std::nullopt;
        task.depth = parent ? 1 : 0;
        task.tainted_by = seed == 5 ? std::optional(id<TaskId>(1)) : std::nullopt;
        server.node.put(keys::task(task.id), codec::encode(task));
        server.node.put(keys::lineage(task.id), codec::encode(lineage));
    };
    put(1, std::nullopt, {.first_child = id<TaskId>(3), .next_sibling = {}});
    put(2, 1, {.first_child = id<TaskId>(4), .next_sibling = {}});
    put(3, 1, {.first_child = {}, .next_sibling = id<TaskId>(2)});
    put(4, 2, {.first_child = id<TaskId>(5), .next_sibling = {}});
    put(5, 4, {});
    const auto ids = [](const Json& tasks) {
        std::vector<std::string> out;
        for (const Json& task : tasks) {
            out.push_back(task.at("id"));
        }
        return out;
    };
    const auto hexes = [](const std::vector<std::uint8_t>& seeds) {
        std::vector<std::string> out;
        for (const std::uint8_t seed : seeds) {
            out.push_back(hex(id<TaskId>(seed)));
        }
        return out;
    };
    const Json whole = server.result("task_lineage", {{"task", hex(id<TaskId>(1))}});
    CHECK(ids(whole.at("descendants")) == hexes({3, 2, 4, 5}));
    CHECK(whole.at("ancestors").empty());
    CHECK(whole.at("complete") == true);
    const Json last = server.result("task_lineage", {{"task", hex(id<TaskId>(5))}});
    CHECK(ids(last.at("ancestors")) == hexes({4, 2, 1}));
    CHECK(last.at("descendants").empty());
    CHECK(last.at("task").at("tainted_by") == hex(id<TaskId>(1)));
    CHECK(last.at("task").at("parent") == hex(id<TaskId>(4)));
}
