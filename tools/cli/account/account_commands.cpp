// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <client/earnings.hpp>
#include <contracts/state/environment.hpp>
#include <contracts/state/slots.hpp>
#include <core/base/amount.hpp>
#include <core/codec/borsh.hpp>
#include <tools/cli/common/add_command.hpp>
#include <tools/cli/common/arguments.hpp>
#include <tools/cli/common/table.hpp>
#include <verifier/launcher/statement.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

struct AccountArguments {
    std::string account;
    std::string sender;
    std::string owner;
    std::string amount;
    std::string role;
    std::string hardware_class;
    std::uint64_t price = 0;
    std::uint64_t memory = 0;
    std::uint32_t replay_blocks = 0;
    std::string benchmark;
    std::optional<std::uint64_t> score;
    std::string image;
    std::vector<std::string> labels;
    bool no_environment = false;
    std::uint64_t limit = 50;
    std::uint64_t since = 0;
    std::shared_ptr<Signing> signing;
};

/// Pages of a listing between two signs of life.
constexpr std::size_t kPagesAtOnce = 100;

json account_params(const Session& session, const AccountArguments& a) {
    return {{"account", to_hex(account_or_own(session, a.account).view())}};
}

int run_show(const Session& session, const AccountArguments& a) {
    const json answer = session.rpc().call("account_get", account_params(session, a));
    Facts facts;
    facts.add("account", to_text(answer.at("account")));
    facts.add("balance", amount_text(answer.at("balance")));
    facts.add("transactions", to_text(answer.at("nonce")));
    facts.add("operator", answer.at("operator").is_null() ? "none" : to_text(answer.at("operator")));
    session.print(answer, facts.text());
    return kExitOk;
}

int run_send(const Session& session, const AccountArguments& a) {
    const contracts::Transfer action{.to = decode_account(session, a.account), .amount = amount_argument(a.amount)};
    return send_and_print(session, *a.signing, action);
}

/// OPR-2: who sent it for whom; empty where the sender acts for itself.
std::string acting_text(const json& tx) {
    return tx.at("owner").is_null() ? "" : to_text(tx.at("sender")) + " for " + to_text(tx.at("owner"));
}

int run_history(const Session& session, const AccountArguments& a) {
    client::RpcClient rpc = session.rpc();
    json params = account_params(session, a);
    for (const auto& [name, account] : {std::pair("sender", a.sender), std::pair("owner", a.owner)}) {
        if (!account.empty()) {
            params[name] = to_hex(decode_account(session, account).view());
        }
    }
    const json answer = list(rpc, "account_history", params, "txs", a.limit);
    Table table({"HEIGHT>", "ACTION", "STATUS", "FEE>", "TRANSACTION", "OPERATOR AND OWNER"});
    for (const json& tx : answer.at("txs")) {
        const bool failed = !tx.at("error").is_null();
        table.add(
            {to_text(tx.at("height")), to_text(tx.at("action")),
             failed ? "failed: " + to_text(tx.at("error")) : to_text(tx.at("status")), amount_text(tx.at("fee")),
             to_text(tx.at("hash")), acting_text(tx)}
        );
    }
    session.print(answer, (table.empty() ? "no transactions\n" : table.text()) + begins_note(answer));
    return kExitOk;
}

int run_payments(const Session& session, const AccountArguments& a) {
    client::RpcClient rpc = session.rpc();
    json params = account_params(session, a);
    params["order"] = "newest";
    const json answer = list(rpc, "account_payments", params, "payments", a.limit);
    Table table({"HEIGHT>", "AMOUNT>", "WHY", "FROM"});
    for (const json& payment : answer.at("payments")) {
        const json& task = payment.at("task");
        table.add(
            {to_text(payment.at("height")), amount_text(payment.at("amount")),
             payment.at("reason").is_null() ? "transfer" : to_text(payment.at("reason")),
             task.is_null() ? to_text(payment.at("from")) : "task " + to_text(task)}
        );
    }
    session.print(answer, (table.empty() ? "no payments\n" : table.text()) + begins_note(answer));
    return kExitOk;
}

