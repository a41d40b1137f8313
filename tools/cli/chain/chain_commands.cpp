// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include <node/rpc/render.hpp>
#include <core/base/amount.hpp>
#include <tools/cli/common/arguments.hpp>
#include <client/audit.hpp>
#include <tools/cli/common/table.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

struct ChainArguments {
    std::string id;
    std::shared_ptr<Trusting> trusting;
    std::optional<std::uint64_t> height;
};

/// Members one by one; amounts in ASY, records in records as JSON.
std::string members_text(const json& object) {
    Facts facts;
    for (const auto& [name, value] : object.items()) {
        const bool is_money = name == "fee" || name == "gas_price_min" || name.ends_with("_bond") || name == "reward" ||
                              name == "verification_fee" || name == "amount" || name == "task_value_max" ||
                              name == "genesis" || name == "supply" || name == "burned" || name == "treasury";
        if (name != "raw") {
            facts.add(name, is_money ? amount_text(value) : to_text(value));
        }
    }
    return facts.text();
}

int run_search(const Session& session, const ChainArguments& a) {
    const json answer = session.rpc().call("search", {{"prefix", a.id}});
    Table table({"WHAT", "ID", "BLOCK>", "TITLE"});
    for (const json& found : answer.at("results")) {
        table.add(
            {to_text(found.at("kind")), to_text(found.at("id")), to_text(found.at("height")),
             to_text(found.value("title", json()))}
        );
    }
    const std::string rest = answer.at("is_whole") == true ? "" : "there is more: give more of it\n";
    session.print(answer, (table.empty() ? "nothing begins like that\n" : table.text()) + rest);
    return kExitOk;
}

int run_fees(const Session& session) {
    const json answer = session.rpc().call("fee_history", {{"count", 20}});
    Table table({"BLOCK>", "GRAINS PER GAS>", "GAS>"});
    for (const json& block : answer.at("blocks")) {
        table.add({to_text(block.at("height")), to_text(block.at("base_fee")), to_text(block.at("gas"))});
    }
    session.print(
        answer, table.text() + "next block: " + to_text(answer.at("next_base_fee")) + " grains, at most " +
                    to_text(answer.at("gas_max")) + " gas\n"
    );
    return kExitOk;
}

std::string tx_text(const json& tx) {
    json head = tx;
    head.erase("body");
    const json body = tx.value("body", json());
    return members_text(head) + (body.is_object() ? "\n" + members_text(body) : "");
}

int run_tx_show(const Session& session, const ChainArguments& a) {
    const auto hash = decode_id<Hash256>(a.id, "transaction");
    const json tx = session.rpc().call("tx_get", {{"hash", to_hex(hash.view())}});
    session.print(tx, tx_text(tx));
    return kExitOk;
}

/// Hex, or the name of a file with hex in it, or "-" for stdin.
Bytes tx_argument(const std::string& text) {
    std::string hex = text;
    if (!from_hex(text)) {
        std::ifstream file(text);
        if (text != "-" && !file) {
            throw usage("\"" + text + "\" is neither hex nor a file");
        }
        hex.assign(std::istreambuf_iterator<char>(text == "-" ? std::cin : file), {});
        hex.erase(hex.find_last_not_of(" \r\n\t") + 1);
    }
    const auto bytes = from_hex(hex);
    if (!bytes || bytes->empty()) {
        throw usage("a transaction is written in hex, two digits for each byte");
    }
    return *bytes;
}

int run_tx_decode(const Session& session, const ChainArguments& a) {
    const json tx = rpc::render_tx_bytes(tx_argument(a.id), true);
    if (tx.is_null()) {
        throw Failure(
            kExitInvalidArtifact, "undecodable",
            "these bytes are not a transaction: TX is a signed transaction in hex, or a file with one"
        );
    }
    session.print(tx, tx_text(tx));
    return kExitOk;
}

int run_tx_submit(const Session& session, const ChainArguments& a) {
    const json answer = session.rpc().call("tx_submit", {{"tx", to_hex(tx_argument(a.id))}});
    session.print(answer, "transaction " + to_text(answer.at("hash")) + " waits for a block");
    return kExitOk;
}

int run_block(const Session& session, const ChainArguments& a) {
    const json block = session.rpc().call("chain_block", a.height ? json{{"height", *a.height}} : json::object());
    json head = block;
    head.erase("txs");
    Table table({"ACTION", "RESULT", "GAS", "SENDER", "TRANSACTION"});
    for (const json& tx : block.at("txs")) {
        table.add(
            {to_text(tx.at("action")), tx.at("error").is_null() ? "executed" : to_text(tx.at("error")),
             to_text(tx.at("gas")), to_text(tx.at("sender")), to_text(tx.at("hash"))}
        );
    }
    session.print(block, members_text(head) + (table.empty() ? "" : "\n" + table.text()));
    return kExitOk;
}

