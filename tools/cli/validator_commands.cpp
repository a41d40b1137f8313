// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/commands.hpp>

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include <tools/cli/arguments.hpp>
#include <tools/cli/table.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

int run_list(const Session& session) {
    net::RpcClient rpc = session.rpc();
    const json answer = rpc.call("validator_list");
    Table table({"ACCOUNT", "POWER>", "STAKE>", "MISSED>", "STATE"});
    for (const json& item : answer.at("validators")) {
        const std::string state = item.at("is_banned") == true                ? "banned"
                                  : !item.at("jailed_until").is_null()        ? "jailed until " + to_text(item.at("jailed_until"))
                                  : item.at("power") == 0                     ? "waiting"
                                                                              : "voting";
        table.add({to_text(item.at("account")), to_text(item.at("power")), amount_text(item.at("stake").at("free")),
                   to_text(item.at("missed")), state});
    }
    session.print(answer, table.empty() ? "no validators: this chain's blocks are made by one process" : table.text());
    return kExitOk;
}

}  // namespace

void add_validator_commands(CLI::App& app, Session& session) {
    CLI::App& group = *app.add_subcommand("validator", "Who votes on blocks (CometBFT)")->require_subcommand(1);
    group.add_subcommand("list", "Every registered validator")->callback([&session] {
        session.command = [&session] { return run_list(session); };
    });
    auto key = std::make_shared<std::string>();
    CLI::App* enter = group.add_subcommand("register", "Vote with the account's validator stake; bond it with `stake bond validator`");
    enter->add_option("consensus-key", *key, "64 hex digits; `assayd show-validator` prints them")->required();
    const auto signing = add_signing_options(*enter);
    enter->callback([&session, key, signing] {
        session.command = [&session, key, signing] {
            const auto action = contracts::RegisterValidator{decode_id<contracts::ConsensusKey>(*key, "consensus key")};
            return send_and_print(session, *signing, action);
        };
    });
    CLI::App* back = group.add_subcommand("unjail", "Back into the set after the time in jail");
    const auto signing_back = add_signing_options(*back);
    back->callback([&session, signing_back] {
        session.command = [&session, signing_back] { return send_and_print(session, *signing_back, contracts::Unjail{}); };
    });
}

}  // namespace assay::cli
