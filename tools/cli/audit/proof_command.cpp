// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <contracts/state/state.hpp>
#include <tools/cli/common/arguments.hpp>
#include <tools/cli/common/proof.hpp>
#include <tools/cli/common/table.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;
namespace keys = contracts::keys;

struct ProofArguments {
    std::string key;
    std::string task;
    std::string account;
    std::string dispute;
    std::vector<std::string> stake;
    std::shared_ptr<Trusting> trusting;
    std::optional<std::uint64_t> height;
};

Bytes key_argument(const Session& session, const ProofArguments& a) {
    if (!a.task.empty()) {
        return keys::task(decode_id<contracts::TaskId>(a.task, "task"));
    }
    if (!a.account.empty()) {
        return keys::account(decode_account(session, a.account));
    }
    if (!a.dispute.empty()) {
        return keys::dispute(decode_id<contracts::DisputeId>(a.dispute, "dispute"));
    }
    if (!a.stake.empty()) {
        return keys::stake(role_argument(a.stake[1]), decode_account(session, a.stake[0]));
    }
    const auto key = from_hex(a.key);
    if (!key || key->empty()) {
        throw usage("\"" + a.key + "\" is not a key in hex");
    }
    return *key;
}

int run_proof(const Session& session, const ProofArguments& a) {
    const Bytes key = key_argument(session, a);
    client::RpcClient rpc = session.rpc();
    const auto height = a.height ? std::optional(Height{*a.height}) : std::nullopt;
    const ProvenSlot slot = prove_slot(rpc, key, height);
    session.progress("the proof holds; waiting for the block that signs the state ...");
    Trust trust = trust_of(session, *a.trusting);
    if (height) {
        trust.max_age_s.reset();  // an old state is what was asked for
    }
    const client::SignedHeader header = read_signing(rpc, slot, trust);
    const json value = slot.value ? json(to_hex(*slot.value)) : json();
    Facts facts;
    facts.add("key", to_hex(key));
    facts.add("value", slot.value ? to_text(value) : "none: the slot is proven to be empty");
    facts.add("height", std::to_string(slot.height.value));
    facts.add("app hash", to_hex(slot.app_hash.view()));
    facts.add(
        "verified", "the proof leads to the app hash, which block " + std::to_string(slot.height.value + 1) + " signs"
    );
    session.print(
        {{"key", to_hex(key)},
         {"value", value},
         {"height", slot.height.value},
         {"app_hash", to_hex(slot.app_hash.view())},
         {"proof", to_hex(slot.proof)},
         {"block", to_hex(header.raw)},
         {"verified", true}},
        facts.text()
    );
    return kExitOk;
}

}  // namespace

void add_proof_command(CLI::App& group, Session& session) {
    auto a = std::make_shared<ProofArguments>();
    CLI::App* command = group.add_subcommand("proof", "Show a slot of the state, and verify its proof here");
    CLI::Option_group* const slot = command->add_option_group("slot", "Which slot is shown; give exactly one of these");
    slot->add_option("--task", a->task, "The record of the task with this id");
    slot->add_option("--account", a->account, "An account");
    slot->add_option("--dispute", a->dispute, "A dispute");
    slot->add_option("--stake", a->stake, "An account's stake in a role: ACCOUNT ROLE")->expected(2);
    slot->add_option("--key", a->key, "The slot's key in hex");
    slot->require_option(1);
    command->add_option("--height", a->height, "Default: the last block's state");
    a->trusting = add_trust_options(*command);
    command->callback([&session, a] { session.command = [&session, a] { return run_proof(session, *a); }; });
}

}  // namespace assay::cli
