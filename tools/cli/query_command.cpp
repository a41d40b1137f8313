// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/commands.hpp>

#include <fstream>
#include <iostream>
#include <iterator>

#include <contracts/chain/state.hpp>
#include <core/codec/borsh.hpp>
#include <tools/cli/audit.hpp>
#include <tools/cli/listing.hpp>
#include <tools/cli/proof.hpp>
#include <tools/cli/signer.hpp>
#include <tools/cli/table.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;
namespace keys = contracts::keys;

struct Options {
    std::string value;
    std::uint64_t height = 0;
    std::string proposer;
    std::string key;
    std::string task;
    std::string account;
    std::string dispute;
    std::string challenge;
    std::string stake;
    bool no_signature = false;
};

void show_status(const Session& session, const Options&) {
    const json s = session.rpc().call("node_status");
    Fields fields;
    fields.add("chain", text_of(s, "chain_id"))
        .add("engine", text_of(s, "engine"))
        .add("version", text_of(s, "version"))
        .add("height", text_of(s, "height"))
        .add("app hash", text_of(s, "app_hash"))
        .add("proposer", text_of(s, "proposer"))
        .add("mempool", text_of(s.at("mempool"), "txs") + " transactions, " + text_of(s.at("mempool"), "bytes") + " bytes")
        .add("block interval", text_of(s, "block_interval_ms") + " ms")
        .add("last stop", text_of(s, "last_stop"))
        .add("uptime", text_of(s, "uptime_s") + " s");
    session.print(s, fields.text());
}

void show_params(const Session& session, const Options&) {
    const json answer = session.rpc().call("chain_params");
    Fields fields;
    for (const auto& [name, value] : answer.items()) {
        if (name != "raw") {
            fields.add(name, value.is_string() ? amount_of(answer, name) : text_of(answer, name));
        }
    }
    session.print(answer, fields.text());
}

void show_block(const Session& session, const Options& options) {
    json params = json::object();
    if (options.height > 0) {
        params["height"] = options.height;
    }
    const json block = session.rpc().call("chain_block", params);
    Fields fields;
    for (const char* name : {"height", "hash", "parent", "time_ms", "proposer", "parent_app_hash", "app_hash"}) {
        fields.add(name, text_of(block, name));
    }
    std::string text = fields.text();
    if (!block.at("txs").empty()) {
        Table table({"ACTION", "SENDER", "STATUS", "TRANSACTION"});
        for (const json& tx : block.at("txs")) {
            const std::string error = text_of(tx, "error");
            table.add({text_of(tx, "action"), short_of(tx, "sender"), error == "-" ? "executed" : error, text_of(tx, "hash")});
        }
        text += "\n" + table.text();
    }
    session.print(block, text);
}

/// "solver:assay1...": a role and an account.
Bytes stake_key(const Session& session, const std::string& text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) {
        throw Failure(kExitUsage, "usage", "--stake is ROLE:ACCOUNT");
    }
    return keys::stake(parse_role(text.substr(0, colon)), parse_account(session, text.substr(colon + 1)));
}

Bytes key_of(const Session& session, const Options& o) {
    if (!o.task.empty()) {
        return keys::task(parse_id<contracts::TaskId>(o.task, "--task"));
    }
    if (!o.account.empty()) {
        return keys::account(parse_account(session, o.account));
    }
    if (!o.dispute.empty()) {
        return keys::dispute(parse_id<contracts::DisputeId>(o.dispute, "--dispute"));
    }
    if (!o.challenge.empty()) {
        return keys::challenge(parse_id<contracts::ChallengeId>(o.challenge, "--challenge"));
    }
    if (!o.stake.empty()) {
        return stake_key(session, o.stake);
    }
    auto key = from_hex(o.key);
    if (!key || key->empty()) {
        throw Failure(kExitUsage, "usage", "--key must be hex digits, two for each byte");
    }
    return *std::move(key);
}

