// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/commands.hpp>

#include <tools/cli/amount.hpp>
#include <core/crypto/address.hpp>
#include <tools/cli/listing.hpp>
#include <tools/cli/signer.hpp>
#include <tools/cli/table.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

struct Options {
    std::string account;
    std::string amount;
    std::string role;
    std::uint32_t limit = 50;
    Signer signer;
};

/// The account named, or the key that would sign.
json account_param(const Session& session, const Options& options) {
    if (!options.account.empty()) {
        return to_hex(parse_account(session, options.account).view());
    }
    throw Failure(kExitUsage, "usage", "say which account: an address, hex, or the name of a key");
}

void show_account(const Session& session, const Options& options) {
    const json answer = session.rpc().call("account_get", {{"account", account_param(session, options)}});
    Fields fields;
    fields.add("account", text_of(answer, "account"))
        .add("balance", amount_of(answer, "balance"))
        .add("nonce", text_of(answer, "nonce"))
        .add("next nonce", text_of(answer, "next_nonce"));
    session.print(answer, fields.text());
}

void send_money(const Session& session, const Options& options) {
    const contracts::Transfer transfer{parse_account(session, options.account), parse_amount(options.amount)};
    print_sent(session, options.signer.send(session, transfer),
               "sent " + to_text(transfer.amount) + " to " + crypto::to_address(transfer.to));
}

void show_history(const Session& session, const Options& options) {
    const json answer = read_listing(session, "account_history", {{"account", account_param(session, options)}}, "txs",
                                     options.limit);
    Table table({"HEIGHT", "NONCE", "ACTION", "STATUS", "FEE", "TRANSACTION"});
    for (const json& tx : answer.at("txs")) {
        const std::string error = text_of(tx, "error");
        table.add({text_of(tx, "height"), text_of(tx, "nonce"), text_of(tx, "action"),
                   error == "-" ? text_of(tx, "status") : error, amount_of(tx, "fee"), text_of(tx, "hash")});
    }
    session.print(answer, table.text());
}

void show_stake(const Session& session, const Options& options) {
    const json answer = session.rpc().call("stake_get", {{"account", account_param(session, options)}});
    Table table({"ROLE", "FREE", "LOCKED", "UNBONDING"});
    for (const char* role : {"solver", "verifier", "whistleblower"}) {
        const json& stake = answer.at("roles").at(role);
        std::string unbonding;
        for (const json& item : stake.at("unbonding")) {
            unbonding += (unbonding.empty() ? "" : ", ") + amount_of(item, "amount") + " at block " +
                         text_of(item, "release_at");
        }
        table.add({role, amount_of(stake, "free"), amount_of(stake, "locked"), unbonding.empty() ? "-" : unbonding});
    }
    session.print(answer, table.text());
}

void bond(const Session& session, const Options& options) {
    const contracts::Bond action{parse_role(options.role), parse_amount(options.amount)};
    print_sent(session, options.signer.send(session, action), "bonded " + to_text(action.amount) + " as " + options.role);
}

void unbond(const Session& session, const Options& options) {
    const contracts::Unbond action{parse_role(options.role), parse_amount(options.amount)};
    print_sent(session, options.signer.send(session, action),
               "unbonding " + to_text(action.amount) + " as " + options.role);
}

constexpr const char* kAmountHelp = "\"1.5 ASY\" or \"1500000000 grains\"";

}  // namespace

void add_account_command(CLI::App& app, Session& session) {
    auto options = std::make_shared<Options>();
    auto* group = app.add_subcommand("account", "Balances, payments, transactions")->require_subcommand(1);
    add_action<Options>(*group, session, options, "show", "Balance and nonce", show_account)
        ->add_option("account", options->account, "Address, hex, or a key's name")
        ->required();
    auto* send = add_action<Options>(*group, session, options, "send", "Pay somebody", send_money);
    send->add_option("to", options->account, "Address, hex, or a key's name")->required();
    send->add_option("amount", options->amount, kAmountHelp)->required();
    options->signer.add_options(*send);
    auto* history = add_action<Options>(*group, session, options, "history", "Transactions it sent", show_history);
    history->add_option("account", options->account, "Address, hex, or a key's name")->required();
    history->add_option("--limit", options->limit, "How many at most")->check(CLI::Range(1U, 100'000U));
}

void add_stake_command(CLI::App& app, Session& session) {
    auto options = std::make_shared<Options>();
    auto* group = app.add_subcommand("stake", "Stake as solver, verifier, whistleblower")->require_subcommand(1);
    add_action<Options>(*group, session, options, "show", "Free, locked and unbonding stake", show_stake)
        ->add_option("account", options->account, "Address, hex, or a key's name")
        ->required();
    const auto add_change = [&](const char* name, const char* help, void (*action)(const Session&, const Options&)) {
        auto* command = add_action<Options>(*group, session, options, name, help, action);
        command->add_option("role", options->role, "solver, verifier or whistleblower")->required();
        command->add_option("amount", options->amount, kAmountHelp)->required();
        options->signer.add_options(*command);
    };
    add_change("bond", "Lock money as stake", bond);
    add_change("unbond", "Take free stake back; it is paid out after the unbonding delay", unbond);
}

}  // namespace assay::cli