json amounts_json(const std::map<std::string, Amount>& by_reason) {
    json out = json::object();
    for (const auto& [reason, amount] : by_reason) {
        out[reason] = std::to_string(amount.grains);
    }
    return out;
}

int run_earnings(const Session& session, const AccountArguments& a) {
    client::RpcClient rpc = session.rpc();
    client::EarningsReader reader(account_or_own(session, a.account), Height{a.since});
    const auto call = [&rpc](const std::string& method, const json& params) { return rpc.call(method, params); };
    while (!reader.read(call, kPagesAtOnce)) {
        session.progress("reading the account's history ...");
    }
    const client::Earnings& earnings = reader.earnings();
    const auto total_text = [](Amount amount) { return amount_text(std::to_string(amount.grains)); };
    Facts facts;
    for (const auto& [reason, amount] : earnings.paid) {
        facts.add("paid as " + reason, total_text(amount));
    }
    for (const auto& [reason, amount] : earnings.slashed) {
        facts.add("slashed for " + reason, total_text(amount));
    }
    facts.add("paid", total_text(earnings.total_paid()));
    facts.add("slashed", total_text(earnings.total_slashed()));
    facts.add("fees", total_text(earnings.fees) + " of " + std::to_string(earnings.transactions) + " transactions");
    session.print(
        {{"since", a.since},
         {"paid", amounts_json(earnings.paid)},
         {"slashed", amounts_json(earnings.slashed)},
         {"fees", std::to_string(earnings.fees.grains)},
         {"transactions", earnings.transactions}},
        facts.text()
    );
    return kExitOk;
}

/// TRM-1: what a verifier consents to beyond what the chain asks of everybody; empty where that is nothing.
std::string consent_text(const json& terms) {
    const auto said = [&](const char* name, const std::string& before, const std::string& after) {
        const json& term = terms.at(name);
        return term == 0 ? "" : "\n  " + before + to_text(term) + after;
    };
    const std::string terms_of_its_own = said("price", "a price of at least ", " grains for 10^9 multiply-adds") +
                                         said("memory", "programs of at most ", " bytes") +
                                         said("replay_blocks", "segments that take its class at most ", " blocks");
    return terms_of_its_own.empty() ? "" : "as verifier it consents to" + terms_of_its_own + "\n";
}

int run_stake_show(const Session& session, const AccountArguments& a) {
    const json answer = session.rpc().call("stake_get", account_params(session, a));
    Table table({"ROLE", "FREE>", "LOCKED>", "UNBONDING", "CLASS>", "SCORE>"});
    for (const auto& [role, stake] : answer.at("roles").items()) {
        std::string unbonding;
        for (const json& item : stake.at("unbonding")) {
            unbonding += (unbonding.empty() ? "" : ", ") + amount_text(item.at("amount")) + " at block " +
                         to_text(item.at("release_at"));
        }
        table.add(
            {role, amount_text(stake.at("free")), amount_text(stake.at("locked")), unbonding.empty() ? "-" : unbonding,
             to_text(stake.at("terms").at("hardware_class")), to_text(stake.at("score"))}
        );
    }
    const json& terms = answer.at("roles").at("verifier").at("terms");
    session.print(answer, to_text(answer.at("account")) + "\n" + table.text() + consent_text(terms));
    return kExitOk;
}

/// A class by its name in the chain's table or by its number.
std::uint32_t class_argument(const contracts::Params& params, const std::string& name) {
    std::string known = "any";
    for (std::size_t i = 0; i < params.hardware_classes.size(); ++i) {
        if (name == params.hardware_classes[i].name || name == std::to_string(i + 1)) {
            return static_cast<std::uint32_t>(i + 1);
        }
        known += ", " + params.hardware_classes[i].name;
    }
    if (name == "any" || name == "0") {
        return 0;
    }
    throw usage("there is no class of machines \"" + name + "\"; this chain has " + known);
}

