// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include <core/crypto/address.hpp>
#include <tools/cli/common/add_command.hpp>
#include <tools/cli/common/arguments.hpp>
#include <tools/cli/common/table.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

struct OperatorArguments {
    std::string account;
    std::shared_ptr<Signing> signing;
};

/// OPR-1
int run_name(const Session& session, const OperatorArguments& a) {
    const AccountId account = decode_account(session, a.account);
    if (account == account_or_own(session, a.signing->from)) {
        throw usage(
            "an account cannot be its own operator",
            "make another key with `assay keys new operator`, and name its account"
        );
    }
    return send_and_print(
        session, *a.signing, contracts::NameOperator{account}, {{"operator", crypto::to_address(account)}}
    );
}

int run_remove(const Session& session, const OperatorArguments& a) {
    return send_and_print(session, *a.signing, contracts::NameOperator{}, {{"operator", nullptr}});
}

int run_show(const Session& session, const OperatorArguments& a) {
    const std::string owner = to_hex(account_or_own(session, a.account).view());
    const json account = session.rpc().call("account_get", {{"account", owner}});
    const json answer = {{"account", account.at("account")}, {"operator", account.at("operator")}};
    Facts facts;
    facts.add("account", to_text(answer.at("account")));
    facts.add("operator", answer.at("operator").is_null() ? "none" : to_text(answer.at("operator")));
    session.print(answer, facts.text());
    return kExitOk;
}

}  // namespace

void add_operator_commands(CLI::App& app, Session& session) {
    CLI::App& group =
        *app.add_subcommand("operator", "Who may do duties with an account's stake, in place of its own key")
             ->require_subcommand(1);
    auto a = std::make_shared<OperatorArguments>();
    CLI::App* name = add_command(
        group, session, "name", "Name the account's operator; the one before may do nothing more", a, run_name
    );
    name->add_option("operator", a->account, "An address, hex, or a key's name")->required();
    a->signing = add_signing_options(*name);
    auto removed = std::make_shared<OperatorArguments>();
    removed->signing =
        add_signing_options(*add_command(group, session, "remove", "Have no operator any more", removed, run_remove));
    auto shown = std::make_shared<OperatorArguments>();
    add_command(group, session, "show", "Show whom an account has named", shown, run_show)
        ->add_option("account", shown->account, "An address, hex, or a key's name; default: your only key");
}

}  // namespace assay::cli
