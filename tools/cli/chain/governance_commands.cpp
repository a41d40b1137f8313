// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <contracts/governance/actions/governance_actions.hpp>
#include <core/base/amount.hpp>
#include <core/crypto/address.hpp>
#include <tools/cli/common/arguments.hpp>
#include <tools/cli/common/table.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

struct Wanted {
    std::vector<std::string> changes;
    std::uint64_t height = 0;
    std::uint32_t version = 0;
    std::string proposal;
    bool against = false;
};

std::string votable_names() {
    std::string out;
    for (std::uint8_t number = 1; number <= contracts::kVotableParams; ++number) {
        out += (number == 1 ? "" : ", ") + std::string(to_string(static_cast<contracts::VotableParam>(number)));
    }
    return out;
}

/// "5 ASY" and "5 grains" are amounts; a plain number is what it says.
std::uint64_t decode_value(const std::string& name, const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size()) {
        return value;
    }
    if (const auto amount = decode_amount(text)) {
        return amount->grains;
    }
    throw usage("\"" + text + "\" is no value of " + name + ": a whole number, or an amount like \"5 ASY\"");
}

/// GOV-2
contracts::ProposeParams decode_changes(const std::vector<std::string>& arguments) {
    contracts::ProposeParams out;
    for (const std::string& argument : arguments) {
        const std::size_t equals = argument.find('=');
        const std::string name = argument.substr(0, equals);
        const auto param = contracts::find_votable_param(name);
        if (equals == std::string::npos || !param) {
            throw usage("\"" + argument + "\" is not NAME=VALUE", "votes can change " + votable_names());
        }
        out.changes.push_back({*param, decode_value(name, argument.substr(equals + 1))});
    }
    std::sort(out.changes.begin(), out.changes.end(), [](const auto& a, const auto& b) { return a.param < b.param; });
    for (std::size_t i = 1; i < out.changes.size(); ++i) {
        if (out.changes[i].param == out.changes[i - 1].param) {
            throw usage(std::string(to_string(out.changes[i].param)) + " is given twice");
        }
    }
    return out;
}

/// Sends a proposal and prints its id, which others need for their votes.
int run_propose(const Session& session, const Signing& signing, const contracts::Action& action) {
    const crypto::SecretKey key = unlock(session, signing);
    const client::TxResult result = send(session, signing, key, action);
    const std::string own = crypto::to_address(key.account());
    const json answer = session.rpc().call("proposal_list");
    json mine;
    for (const json& proposal : answer.at("proposals")) {
        if (proposal.at("proposer") == own) {
            mine = proposal;
        }
    }
    if (mine.is_null()) {  // it passed by this vote alone and took effect at once
        session.print(
            {{"hash", to_hex(result.hash.view())}, {"height", result.height.value}, {"proposal", nullptr}},
            "passed and in effect since block " + std::to_string(result.height.value)
        );
        return kExitOk;
    }
    const std::string id = mine.at("id").get<std::string>();
    session.print(
        {{"hash", to_hex(result.hash.view())}, {"height", result.height.value}, {"proposal", mine}},
        "proposed in block " + std::to_string(result.height.value) + ", with your vote. Other validators vote with\n" +
            "  assay validator vote " + id + "\nuntil block " + to_text(mine.at("ends"))
    );
    return kExitOk;
}

std::string what_of(const json& proposal) {
    std::string out;
    for (const json& change : proposal.at("changes")) {
        out += (out.empty() ? "" : " ") + to_text(change.at("param")) + "=" + to_text(change.at("value"));
    }
    if (!out.empty() || proposal.at("kind") == "halt") {
        return out.empty() ? "halt" : out;
    }
    return proposal.at("height") == 0 ? "cancel the planned upgrade"
                                      : "version " + to_text(proposal.at("protocol_version")) + " from block " +
                                            to_text(proposal.at("height")) + " on";
}

int run_proposals(const Session& session) {
    const json answer = session.rpc().call("proposal_list");
    Table table({"PROPOSAL", "WHAT", "IN FAVOUR>", "OF>", "STATE"});
    for (const json& proposal : answer.at("proposals")) {
        const bool has_passed = proposal.at("has_passed") == true;
        table.add(
            {to_text(proposal.at("id")), what_of(proposal), to_text(proposal.at("power_in_favour")),
             to_text(proposal.at("power_total")),
             has_passed ? "passed, in effect after block " + to_text(proposal.at("effective"))
                        : "open until block " + to_text(proposal.at("ends"))}
        );
    }
    std::string text = table.empty() ? "no proposals\n" : table.text();
    for (const json& plan : answer.at("plans")) {
        text += plan.at("kind") == "halt"
                    ? "the chain halts before block " + to_text(plan.at("height")) + "\n"
                    : "version " + to_text(plan.at("protocol_version")) + " of the protocol begins with block " +
                          to_text(plan.at("height")) + "\n";
    }
    session.print(answer, text);
    return kExitOk;
}

/// A subcommand of `propose` that sends what `make` makes of the arguments.
template <class Make>
CLI::App* add_proposal(
    CLI::App& group, Session& session, const char* name, const char* purpose, const std::shared_ptr<Wanted>& wanted,
    Make make
) {
    CLI::App* command = group.add_subcommand(name, purpose);
    const auto signing = add_signing_options(*command);
    command->callback([&session, signing, wanted, make] {
        session.command = [&session, signing, wanted, make] { return run_propose(session, *signing, make(*wanted)); };
    });
    return command;
}

}  // namespace

void add_proposals_command(CLI::App& group, Session& session) {
    group.add_subcommand("proposals", "What validators vote on, and what they have planned")->callback([&session] {
        session.command = [&session] { return run_proposals(session); };
    });
}

void add_governance_commands(CLI::App& validator, Session& session) {
    const auto wanted = std::make_shared<Wanted>();
    CLI::App& propose =
        *validator.add_subcommand("propose", "Propose something to the other validators, and vote for it")
             ->require_subcommand(1);
    add_proposal(
        propose, session, "params", "Change parameters of the chain", wanted,
        [](const Wanted& w) { return contracts::Action{decode_changes(w.changes)}; }
    )
        ->add_option("changes", wanted->changes, "NAME=VALUE; votes can change " + votable_names())
        ->required();
    CLI::App* upgrade = add_proposal(
        propose, session, "upgrade", "Plan the block with which another version of the protocol begins", wanted,
        [](const Wanted& w) {
            return contracts::Action{contracts::ProposeUpgrade{Height{w.height}, w.version}};
        }
    );
    upgrade->add_option("--height", wanted->height, "The first block of that version; 0 cancels the planned upgrade")
        ->required();
    upgrade->add_option("--protocol-version", wanted->version, "Later than the chain's; the chain's own to cancel")
        ->required();
    add_proposal(
        propose, session, "halt", "Stop the chain after the block in which the proposal passes", wanted,
        [](const Wanted&) { return contracts::Action{contracts::ProposeHalt{}}; }
    );
    CLI::App* vote = validator.add_subcommand("vote", "Vote for a proposal (`query proposals`)");
    vote->add_option("proposal", wanted->proposal, "Its id")->required();
    vote->add_flag("--against", wanted->against, "Withdraw an earlier vote");
    const auto signing = add_signing_options(*vote);
    vote->callback([&session, signing, wanted] {
        session.command = [&session, signing, wanted] {
            const contracts::Vote action{
                decode_id<contracts::ProposalId>(wanted->proposal, "proposal"), !wanted->against};
            return send_and_print(session, *signing, action);
        };
    });
}

}  // namespace assay::cli
