// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include <client/engine_rpc.hpp>
#include <contracts/state/validator.hpp>
#include <core/base/base64.hpp>
#include <core/crypto/ed25519.hpp>
#include <tools/cli/common/arguments.hpp>
#include <tools/cli/common/table.hpp>
#include <tools/cli/doctor/doctor.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

int run_validators(const Session& session) {
    client::RpcClient rpc = session.rpc();
    const json answer = rpc.call("validator_list");
    Table table({"ACCOUNT", "POWER>", "STAKE>", "MISSED>", "STATE"});
    for (const json& item : answer.at("validators")) {
        const std::string state = item.at("is_banned") == true ? "banned"
                                  : !item.at("jailed_until").is_null()
                                      ? "jailed until " + to_text(item.at("jailed_until"))
                                  : item.at("power") == 0 ? "waiting"
                                                          : "voting";
        table.add(
            {to_text(item.at("account")), to_text(item.at("power")), amount_text(item.at("stake").at("free")),
             to_text(item.at("missed")), state}
        );
    }
    session.print(answer, table.empty() ? "no validators: this chain's blocks are made by one process" : table.text());
    return kExitOk;
}

/// The consensus key of a file that CometBFT wrote; throws Failure.
crypto::Ed25519Key read_consensus_key(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) {
        throw usage("cannot read " + file, "it is the node's cometbft/config/priv_validator_key.json");
    }
    const json key = json::parse(in, nullptr, false);
    const json::json_pointer where("/priv_key/value");
    if (!key.is_discarded() && key.contains(where) && key.at(where).is_string()) {
        // CometBFT writes the seed and, after it, the public key.
        const auto bytes = from_base64(key.at(where).get<std::string>());
        crypto::Ed25519Key::Seed seed{};
        if (bytes && bytes->size() == 2 * seed.size()) {
            std::copy_n(bytes->begin(), seed.size(), seed.begin());
            return crypto::Ed25519Key(seed);
        }
    }
    throw usage(file + " holds no private key of CometBFT's");
}

/// VAL-3: says so before anything is signed where the chain would refuse the registration.
void warn_of_stake(client::RpcClient& rpc, const AccountId& account) {
    const json roles = rpc.call("stake_get", {{"account", to_hex(account.view())}}).at("roles");
    const json& free = roles.at("validator").at("free");
    const Amount staked{std::stoull(free.get<std::string>())};
    const Amount least = rpc.params().validator_stake_min;
    if (const std::string text = doctor::validator_warning(staked, least); !text.empty()) {
        std::cerr << "assay: warning: " << text << "\n";
    }
}

/// VAL-1
int run_register(const Session& session, const std::string& file, const Signing& signing) {
    const crypto::Ed25519Key consensus = read_consensus_key(file);
    client::RpcClient rpc = session.rpc();
    // What the key signs names the chain that is proven, not the one that the node names.
    client::ProvenChain chain = proven_chain(session, signing, rpc);
    const AccountId account = account_or_own(session, signing.from);
    warn_of_stake(rpc, account);
    const Hash256 claim = contracts::consensus_key_claim(chain.chain_id(), account);
    contracts::RegisterValidator action;
    action.key.data = consensus.public_key();
    action.proof.data = consensus.sign(claim.view());
    return send_and_print(session, signing, action, {{"consensus_key", to_hex(action.key.view())}});
}

}  // namespace

void add_validator_commands(CLI::App& app, Session& session) {
    CLI::App& group = *app.add_subcommand("validator", "Who votes on blocks (CometBFT)")->require_subcommand(1);
    group.add_subcommand("list", "Every registered validator")->callback([&session] {
        session.command = [&session] { return run_validators(session); };
    });
    auto file = std::make_shared<std::string>();
    CLI::App* enter = group.add_subcommand(
        "register", "Vote with the account's validator stake; first bond it with `stake bond validator`"
    );
    enter
        ->add_option(
            "key-file", *file,
            "The node's HOME/cometbft/config/priv_validator_key.json; its key signs the registration as well"
        )
        ->required();
    const auto signing = add_signing_options(*enter);
    enter->callback([&session, file, signing] {
        session.command = [&session, file, signing] { return run_register(session, *file, *signing); };
    });
    CLI::App* back = group.add_subcommand("unjail", "Return to the validator set after the time in jail");
    const auto signing_back = add_signing_options(*back);
    back->callback([&session, signing_back] {
        session.command = [&session, signing_back] {
            return send_and_print(session, *signing_back, contracts::Unjail{});
        };
    });
    add_governance_commands(group, session);
}

}  // namespace assay::cli
