// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <chrono>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <tools/cli/common/arguments.hpp>
#include <tools/cli/common/table.hpp>
#include <verifier/roles/contributor.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kBlockWait{10};

int run_show(const Session& session) {
    client::RpcClient rpc = session.rpc();
    const json answer = rpc.call("beacon_get");
    const json& round = answer.at("round");
    std::string text = to_text(answer.at("rounds")) + " rounds have closed; ";
    text += round.is_null() ? "none is open\n"
                            : "one is open since block " + to_text(round.at("opened_at")) + ", with " +
                                  std::to_string(round.at("contributions").size()) + " secrets\n";
    Table table({"CONTRIBUTOR", "SINCE>", "BOND>", "STATE"});
    for (const json& seat : answer.at("seats")) {
        table.add(
            {to_text(seat.at("account")), to_text(seat.at("committed_at")), amount_text(seat.at("bond")),
             seat.at("due") == true ? "owes its secret" : "waits"}
        );
    }
    text += table.empty() ? "nobody contributes: draws are made from block hashes alone" : table.text();
    session.print(answer, text);
    return kExitOk;
}

int run_join(const Session& session, const Signing& signing) {
    const crypto::SecretKey key = unlock(session, signing);
    client::RpcClient rpc = session.rpc();
    client::ProvenChain chain = proven_chain(session, signing, rpc);
    const AccountId self = actor_of(session, signing, key);
    const contracts::JoinBeacon action{roles::commit_next(self, key, chain.chain_id(), chain.beacon())};
    const auto result = send(session, signing, key, action);
    session.print(
        {{"hash", to_hex(result.hash.view())}, {"height", result.height.value}, {"action", "join_beacon"}},
        "joined in block " + std::to_string(result.height.value) +
            "; contribute to each round, as `assay-worker verify` does, or lose a tenth of the bond"
    );
    return kExitOk;
}

/// What the account's seat asks for: the secret that it owes, then, unless the seat is wanted, to leave it. The round
/// that asks for the secret is proven to be open: a node that says so of another would learn what draws are made of.
int run_contribute(const Session& session, const Signing& signing, bool wants_seat) {
    const crypto::SecretKey key = unlock(session, signing);
    client::RpcClient rpc = session.rpc();
    client::ProvenChain chain = proven_chain(session, signing, rpc);
    const contracts::Params params = chain.params();
    const AccountId self = actor_of(session, signing, key);
    std::vector<std::string> sent;
    for (;;) {
        const contracts::Beacon beacon = chain.beacon();
        const roles::ContributorView view{
            .self = self,
            .key = key,
            .chain_id = chain.chain_id(),
            .beacon = beacon,
            .params = params,
            .free_stake = {},
            .wants_seat = wants_seat};
        if (roles::is_estranged(view)) {
            throw Failure(
                kExitFailure, "estranged",
                "the seat was taken with another commitment than this key's secrets give: contribute with the program "
                "that took it"
            );
        }
        const auto action = roles::decide_contributor(view);
        if (!action) {
            break;
        }
        const auto result = send(session, signing, key, *action);
        sent.emplace_back(contracts::action_name(*action));
        rpc.wait_for_block(result.height, kBlockWait);  // the state that has it is signed by the block after
        chain.refresh();
        if (chain.height() < result.height) {
            break;
        }
    }
    if (sent.empty()) {
        throw Failure(
            kExitFailure, "nothing_due",
            wants_seat ? "no round waits for a secret of this account" : "this account has no seat in the beacon"
        );
    }
    session.print({{"actions", sent}}, sent.back() + " executed");
    return kExitOk;
}

}  // namespace

void add_beacon_commands(CLI::App& app, Session& session) {
    CLI::App& group =
        *app.add_subcommand("beacon", "The randomness of draws, and who contributes to it")->require_subcommand(1);
    group.add_subcommand("show", "Show who has a seat, and whether a round is open")->callback([&session] {
        session.command = [&session] { return run_show(session); };
    });
    const auto add = [&](const char* name, const char* what, auto run) {
        CLI::App* command = group.add_subcommand(name, what);
        const auto signing = add_signing_options(*command);
        command->callback([&session, signing, run] {
            session.command = [&session, signing, run] { return run(session, *signing); };
        });
    };
    add("join", "Take a seat; locks the contributor's bond of the verifier stake", run_join);
    add("contribute", "Send the secret that the account's seat owes",
        [](const Session& on, const Signing& signing) { return run_contribute(on, signing, true); });
    add("leave", "Give the seat back, with what it owes",
        [](const Session& on, const Signing& signing) { return run_contribute(on, signing, false); });
}

}  // namespace assay::cli
