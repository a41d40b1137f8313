// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include <core/codec/borsh.hpp>
#include <tools/cli/common/add_command.hpp>
#include <tools/cli/common/arguments.hpp>
#include <tools/cli/chain/explain.hpp>
#include <tools/cli/common/proof.hpp>
#include <tools/cli/common/table.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

struct DisputeArguments {
    std::string dispute;
    std::string task;
    std::string state;
    std::uint64_t limit = 50;
};

json fetch(client::RpcClient& rpc, const DisputeArguments& a) {
    const auto id = decode_id<contracts::DisputeId>(a.dispute, "dispute");
    return rpc.call("dispute_get", {{"dispute", to_hex(id.view())}});
}

std::string pinpoint_text(const json& at) {
    std::string out;
    for (const char* name : {"step", "node", "op", "tile", "partial", "tensor"}) {
        if (!at.at(name).is_null()) {
            out += (out.empty() ? "" : ", ") + std::string(name) + " " + to_text(at.at(name));
        }
    }
    return out;
}

int run_show(const Session& session, const DisputeArguments& a) {
    client::RpcClient rpc = session.rpc();
    const json d = fetch(rpc, a);
    Facts facts;
    for (const char* name :
         {"id", "task", "segment", "responder", "challenger", "state", "reason", "level", "rounds", "to_move",
          "responder_clock", "challenger_clock", "deadline", "opened_at", "ended_at", "onchain_bytes", "referee_us"}) {
        facts.add(name, to_text(d.at(name)));
    }
    facts.add("pinpoint", pinpoint_text(d.at("pinpoint")));
    for (const char* name : {"slashed", "paid", "burned"}) {
        facts.add(name, amount_text(d.at(name)));
    }
    Table moves({"HEIGHT>", "MOVE", "BYTES>", "TRANSACTION"});
    for (const json& move : d.at("moves")) {
        moves.add(
            {to_text(move.at("height")), to_text(move.at("action")), to_text(move.at("size_bytes")),
             to_text(move.at("tx"))}
        );
    }
    session.print(d, facts.text() + (moves.empty() ? "" : "\n" + moves.text()));
    return kExitOk;
}

int run_list(const Session& session, const DisputeArguments& a) {
    client::RpcClient rpc = session.rpc();
    json params = json::object();
    if (!a.task.empty()) {
        params["task"] = to_hex(decode_id<contracts::TaskId>(a.task, "task").view());
    }
    if (!a.state.empty()) {
        params["state"] = a.state;
    }
    const json answer = list(rpc, "dispute_list", params, "disputes", a.limit);
    Table table({"ID", "STATE", "SEGMENT>", "ROUNDS>", "BYTES>", "PINPOINT"});
    for (const json& d : answer.at("disputes")) {
        table.add(
            {to_text(d.at("id")), to_text(d.at("state")), to_text(d.at("segment")), to_text(d.at("rounds")),
             to_text(d.at("onchain_bytes")), pinpoint_text(d.at("pinpoint"))}
        );
    }
    session.print(answer, (table.empty() ? "no disputes\n" : table.text()) + begins_note(answer));
    return kExitOk;
}

int run_explain(const Session& session, const DisputeArguments& a) {
    client::RpcClient rpc = session.rpc();
    json answer = fetch(rpc, a);
    const auto dispute = codec::decode<contracts::Dispute>(hex_member(answer, "raw"));
    if (!dispute) {
        throw Mismatch("the node's record of the dispute does not decode");
    }
    const json task = rpc.call("task_get", {{"task", to_hex(dispute->task.view())}});
    const std::string text = explain_dispute(*dispute, answer, to_text(task.at("title")));
    session.print({{"dispute", std::move(answer)}, {"text", text}}, text);
    return kExitOk;
}

}  // namespace

void add_dispute_commands(CLI::App& app, Session& session) {
    CLI::App& group =
        *app.add_subcommand("dispute", "Disputes between solvers and their challengers")->require_subcommand(1);
    auto a = std::make_shared<DisputeArguments>();
    add_command(group, session, "show", "Show where a dispute stands", a, run_show)
        ->add_option("dispute", a->dispute, "The dispute's id")
        ->required();
    CLI::App* listing = add_command(group, session, "list", "Disputes in the order of opening", a, run_list);
    listing->add_option("--task", a->task, "List only disputes of the task with this id");
    listing->add_option("--state", a->state, "active, refuted, upheld or moot");
    listing->add_option("--limit", a->limit, "List at most this many")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    add_command(group, session, "explain", "Explain a dispute in words: claim, rounds, ruling, money", a, run_explain)
        ->add_option("dispute", a->dispute, "The dispute's id")
        ->required();
}

}  // namespace assay::cli
