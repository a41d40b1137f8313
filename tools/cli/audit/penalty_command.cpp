// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include <tools/cli/common/arguments.hpp>
#include <client/audit.hpp>
#include <client/penalty.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

struct PenaltyArguments {
    std::string task;
    std::string account;
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
}

}  // namespace assay::cli