std::optional<AccountId> proposer_of(const Session& session, const Options& options) {
    return options.proposer.empty() ? std::nullopt : std::optional(parse_account(session, options.proposer));
}

void show_proof(const Session& session, const Options& options) {
    net::RpcClient rpc = session.rpc();
    const Bytes key = key_of(session, options);
    const auto height = options.height > 0 ? std::optional(Height{options.height}) : std::nullopt;
    const ProvenSlot slot = prove_slot(rpc, key, height);
    if (!options.no_signature) {
        check_signed(rpc, slot, proposer_of(session, options));
    }
    const json answer{{"key", to_hex(key)},
                      {"value", slot.value ? json(to_hex(*slot.value)) : json()},
                      {"height", slot.height.value},
                      {"app_hash", to_hex(slot.app_hash.view())},
                      {"verified", true},
                      {"signature_checked", !options.no_signature}};
    Fields fields;
    fields.add("key", text_of(answer, "key"))
        .add("value", slot.value ? text_of(answer, "value") : "nothing there")
        .add("height", text_of(answer, "height"))
        .add("app hash", text_of(answer, "app_hash"))
        .add("proof", "leads to the app hash")
        .add("signature", options.no_signature ? "not checked" : "the next block carries the app hash and is signed");
    session.print(answer, fields.text());
}

void show_tx(const Session& session, const Options& options) {
    const auto hash = parse_id<Hash256>(options.value, "a transaction's hash");
    const json tx = session.rpc().call("tx_get", {{"hash", to_hex(hash.view())}});
    Fields fields;
    for (const char* name : {"hash", "status", "error", "height", "index", "action", "sender", "nonce", "size_bytes"}) {
        fields.add(name, text_of(tx, name));
    }
    fields.add("fee", amount_of(tx, "fee"));
    const json body = tx.value("body", json());
    session.print(tx, fields.text() + (body.is_object() ? "\n" + body.dump(2) : ""));
}

/// Hex, or a file of hex.
Bytes tx_bytes(const std::string& text) {
    std::string hex = text;
    if (text.starts_with('@')) {
        std::ifstream in(text.substr(1), std::ios::binary);
        if (!in.is_open()) {
            throw Failure(kExitNotFound, "file_not_found", "cannot read " + text.substr(1));
        }
        hex.assign(std::istreambuf_iterator<char>(in), {});
        hex.erase(hex.find_last_not_of(" \r\n") + 1);
    }
    auto bytes = from_hex(hex);
    if (!bytes) {
        throw Failure(kExitUsage, "usage", "a transaction is given as hex, or as @FILE of hex");
    }
    return *std::move(bytes);
}

void decode_tx(const Session& session, const Options& options) {
    const Bytes bytes = tx_bytes(options.value);
    const auto tx = codec::decode<contracts::Tx>(bytes);
    if (!tx) {
        throw Failure(kExitInvalidArtifact, "undecodable", "these bytes are no transaction",
                      {{"decode_error", static_cast<int>(tx.error())}});
    }
    const contracts::TxBody& body = tx->body;
    const bool is_signed =
        crypto::verify_signature(body.sender, contracts::signing_hash(body).view(), tx->signature);
    const json answer{{"hash", to_hex(contracts::tx_hash(bytes).view())},
                      {"chain_id", body.chain_id},
                      {"sender", to_hex(body.sender.view())},
                      {"nonce", body.nonce},
                      {"fee", std::to_string(body.fee.grains)},
                      {"action", contracts::action_name(body.action)},
                      {"size_bytes", bytes.size()},
                      {"signature_valid", is_signed}};
    Fields fields;
    for (const auto& [name, value] : answer.items()) {
        fields.add(name, name == "fee" ? amount_of(answer, name) : text_of(answer, name));
    }
    session.print(answer, fields.text());
}

void submit_tx(const Session& session, const Options& options) {
    const json answer = session.rpc().call("tx_submit", {{"tx", to_hex(tx_bytes(options.value))}});
    session.print(answer, "submitted " + text_of(answer, "hash"));
}

