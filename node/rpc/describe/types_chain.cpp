// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/describe/types.hpp>

#include <contracts/state/params.hpp>
#include <contracts/state/proposal.hpp>
#include <contracts/state/tx_error.hpp>

namespace assay::rpc::describe {

template <>
Schema value_of<std::vector<contracts::HardwareClass>>() {
    return array(object({{"name", text()}, {"least_score", integer()}}));
}

template <>
Schema value_of<std::vector<contracts::ParamChange>>() {
    return array(object(
        {{"param", words(contracts::VotableParam::kJailBlocks, &contracts::to_string)},
         {"value", integer(), "amounts in grains"}}
    ));
}

namespace {

Schema node_status() {
    return object({
        {"chain_id", text()},
        {"genesis_hash", hash(), "the app hash of the state before block 1, which block 1 carries"},
        {"engine", one_of({"solo", "cometbft"})},
        {"version", text(), "of the software"},
        {"protocol_version", integer(), "of the chain"},
        {"height", height(), "of the last committed block"},
        {"app_hash", hash(), "of the state after it"},
        {"time_ms", integer(), "of the last block, in ms since 1970"},
        {"proposer", nullable(account()), "who signs the blocks; null where many validators do"},
        {"mempool", object({{"txs", integer()}, {"bytes", integer()}}), "what waits for a block"},
        {"block_interval_ms", integer()},
        {"first_state", height(), "states, and proofs from them, are kept from this height on"},
        {"first_block", height(), "blocks and their transactions are kept from this height on"},
        {"first_history", height(),
         "what happened to tasks and in disputes is known from this block on: 1, unless the node began with a "
         "snapshot"},
        {"last_stop", one_of({"first_start", "clean", "unclean"})},
        {"uptime_s", integer()},
        {"base_fee", amount(), "what a unit of gas costs in the next block (FEE-2)"},
        {"plan", nullable(ref("Plan")), "what validators have voted for next (GOV-8); null: nothing"},
    });
}

Schema block() {
    return object({
        {"height", height()},
        {"hash", hash()},
        {"parent", nullable(hash()), "null where the block before is not here"},
        {"time_ms", integer(), "in ms since 1970"},
        {"proposer", account()},
        {"txs_root", nullable(hash()), "null under CometBFT"},
        {"parent_app_hash", hash(), "of the state before the block"},
        {"app_hash", hash(), "of the state after it"},
        {"signature", nullable(hex()), "of the proposer; null under CometBFT"},
        {"gas", integer(), "what the block's transactions used"},
        {"gas_max", integer(), "what they may use (GAS-7)"},
        {"txs", array(object({
                    {"hash", hash()},
                    {"action", text(), "empty where the bytes do not decode"},
                    {"sender", nullable(account())},
                    {"owner", nullable(account()), "for whom the sender acted, as its operator"},
                    {"code", integer(), "0, or the number of the error"},
                    {"error", nullable(text())},
                    {"gas", integer()},
                }))},
        {"raw", nullable(hex()), "Borsh of the block as its proposer signed it; null under CometBFT"},
    });
}

/// What subscribers are told of a block.
Schema block_head() {
    return object({
        {"height", height()},
        {"hash", hash()},
        {"parent", nullable(hash())},
        {"time_ms", integer(), "in ms since 1970"},
        {"proposer", account()},
        {"parent_app_hash", hash()},
        {"app_hash", hash(), "of the state after it"},
        {"gas", integer()},
        {"gas_max", integer()},
        {"txs", integer(), "how many"},
    });
}

/// What listings have of a transaction.
Members tx_summary() {
    return {
        {"hash", hash()},
        {"status", one_of({"pending", "executed", "failed"})},
        {"height", nullable(height()), "null while it is pending, like whatever only a block can tell"},
        {"index", nullable(integer()), "its place in the block"},
        {"action", nullable(text()), "what it does; null where the bytes do not decode"},
        {"sender", nullable(account()), "who signed and pays the fee"},
        {"owner", nullable(account()), "for whom the sender acts, as its operator; null: for itself"},
        {"nonce", nullable(integer()), "of an answer to a duty: the height at which the duty is due"},
        {"fee", nullable(amount()), "0 of an answer to a duty"},
        {"code", nullable(integer()), "0, or the number of the error"},
        {"error", nullable(text()), "the word for it"},
        {"size_bytes", nullable(integer())},
        {"gas", nullable(integer())},
    };
}

Schema plan() {
    return object({
        {"kind", one_of({"upgrade", "halt"})},
        {"height", height(), "the first block after it"},
        {"protocol_version", integer(), "of that block"},
    });
}

Schema proposal() {
    return object({
        {"id", hash()},
        {"proposer", account()},
        {"kind", words(contracts::ProposalKind::kHalt, &contracts::to_string)},
        {"changes", value_of<std::vector<contracts::ParamChange>>(), "empty unless it is of parameters"},
        {"height", nullable(integer()), "of an upgrade: its first block, 0 to cancel the planned one; else null"},
        {"protocol_version", nullable(integer()), "of an upgrade"},
        {"votes", array(account()), "those in favour"},
        {"power_in_favour", integer(), "that they have now"},
        {"power_total", integer(), "of the set; more than two thirds pass"},
        {"has_passed", flag()},
        {"ends", height(), "it is dropped with this block unless it has passed"},
        {"effective", nullable(height()), "takes effect with the end of this block, if it has passed"},
    });
}

Schema validator() {
    return object({
        {"account", account()},
        {"consensus_key", hash(), "the Ed25519 key with which it votes"},
        {"address", hex(), "of that key, 20 bytes"},
        {"power", integer(), "0: not in the set"},
        {"stake", ref("Stake")},
        {"missed", integer(), "blocks in a row without its vote"},
        {"jailed_until", nullable(height())},
        {"is_banned", flag(), "it signed twice"},
        {"slashed", amount(), "in all so far"},
    });
}

Members stake() {
    return {
        {"free", amount()},
        {"locked", amount()},
        {"unbonding", array(object({
                          {"amount", amount()},
                          {"release_at", height()},
                          {"release_ms", nullable(integer()), "also not before this time, in ms since 1970"},
                      }))},
        {"is_unlisted", flag(), "it let a task lapse and is not drawn until it bonds or registers again"},
        {"declined_until", nullable(height()),
         "until then it is not drawn for a task worth at most what it declined (TASK-15)"},
    };
}

Schema staked() {
    return object(join(
        stake(), {{"terms", object(
                                {{"hardware_class", integer()},
                                 {"price", integer(), "asked for, in grains per 10^9 multiply-adds"},
                                 {"memory", integer(), "in bytes"},
                                 {"replay_blocks", integer()},
                                 {"offers", array(text()), "fingerprints of its environment (ENV-3)"}}
                            )},
                  {"score", integer(), "of its hardware, as it registered it"}}
    ));
}

Schema beacon() {
    return object({
        {"rounds", integer(), "how many have closed"},
        {"seed", nullable(hash()), "of the last one"},
        {"withheld", array(account()), "who withheld a secret in it"},
        {"seats", array(object(
                      {{"account", account()},
                       {"commitment", hash()},
                       {"committed_at", height()},
                       {"bond", amount()},
                       {"due", flag(), "whether its secret is due in the open round"}}
                  ))},
        {"round",
         nullable(object(
             {{"opened_at", height()},
              {"block_hash", hash()},
              {"contributions", array(object({{"account", account()}, {"secret", hash()}}))}}
         )),
         "the open one"},
        {"raw", hex()},
    });
}

Schema params() {
    Members members = members_of(contracts::Params::fields());
    members.push_back({"raw", hex(), ""});
    return object(members);
}

Schema search_result() {
    return object({
        {"kind", one_of({"account", "block", "tx", "task", "dispute", "validator"})},
        {"id", text(), "as the methods of its kind take it; of a validator its consensus address"},
        {"height", nullable(height()), "of a block or a transaction"},
        {"account", nullable(account()), "of a validator"},
        {"title", nullable(text()), "of a task that was found by it: whatever its submitter wrote"},
    });
}

}  // namespace

void add_chain_types(Schema& components) {
    components["NodeStatus"] = node_status();
    components["Params"] = params();
    components["Block"] = block();
    components["BlockHead"] = block_head();
    components["TxSummary"] = object(tx_summary());
    components["Tx"] = object(join(
        tx_summary(), {{"chain_id", text()},
                       {"body", nullable(ref("ActionBody")), "what it asks for; null where the bytes do not decode"},
                       {"raw", hex()}}
    ));
    components["PendingTx"] = object(join(tx_summary(), {{"body", nullable(hex())}, {"raw", nullable(hex())}}));
    components["Stake"] = object(stake());
    components["RoleStake"] = staked();
    components["Validator"] = validator();
    components["Plan"] = plan();
    components["Proposal"] = proposal();
    components["ValidatorChange"] = object({
        {"height", height(), "the block after which it was so"},
        {"account", account()},
        {"power", integer(), "0: not in the set"},
        {"jailed_until", nullable(height())},
        {"is_banned", flag()},
        {"slashed", amount(), "in all so far"},
    });
    components["Payment"] = object({
        {"height", height()},
        {"tx", nullable(hash()), "that caused it; null where a deadline or a draw did"},
        {"task", nullable(hash()), "that paid it; null of a transfer"},
        {"reason", nullable(ref("Reason")), "null of a transfer"},
        {"from", nullable(account()), "of a transfer"},
        {"amount", amount()},
    });
    components["BlockFees"] = object({
        {"height", height()},
        {"base_fee", amount(), "what a unit of gas cost"},
        {"gas", integer(), "used by the block's transactions"},
    });
    components["Beacon"] = beacon();
    components["SearchResult"] = search_result();
}

}  // namespace assay::rpc::describe
