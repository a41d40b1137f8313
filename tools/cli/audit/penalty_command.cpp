// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <cstdint>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include <tools/cli/common/add_command.hpp>
#include <tools/cli/common/arguments.hpp>
#include <tools/cli/common/table.hpp>
#include <client/audit.hpp>
#include <client/penalty.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

struct PenaltyArguments {
    std::string task;
    std::string account;
    std::uint64_t limit = 50;
    std::shared_ptr<Trusting> trusting;
};

int run_explain(const Session& session, const PenaltyArguments& a) {
    client::RpcClient rpc = session.rpc();
    const auto task = decode_id<contracts::TaskId>(a.task, "task");
    const auto account = a.account.empty() ? std::nullopt : std::optional(decode_account(session, a.account));
    const client::AuditResult audit = client::audit_task(rpc, task, trust_of(session, *a.trusting));
    if (!audit.verified) {
        throw Failure(kExitMismatch, "not_verified", "the task's history does not verify: " + audit.problem);
    }
    json items = json::array();
    std::string text;
    for (const client::Penalty& penalty : client::find_penalties(audit.history)) {
        if (account && penalty.from != *account) {
            continue;
        }
        items.push_back(to_json(task, penalty));
        text += (text.empty() ? "" : "\n") + client::explain_penalty(task, penalty);
    }
    if (items.empty()) {
        text = std::string("Nobody lost stake in this task") + (account ? " of that account" : "") + ".";
    }
    session.print({{"task", to_hex(task.view())}, {"height", audit.height}, {"penalties", std::move(items)}}, text);
    return kExitOk;
}

/// The node's word, unlike explain: it leads to the tasks whose histories can be audited.
int run_list(const Session& session, const PenaltyArguments& a) {
    client::RpcClient rpc = session.rpc();
    json params{{"event", "slashed"}, {"order", "newest"}};
    if (!a.account.empty()) {
        params["account"] = to_hex(decode_account(session, a.account).view());
    }
    json answer = list(rpc, "event_list", params, "events", a.limit);
    Table table({"HEIGHT>", "LOST>", "BURNED>", "WHY", "ACCOUNT", "TASK"});
    for (const json& event : answer.at("events")) {
        table.add(
            {to_text(event.at("height")), amount_text(event.at("amount")), amount_text(event.at("burned")),
             to_text(event.at("reason")), to_text(event.at("from")), to_text(event.at("task"))}
        );
    }
    const std::string text =
        table.empty() ? "nobody lost stake\n" : table.text() + "why: assay penalty explain TASK, which verifies it\n";
    session.print(answer, text + begins_note(answer));
    return kExitOk;
}

}  // namespace

void add_penalty_command(CLI::App& app, Session& session) {
    auto a = std::make_shared<PenaltyArguments>();
    CLI::App& group = *app.add_subcommand("penalty", "Explain losses of stake")->require_subcommand(1);
    CLI::App* command = group.add_subcommand(
        "explain", "Explain every loss of stake in a task: who, how much, why, and how to see it again"
    );
    command->add_option("task", a->task, "The task's id")->required();
    command->add_option("--account", a->account, "Only this account's");
    a->trusting = add_trust_options(*command);
    command->callback([&session, a] { session.command = [&session, a] { return run_explain(session, *a); }; });
    CLI::App* listing =
        add_command(group, session, "list", "Losses of stake in all tasks, the latest first", a, run_list);
    listing->add_option("account", a->account, "Only this account's: an address, or the name of a key");
    listing->add_option("--limit", a->limit, "List at most this many")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
}

}  // namespace assay::cli