/// What `assay-worker benchmark -o json` printed.
std::uint64_t score_in(const std::string& file) {
    std::ifstream in(file);
    const json answer = json::parse(in, nullptr, false);
    if (!answer.is_object() || !answer.contains("score") || !answer["score"].is_number_unsigned()) {
        throw usage("--benchmark: " + file + " is not what assay-worker benchmark -o json prints");
    }
    return answer["score"].get<std::uint64_t>();
}

/// ENV-1: the environment that --image and --label name; nullopt if neither is given.
std::optional<contracts::Environment> environment_argument(const AccountArguments& a) {
    if (a.image.empty() && a.labels.empty()) {
        return std::nullopt;
    }
    if (a.no_environment) {
        throw usage("--no-environment offers none: leave out --image and --label");
    }
    try {
        const auto image = a.image.empty() ? std::nullopt : std::optional(launcher::decode_digest(a.image));
        return launcher::make_environment(image, a.labels);
    } catch (const launcher::StatementError& error) {
        throw usage(error.what());
    }
}

/// ENV-3: what a solver offers already, by the proven state.
std::vector<std::uint64_t> registered_offers(client::ProvenChain& chain, const AccountId& solver) {
    const auto slot = chain.slot(contracts::keys::terms(contracts::Role::kSolver, solver));
    if (!slot) {
        return {};
    }
    const auto registered = codec::decode<contracts::RegisteredTerms>(*slot);
    if (!registered) {
        throw Failure(
            kExitFailure, "undecodable", "this version cannot read what is registered: --no-environment drops it"
        );
    }
    return registered->terms.offers;
}

int run_register(const Session& session, const AccountArguments& a) {
    if (a.score.has_value() == !a.benchmark.empty()) {
        throw usage("either --score or --benchmark is needed");
    }
    const std::uint64_t score = a.score ? *a.score : score_in(a.benchmark);
    const contracts::Role role = role_argument(a.role);
    const std::optional<contracts::Environment> environment = environment_argument(a);
    if (role != contracts::Role::kSolver && (environment || a.no_environment)) {
        throw usage("--image, --label and --no-environment are a solver's: leave them out");
    }
    const crypto::SecretKey key = unlock(session, *a.signing);
    client::RpcClient rpc = session.rpc();
    client::ProvenChain chain = proven_chain(session, *a.signing, rpc);
    const std::uint32_t number = class_argument(chain.params(), a.hardware_class);
    std::vector<std::uint64_t> offers = contracts::fingerprints(environment);
    if (role == contracts::Role::kSolver && !environment && !a.no_environment) {
        offers = registered_offers(chain, actor_of(session, *a.signing, key));
    }
    json named = json::array();
    for (const std::uint64_t offer : offers) {
        named.push_back(std::to_string(offer));
    }
    const contracts::RegisterTerms action{
        .role = role,
        .terms =
            {.hardware_class = number,
             .price = a.price,
             .memory = a.memory,
             .replay_blocks = a.replay_blocks,
             .offers = std::move(offers)},
        .score = score};
    return send_and_print(
        session, *a.signing, key, action,
        {{"class", number},
         {"price", a.price},
         {"memory", a.memory},
         {"replay_blocks", a.replay_blocks},
         {"offers", std::move(named)},
         {"score", score}}
    );
}

template <class Action>
int run_stake(const Session& session, const AccountArguments& a) {
    const Action action{.role = role_argument(a.role), .amount = amount_argument(a.amount)};
    return send_and_print(session, *a.signing, action);
}

constexpr const char* kAccountHelp = "An address, hex, or a key's name; default: your only key";
constexpr const char* kAmountHelp = "\"1.5 ASY\" or \"1500000000 grains\"";

}  // namespace