void audit(const Session& session, const Options& options) {
    net::RpcClient rpc = session.rpc();
    const auto id = parse_id<contracts::TaskId>(options.value, "a task's id");
    session.progress("reading the task's history and the proof of its record ...");
    const AuditResult result = audit_task(rpc, id, proposer_of(session, options));
    const json answer{{"task", to_hex(id.view())},
                      {"verified", result.verified},
                      {"records", result.records},
                      {"height", result.height},
                      {"app_hash", to_hex(result.app_hash.view())},
                      {"problem", result.problem.empty() ? json() : json(result.problem)}};
    if (!result.verified) {
        throw Failure(kExitMismatch, "mismatch", "does not verify: " + result.problem, answer);
    }
    Fields fields;
    fields.add("task", text_of(answer, "task"))
        .add("history", text_of(answer, "records") + " records lead to the history root")
        .add("record", "proven against the app hash of height " + text_of(answer, "height"))
        .add("app hash", text_of(answer, "app_hash") + ", signed with the next block");
    session.print(answer, "verified\n" + fields.text());
}

void show_version(const Session& session, const Options&) {
    const json answer{{"version", ASSAY_VERSION}, {"compiler", __VERSION__}};
    session.print(answer, std::string("assay ") + ASSAY_VERSION);
}

}  // namespace

void add_query_command(CLI::App& app, Session& session) {
    auto options = std::make_shared<Options>();
    auto* group = app.add_subcommand("query", "The node, blocks, parameters, proofs")->require_subcommand(1);
    add_action<Options>(*group, session, options, "status", "The node", show_status);
    add_action<Options>(*group, session, options, "params", "The chain's parameters", show_params);
    add_action<Options>(*group, session, options, "block", "A block", show_block)
        ->add_option("height", options->height, "Default: the last one");
    auto* proof = add_action<Options>(*group, session, options, "proof", "A slot of the state, verified here", show_proof);
    auto* slot = proof->add_option_group("slot")->require_option(1);
    slot->add_option("--task", options->task, "The record of a task");
    slot->add_option("--account", options->account, "An account");
    slot->add_option("--dispute", options->dispute, "A dispute");
    slot->add_option("--challenge", options->challenge, "An availability challenge");
    slot->add_option("--stake", options->stake, "ROLE:ACCOUNT");
    slot->add_option("--key", options->key, "Any slot, by its key in hex");
    proof->add_option("--height", options->height, "The state after this block; default: the last");
    proof->add_option("--proposer", options->proposer, "Whose signature counts; default: the one that the node names");
    proof->add_flag("--no-signature", options->no_signature, "Do not wait for the block that signs the app hash");
}

void add_tx_command(CLI::App& app, Session& session) {
    auto options = std::make_shared<Options>();
    auto* group = app.add_subcommand("tx", "Transactions")->require_subcommand(1);
    add_action<Options>(*group, session, options, "show", "A transaction on the chain", show_tx)
        ->add_option("hash", options->value, "Its hash")
        ->required();
    add_action<Options>(*group, session, options, "decode", "What bytes say, without a node", decode_tx)
        ->add_option("tx", options->value, "Hex, or @FILE")
        ->required();
    add_action<Options>(*group, session, options, "submit", "Hand signed bytes to the node", submit_tx)
        ->add_option("tx", options->value, "Hex, or @FILE")
        ->required();
}

void add_audit_command(CLI::App& app, Session& session) {
    auto options = std::make_shared<Options>();
    auto* group = app.add_subcommand("audit", "Check what a node says")->require_subcommand(1);
    auto* task = add_action<Options>(*group, session, options, "task", "A task's whole history and its proof", audit);
    task->add_option("id", options->value, "The task")->required();
    task->add_option("--proposer", options->proposer, "Whose signature counts; default: the one that the node names");
}

void add_version_command(CLI::App& app, Session& session) {
    add_action<Options>(app, session, std::make_shared<Options>(), "version", "What this is", show_version);
}

}  // namespace assay::cli
