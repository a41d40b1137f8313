// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/state/state.hpp>
#include <core/codec/borsh.hpp>
#include <client/audit.hpp>
#include <tools/cli/common/proof.hpp>

#include <tests/unit/cli/forged_node.hpp>

namespace assay::client {
namespace {

using cli_test::ForgedNode;
using nlohmann::json;

AuditResult audit(ForgedNode& node, const Trust& trust = {}) {
    node.serve();
    client::RpcClient rpc(node.url());
    return audit_task(rpc, node.task.id, trust);
}

void check_problem(const AuditResult& result, const std::string& part) {
    CHECK_FALSE(result.verified);
    CHECK_MESSAGE(result.problem.find(part) != std::string::npos, result.problem);
}

TEST_CASE("an audit accepts a history that makes the proven root") {
    ForgedNode node(5);
    const AuditResult result = audit(node);
    CHECK(result.verified);
    CHECK(result.problem.empty());
    CHECK(result.records == 5);
    CHECK(result.height == ForgedNode::kHeight);
    CHECK(result.app_hash == node.app_hash);
}

TEST_CASE("an audit follows pages to their end") {
    ForgedNode node(5);
    node.page_records = 2;
    CHECK(audit(node).verified);
}

TEST_CASE("an audit leaves out records that are later than the proof") {
    ForgedNode node(5);
    contracts::HistoryRecord later = node.records.back();
    later.index = 5;
    later.height = Height{ForgedNode::kHeight + 1};
    node.records.push_back(later);
    const AuditResult result = audit(node);
    CHECK(result.verified);
    CHECK(result.records == 5);
}

TEST_CASE("an audit names a record that is missing in the middle") {
    ForgedNode node(5);
    node.records.erase(node.records.begin() + 2);
    check_problem(audit(node), "history record 2 is missing");
}

TEST_CASE("an audit names a record that is missing at the end") {
    ForgedNode node(5);
    node.records.pop_back();
    check_problem(audit(node), "history record 4 is missing");
}

TEST_CASE("an audit ends when a node gives empty pages without end") {
    ForgedNode node(5);
    node.tamper = [](const std::string& method, json& result) {
        if (method == "task_history") {
            result["records"] = json::array();
            result["next_cursor"] = "0";
        }
    };
    check_problem(audit(node), "history record 0 is missing");
}

TEST_CASE("an audit refuses an altered record") {
    ForgedNode node(5);
    node.records[3].event = contracts::history::Completed{};
    check_problem(audit(node), "history record 3 is not the chain's: after block 5 the chain's history root is");
}

TEST_CASE("an audit names the first of several forged records") {
    for (std::size_t first = 0; first < 5; ++first) {
        ForgedNode node(5);
        for (std::size_t i = first; i < 5; i += 2) {
            node.records[i].actor.data.fill(7);
        }
        check_problem(audit(node), "history record " + std::to_string(first) + " is not the chain's");
    }
}

TEST_CASE("an audit names the records of a block when it cannot tell them apart") {
    ForgedNode node(14);
    node.records[9].tx.data.fill(1);
    check_problem(audit(node), "one of the history records 8 to 9 is not the chain's: after block 5");
}

TEST_CASE("an audit finds the record as nearly as the states that are kept allow") {
    const std::vector<std::pair<std::uint64_t, std::string>> expected{
        {4, "history record 3 is not the chain's: after block 5"},
        {5, "one of the history records 0 to 3 is not the chain's: after block 5"},
        {ForgedNode::kHeight, "one of the history records 0 to 4 is not the chain's: after block 7"}};
    for (const auto& [oldest, problem] : expected) {
        ForgedNode node(5);
        node.oldest_height = oldest;
        node.records[3].event = contracts::history::Completed{};
        check_problem(audit(node), problem);
    }
}

TEST_CASE("an audit says so when older states do not verify and the record cannot be found") {
    ForgedNode liar(5);
    liar.records[3].event = contracts::history::Completed{};
    liar.tamper = [](const std::string& method, json& result) {
        if (method == "chain_proof" && result["height"] != ForgedNode::kHeight) {
            result["value"] = nullptr;
        }
    };
    check_problem(audit(liar), "which record differs cannot be told: the proof of slot");
}

TEST_CASE("an audit names the first of records that were exchanged") {
    ForgedNode node(5);
    std::swap(node.records[1], node.records[3]);
    check_problem(audit(node), "history record 1 is missing: record 3 is in its place");
    ForgedNode renumbered(5);
    std::swap(renumbered.records[1].event, renumbered.records[3].event);
    check_problem(audit(renumbered), "history record 1 is not the chain's");
}

TEST_CASE("an audit names an older record that takes the place of a newer one") {
    ForgedNode node(5);
    node.records[4] = node.records[3];
    check_problem(audit(node), "history record 4 is missing: record 3 is in its place");
}

TEST_CASE("an audit refuses a state that is older than allowed, however well it is signed") {
    ForgedNode node(5);
    node.time_ms -= 1'000'000;
    node.serve();
    client::RpcClient rpc(node.url());
    const AuditResult allowed = audit_task(rpc, node.task.id, {.proposer = {}, .block = {}, .max_age_s = 1'100});
    CHECK(allowed.verified);
    CHECK(allowed.signed_at_s == static_cast<std::int64_t>(node.time_ms / 1'000));
    check_problem(
        audit_task(rpc, node.task.id, {.proposer = {}, .block = {}, .max_age_s = 900}), "the state is stale: block 8"
    );
    // A younger one, whose records end too early: the node is behind, or hides what came after.
    ForgedNode behind(5);
    behind.serve();
    behind.tamper = [&behind](const std::string& method, json& result) {
        if (method == "chain_proof") {
            result["height"] = ForgedNode::kHeight - 1;
        }
    };
    client::RpcClient other(behind.url());
    check_problem(audit_task(other, behind.task.id), "carries the app hash");
}

TEST_CASE("an audit of ten thousand records finds the one that was forged") {
    constexpr std::size_t kRecords = 10'000;
    ForgedNode node(kRecords);
    node.serve();
    client::RpcClient rpc(node.url());
    CHECK(audit_task(rpc, node.task.id).records == kRecords);
    node.records[7'777].actor.data.fill(1);  // of block 6, with records 7143 to 8571
    check_problem(
        audit_task(rpc, node.task.id), "one of the history records 7143 to 8571 is not the chain's: after block 6"
    );
    node.records.erase(node.records.begin() + 6'000);
    check_problem(audit_task(rpc, node.task.id), "history record 6000 is missing");
}

TEST_CASE("an audit refuses a record of another task") {
    ForgedNode node(5);
    node.records[0].task.data.fill(1);
    check_problem(audit(node), "record 0 is of another task");
}

TEST_CASE("an audit refuses records whose heights run backwards") {
    ForgedNode node(5);
    node.records[4].height = Height{1};
    check_problem(audit(node), "record 4 is of height 1");
}

TEST_CASE("an audit refuses a record that does not decode") {
    ForgedNode node(5);
    node.tamper = [](const std::string& method, json& result) {
        if (method == "task_history") {
            result["records"][1]["raw"] = "00";
        }
    };
    check_problem(audit(node), "record 1 does not decode");
}

TEST_CASE("an audit refuses a value that the proof does not prove") {
    ForgedNode node(5);
    node.tamper = [&node](const std::string& method, json& result) {
        if (method == "chain_proof") {
            contracts::Task other = node.task;
            other.history_count = 1;
            result["value"] = to_hex(codec::encode(other));
        }
    };
    check_problem(audit(node), "does not lead to the app hash");
}

TEST_CASE("an audit refuses a proof that does not decode") {
    ForgedNode node(5);
    node.tamper = [](const std::string& method, json& result) {
        if (method == "chain_proof") {
            result["proof"] = "ff";
        }
    };
    check_problem(audit(node), "does not decode");
}

TEST_CASE("an audit refuses the record of another task under the task's key") {
    ForgedNode node(5);
    contracts::Task other = node.task;
    other.id.data.fill(2);
    node.slots[contracts::keys::task(node.task.id)] = codec::encode(other);
    check_problem(audit(node), "not that of task");
}

TEST_CASE("an audit refuses a block without a signature") {
    ForgedNode node(5);
    node.serve();
    node.block.signature = {};
    client::RpcClient rpc(node.url());
    check_problem(audit_task(rpc, node.task.id), "is not signed by the proposer that it names");
}

TEST_CASE("an audit refuses a block that somebody else signed") {
    ForgedNode node(5);
    node.serve();
    node.block = solo::sign_block(node.block.header, {}, cli_test::make_key(2));
    client::RpcClient rpc(node.url());
    check_problem(audit_task(rpc, node.task.id), "not by the chain's proposer");
}

TEST_CASE("an audit with a given proposer does not take the node's word") {
    ForgedNode node(5);
    node.serve();
    client::RpcClient rpc(node.url());
    CHECK(audit_task(rpc, node.task.id, {.proposer = node.proposer.account(), .block = {}}).verified);
    check_problem(
        audit_task(rpc, node.task.id, {.proposer = cli_test::make_key(2).account(), .block = {}}),
        "not by the chain's proposer"
    );
}

TEST_CASE("an audit refuses a block that carries another app hash") {
    ForgedNode node(5);
    node.serve();
    node.block.header.app_hash.data.fill(9);
    node.block = solo::sign_block(node.block.header, {}, node.proposer);
    client::RpcClient rpc(node.url());
    check_problem(audit_task(rpc, node.task.id), "carries the app hash 0909");
}

TEST_CASE("an audit refuses a block of another height or chain") {
    ForgedNode node(5);
    node.serve();
    client::RpcClient rpc(node.url());
    const solo::BlockHeader header = node.block.header;
    solo::BlockHeader other = header;
    other.height = Height{3};
    node.block = solo::sign_block(other, {}, node.proposer);
    check_problem(audit_task(rpc, node.task.id), "another block");
    other = header;
    other.chain_id = "elsewhere";
    node.block = solo::sign_block(other, {}, node.proposer);
    check_problem(audit_task(rpc, node.task.id), "another block");
}

TEST_CASE("an audit reports answers of another shape as the node's fault") {
    ForgedNode node(5);
    node.tamper = [](const std::string& method, json& result) {
        if (method == "task_history") {
            result = json::array();
        }
    };
    check_problem(audit(node), "malformed");
    ForgedNode lacking(5);
    lacking.tamper = [](const std::string& method, json& result) {
        if (method == "chain_proof") {
            result.erase("app_hash");
        }
    };
    check_problem(audit(lacking), "lacks \"app_hash\"");
}

TEST_CASE("a task that is proven to be absent is not found") {
    ForgedNode node(5);
    node.serve();
    client::RpcClient rpc(node.url());
    contracts::TaskId unknown;
    try {
        static_cast<void>(audit_task(rpc, unknown));
        FAIL("an unknown task was audited");
    } catch (const client::RpcError& error) {
        CHECK(error.name == "not_found");
    }
}

TEST_CASE("an absence that is not proven is a mismatch") {
    ForgedNode node(5);
    node.tamper = [](const std::string& method, json& result) {
        if (method == "chain_proof") {
            result["value"] = nullptr;
        }
    };
    check_problem(audit(node), "does not lead to the app hash");
}

TEST_CASE("a proof of another height than asked for is refused") {
    ForgedNode node(1);
    node.serve();
    client::RpcClient rpc(node.url());
    const Bytes key = contracts::keys::task(node.task.id);
    CHECK(prove_slot(rpc, key, Height{ForgedNode::kHeight}).value.has_value());
    node.tamper = [](const std::string&, json& result) { result["height"] = ForgedNode::kHeight; };
    CHECK_THROWS_AS(static_cast<void>(prove_slot(rpc, key, Height{3})), Mismatch);
}

}  // namespace
}  // namespace assay::client