void add_account_commands(CLI::App& app, Session& session) {
    CLI::App& group = *app.add_subcommand("account", "Balances and transactions of accounts")->require_subcommand(1);
    auto a = std::make_shared<AccountArguments>();
    add_command(group, session, "show", "Show an account's balance and its number of transactions", a, run_show)
        ->add_option("account", a->account, kAccountHelp);
    CLI::App* send = add_command(group, session, "send", "Pay an account", a, run_send);
    send->add_option("to", a->account, "An address, hex, or a key's name")->required();
    send->add_option("amount", a->amount, kAmountHelp)->required();
    a->signing = add_signing_options(*send);
    CLI::App* history =
        add_command(group, session, "history", "Transactions, in the order of their blocks", a, run_history);
    history->add_option("account", a->account, kAccountHelp);
    history->add_option("--sender", a->sender, "Only what this account signed: itself, or one of its operators");
    history->add_option("--owner", a->owner, "Only what acts for this account: itself, or an owner that has named it");
    CLI::App* payments = add_command(
        group, session, "payments", "What the account received, by tasks and by transfers, the latest first", a,
        run_payments
    );
    payments->add_option("account", a->account, kAccountHelp);
    CLI::App* earnings = add_command(
        group, session, "earnings", "What tasks paid the account, what was slashed, and its fees, added up", a,
        run_earnings
    );
    earnings->add_option("account", a->account, kAccountHelp);
    earnings->add_option("--since", a->since, "Only what is in blocks after this height")->capture_default_str();
    for (CLI::App* listing : {history, payments}) {
        listing->add_option("--limit", a->limit, "List at most this many")
            ->check(CLI::PositiveNumber)
            ->capture_default_str();
    }
}

void add_stake_commands(CLI::App& app, Session& session) {
    CLI::App& group =
        *app.add_subcommand("stake", "Bonds of solvers, verifiers and whistleblowers")->require_subcommand(1);
    auto shown = std::make_shared<AccountArguments>();
    add_command(group, session, "show", "Show stake by role: free, locked and unbonding", shown, run_stake_show)
        ->add_option("account", shown->account, kAccountHelp);
    const auto add_mover = [&](const char* name, const char* help,
                               int (*run)(const Session&, const AccountArguments&)) {
        auto a = std::make_shared<AccountArguments>();
        CLI::App* command = add_command(group, session, name, help, a, run);
        command->add_option("role", a->role, "solver, verifier or whistleblower")->required();
        command->add_option("amount", a->amount, kAmountHelp)->required();
        a->signing = add_signing_options(*command);
    };
    add_mover("bond", "Move balance into stake", run_stake<contracts::Bond>);
    add_mover("unbond", "Take free stake back, after the unbonding time", run_stake<contracts::Unbond>);
    auto a = std::make_shared<AccountArguments>();
    CLI::App* enlist = add_command(
        group, session, "register", "Say which class of machine you have, and as a verifier what you agree to verify",
        a, run_register
    );
    enlist->add_option("role", a->role, "solver or verifier")->required();
    enlist
        ->add_option(
            "class", a->hardware_class,
            "The class, by its name or number in the chain's table; any takes the registration back"
        )
        ->required();
    enlist->add_option("--score", a->score, "The score that assay-worker benchmark measured");
    enlist->add_option("--benchmark", a->benchmark, "A file with the output of assay-worker benchmark -o json");
    enlist->add_option(
        "--price", a->price, "Verifier: the least in grains for 10^9 multiply-adds (default: the chain's)"
    );
    enlist
        ->add_option(
            "--memory", a->memory, "Verifier: the most that a program may take, as in 16G (default: the chain's)"
        )
        ->transform(CLI::AsSizeValue(false));
    enlist->add_option(
        "--replay-blocks", a->replay_blocks, "Verifier: the most blocks that a segment may take (default: the chain's)"
    );
    enlist->add_option(
        "--image", a->image, "Solver: the digest of the image that it runs in, sha256:... (default: as registered)"
    );
    enlist->add_option(
        "--label", a->labels, "Solver: key=value of its environment; repeat it (default: as registered)"
    );
    enlist->add_flag("--no-environment", a->no_environment, "Solver: offer no image and no labels any more");
    a->signing = add_signing_options(*enlist);
}

}  // namespace assay::cli