int run_call(const Session& session, const char* method) {
    const json answer = session.rpc().call(method);
    session.print(answer, members_text(answer));
    return kExitOk;
}

int run_audit(const Session& session, const ChainArguments& a) {
    const auto task = decode_id<contracts::TaskId>(a.id, "task");
    client::RpcClient rpc = session.rpc();
    session.progress("fetching the history and waiting for the block that signs the state ...");
    const client::AuditResult result = client::audit_task(rpc, task, trust_of(session, *a.trusting));
    const json answer{
        {"task", to_hex(task.view())},
        {"verified", result.verified},
        {"records", result.records},
        {"height", result.height},
        {"app_hash", to_hex(result.app_hash.view())},
        {"signed_at", result.signed_at_s}};
    if (!result.verified) {
        throw Failure(kExitMismatch, "not_verified", "the audit fails: " + result.problem, answer);
    }
    const std::string height = std::to_string(result.height);
    session.print(
        answer, "verified: " + std::to_string(result.records) +
                    " history records make the history root that is proven in the state of block " + height +
                    "\n  app hash " + to_hex(result.app_hash.view()) + ", signed in block " +
                    std::to_string(result.height + 1)
    );
    return kExitOk;
}

CLI::App* add(CLI::App& group, Session& session, const char* name, const char* help, const std::function<int()>& run) {
    CLI::App* command = group.add_subcommand(name, help);
    command->callback([&session, run] { session.command = run; });
    return command;
}

}  // namespace

void add_tx_commands(CLI::App& app, Session& session) {
    CLI::App& group = *app.add_subcommand("tx", "Show, decode and submit single transactions")->require_subcommand(1);
    auto a = std::make_shared<ChainArguments>();
    const Session& s = session;
    add(group, session, "show", "A transaction by its hash", [&s, a] { return run_tx_show(s, *a); })
        ->add_option("hash", a->id, "The hash, 64 hex digits")
        ->required();
    constexpr const char* kTxHelp = "Hex, or a file with hex in it; - is stdin";
    add(group, session, "decode", "Decode a transaction; needs no node", [&s, a] { return run_tx_decode(s, *a); })
        ->add_option("tx", a->id, kTxHelp)
        ->required();
    add(group, session, "submit", "Submit a signed transaction", [&s, a] { return run_tx_submit(s, *a); })
        ->add_option("tx", a->id, kTxHelp)
        ->required();
}

void add_audit_command(CLI::App& app, Session& session) {
    CLI::App& group = *app.add_subcommand("audit", "Compare what the node says with its proofs")->require_subcommand(1);
    auto a = std::make_shared<ChainArguments>();
    const Session& s = session;
    CLI::App* task = add(group, session, "task", "A task's history against a proof and a signature", [&s, a] {
        return run_audit(s, *a);
    });
    task->add_option("task", a->id, "The task's id")->required();
    a->trusting = add_trust_options(*task);
    add_export_commands(group, session);
}

void add_version_command(CLI::App& app, Session& session) {
    const Session& s = session;
    add(app, session, "version", "The version of this program", [&s] {
        s.print({{"version", ASSAY_VERSION}}, std::string("assay ") + ASSAY_VERSION);
        return int{kExitOk};
    });
}

void add_query_commands(CLI::App& app, Session& session) {
    CLI::App& group = *app.add_subcommand("query", "Blocks, parameters, proofs")->require_subcommand(1);
    auto a = std::make_shared<ChainArguments>();
    const Session& s = session;
    add(group, session, "block", "A block", [&s, a] { return run_block(s, *a); }
    )->add_option("height", a->height, "Default: the last one");
    add(group, session, "status", "Show the state of the node and of its chain",
        [&s] { return run_call(s, "node_status"); });
    add(group, session, "params", "The chain's parameters", [&s] { return run_call(s, "chain_params"); });
    add(group, session, "supply", "How much money there is, and how much was burned",
        [&s] { return run_call(s, "supply_get"); });
    add(group, session, "fees", "What gas cost in the latest blocks", [&s] { return run_fees(s); });
    add(group, session, "search", "What an id or a title, or the beginning of one, names",
        [&s, a] { return run_search(s, *a); })
        ->add_option(
            "prefix", a->id,
            "At least 4 digits of an id, the beginning of an address or of a task's title, or a block's number"
        )
        ->required();
    add_proposals_command(group, session);
    add_proof_command(group, session);
}

}  // namespace assay::cli
