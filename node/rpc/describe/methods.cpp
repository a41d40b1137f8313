// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/describe/methods.hpp>

#include <algorithm>

#include <client/rpc_codes.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/state/ids.hpp>
#include <core/base/assert.hpp>

namespace assay::rpc::describe {

namespace {

using client::kNotFound;
using client::kTxRejected;
using client::kUnavailable;

Schema within(std::uint64_t least, std::uint64_t most) {
    return {{"type", "integer"}, {"minimum", least}, {"maximum", most}};
}
Schema page_limit() { return within(1, 100); }
/// An account may be given as 64 hex digits too.
Schema account_argument() { return any_of({account(), hash()}); }
Schema stake_argument() {
    return object({{"account", account_argument()}, {"role", words(contracts::Role::kValidator, &contracts::to_string)}}
    );
}
Schema checkpoint_argument() { return object({{"task", hash()}, {"index", integer()}}); }
Schema dispute_state() { return words(contracts::DisputeState::kForced, &contracts::to_string); }
Schema openrpc() { return {{"type", "object"}, {"required", {"openrpc", "info", "methods", "components"}}}; }

std::vector<Method> chain_methods() {
    return {
        {"node_status", "What the node is, and how far it has come.", {}, ref("NodeStatus"), {}, ""},
        {"chain_params",
         "The parameters of the chain.",
         {},
         ref("Params"),
         {},
         "docs/protocol/parameters.md explains each of them."},
        {"chain_wait",
         "Waits for a block.",
         {{"after", integer(), "", true}, {"timeout_ms", within(0, 30'000), "10,000 if it is not given", false}},
         object({{"height", height()}}),
         {},
         "Answers as soon as a block later than `after` is committed, or at the timeout. It must not be in a batch."},
        {"chain_block",
         "A block with the results of its transactions.",
         {{"height", integer(), "the last block if it is not given", false}},
         ref("Block"),
         {kNotFound, kUnavailable},
         ""},
        {"chain_light_block",
         "What the validators signed of a block, for clients that verify (LGT).",
         {{"height", integer(), "the last block if it is not given", false}},
         object({{"height", height()}, {"raw", hex(), "Borsh of light::LightBlock: header, commit, validators"}}),
         {kNotFound, kUnavailable},
         "Under the embedded engine there is none: its blocks carry their proposer's signature."},
        {"chain_proof",
         "A slot of the state with its proof.",
         {{"key", hex(), "the slot's key", false},
          {"task", hash(), "", false},
          {"account", account_argument(), "", false},
          {"dispute", hash(), "", false},
          {"stake", stake_argument(), "", false},
          {"checkpoint", checkpoint_argument(), "", false},
          {"height", integer(), "the last block if it is not given", false}},
         object(
             {{"key", hex()},
              {"value", nullable(hex()), "Borsh of the record; null with a proof of absence"},
              {"height", height()},
              {"app_hash", hash()},
              {"proof", hex(), "Borsh of JmtProof (JMT-5)"}}
         ),
         {kUnavailable},
         "Exactly one of `key`, `task`, `account`, `dispute`, `stake` and `checkpoint` names the slot."},
    };
}

std::vector<Method> money_and_search_methods() {
    return {
        {"fee_history",
         "What gas cost in the latest blocks.",
         {{"height", integer(), "the block to begin with, going back; the last one if it is not given", false},
          {"count", within(1, 100), "50 if it is not given", false}},
         object(
             {{"blocks", array(ref("BlockFees")), "the latest first"},
              {"next_base_fee", amount(), "what a unit of gas costs in the next block (FEE-2)"},
              {"gas_price_min", amount()},
              {"gas_max", integer(), "of a block"}}
         ),
         {},
         "Ends at the first block that the node has not kept."},
        {"supply_get",
         "How much money there is.",
         {},
         object(
             {{"genesis", amount()},
              {"burned", amount(), "so far"},
              {"supply", amount(), "genesis less burned"},
              {"treasury", amount()},
              {"raw", hex()}}
         ),
         {},
         "The genesis supply is the sum of balances, stakes, escrows, treasury and what was burned (LED-1)."},
        {"search",
         "What an id or a task's title, or the beginning of one, names.",
         {{"prefix", text(),
           "at least 4 hex digits of an id, at least 4 characters of an address after `assay1`, the number of a "
           "block, or the beginning of a title, in letters of any case",
           true},
          {"limit", within(1, 100), "20 if it is not given", false}},
         object({{"results", array(ref("SearchResult"))}, {"is_whole", flag(), "there are no more than these"}}),
         {},
         "Ids come before titles. A node that began with a snapshot finds by their beginning what it has seen since, "
         "and by the whole id what is in the state."},
    };
}

std::vector<Method> transaction_methods() {
    return {
        {"tx_submit",
         "Queues a transaction.",
         {{"tx", hex(), "Borsh of Tx", true}},
         object({{"hash", hash()}}),
         {kTxRejected},
         "It is checked at once and executed in a later block; `tx_get` says what became of it."},
        {"tx_get",
         "A transaction, pending or in a block.",
         {{"hash", hash(), "", true}},
         any_of({ref("Tx"), ref("PendingTx")}),
         {kNotFound},
         ""},
    };
}

std::vector<Method> account_methods() {
    return {
        {"account_get",
         "Balance and nonce of an account.",
         {{"account", account_argument(), "", true}},
         object(
             {{"account", account()},
              {"balance", amount()},
              {"nonce", integer(), "transactions that were charged"},
              {"next_nonce", integer(), "counting those that wait"},
              {"operator", nullable(account()), "who may do duties for it; null if it has named nobody"}}
         ),
         {},
         "Zeros for an account that was never seen."},
        {"account_history",
         "The transactions that an account sent, for itself or as an operator, and those that its operators sent for "
         "it.",
         {{"account", account_argument(), "", true},
          {"sender", account_argument(), "only those that it signed: `account` itself, or an operator of it", false},
          {"owner", account_argument(), "only those that act for it: `account` itself, or an owner that has named it",
           false},
          {"limit", page_limit(), "", false},
          {"cursor", ref("Cursor"), "", false}},
         object(
             {{"txs", array(ref("TxSummary"))},
              {"next_cursor", ref("Cursor")},
              {"first_height", height(), "from where on they are listed; 1: all of them"}}
         ),
         {},
         "Those that were charged or answered a duty (TX-8), oldest first. A page ends after 1 MiB of transactions, "
         "and "
         "with `sender` or `owner` after 1,000 that were looked at: it may be empty and have a next one."},
        {"account_payments",
         "What an account received.",
         {{"account", account_argument(), "", true},
          {"order", one_of({"oldest", "newest"}), "which comes first; the oldest if it is not given", false},
          {"limit", page_limit(), "", false},
          {"cursor", ref("Cursor"), "", false}},
         object(
             {{"payments", array(ref("Payment"))},
              {"next_cursor", ref("Cursor")},
              {"first_height", height(), "from where on they are listed; 1: all of them"}}
         ),
         {},
         "From escrows, bonds and the treasury, and by transfers."},
        {"stake_get",
         "The stakes of an account, by role.",
         {{"account", account_argument(), "", true}},
         object(
             {{"account", account()},
              {"operator", nullable(account()), "who may do duties with these stakes; null if nobody is named"},
              {"roles", object(
                            {{"solver", ref("RoleStake")},
                             {"verifier", ref("RoleStake")},
                             {"whistleblower", ref("RoleStake")},
                             {"validator", ref("RoleStake")}}
                        )}}
         ),
         {},
         ""},
    };
}

std::vector<Method> validator_methods() {
    return {
        {"validator_list",
         "Every account that is or was a validator.",
         {},
         object({{"validators", array(ref("Validator"))}}),
         {},
         ""},
        {"proposal_list",
         "What validators vote on, and what they have planned.",
         {},
         object({{"proposals", array(ref("Proposal")), "by proposer"}, {"plans", array(ref("Plan")), "by height"}}),
         {},
         "Proposals that have passed stay in the list until they take effect (GOV-7)."},
        {"validator_history",
         "How validators changed: power, key, jail, ban and what they were slashed.",
         {{"account", account_argument(), "only its own changes", false},
          {"limit", page_limit(), "", false},
          {"cursor", ref("Cursor"), "", false}},
         object(
             {{"changes", array(ref("ValidatorChange"))},
              {"next_cursor", ref("Cursor")},
              {"first_height", height(), "from where on they are listed; 1: all of them"}}
         ),
         {},
         ""},
        {"beacon_get", "The beacon: seats, secrets and the open round.", {}, ref("Beacon"), {}, ""},
    };
}

std::vector<Method> task_methods() {
    return {
        {"task_get", "A task.", {{"task", hash(), "", true}}, ref("Task"), {kNotFound}, ""},
        {"task_list",
         "Tasks.",
         {{"state", ref("TaskState"), "only those in it", false},
          {"order", one_of({"oldest", "newest"}), "which comes first; the oldest if it is not given", false},
          {"limit", page_limit(), "", false},
          {"cursor", ref("Cursor"), "", false}},
         object(
             {{"tasks", array(ref("TaskSummary"))},
              {"next_cursor", ref("Cursor")},
              {"first_height", height(), "from where on they are listed; 1: all of them"}}
         ),
         {},
         ""},
        {"task_history",
         "What happened in a task.",
         {{"task", hash(), "", true}, {"limit", page_limit(), "", false}, {"cursor", ref("Cursor"), "", false}},
         object(
             {{"task", hash()},
              {"records", array(ref("Event"))},
              {"next_cursor", ref("Cursor")},
              {"first_height", height(), "from where on events are listed; 1: all of them"}}
         ),
         {kNotFound, kUnavailable},
         "From the first event on, so that the history root can be computed again (HIS-2)."},
        {"task_lineage",
         "Ancestors and descendants of a task.",
         {{"task", hash(), "", true}},
         object(
             {{"task", ref("Relative")},
              {"ancestors", array(ref("Relative")), "nearest first"},
              {"descendants", array(ref("Relative")), "each after its parent"},
              {"complete", flag(), "there are at most 1,000 descendants"}}
         ),
         {kNotFound},
         ""},
        {"checkpoint_get",
         "A checkpoint.",
         {{"task", hash(), "", true}, {"index", integer(), "", true}},
         ref("Checkpoint"),
         {kNotFound},
         ""},
        {"profile_get",
         "What a profiler published of a task in tolerance mode.",
         {{"task", hash(), "", true}, {"profiler", account_argument(), "", true}},
         ref("Profile"),
         {kNotFound},
         ""},
        {"event_list",
         "What happened in all tasks, or to validators.",
         {{"event", ref("EventName"), "only events of this kind", false},
          {"account", account_argument(), "only events that name it", false},
          {"order", one_of({"oldest", "newest"}), "which comes first; the oldest if it is not given", false},
          {"limit", page_limit(), "", false},
          {"cursor", ref("Cursor"), "", false}},
         object(
             {{"events", array(ref("ListedEvent"))},
              {"next_cursor", ref("Cursor")},
              {"first_height", height(), "from where on they are listed; 1: all of them"}}
         ),
         {},
         "`{\"event\": \"slashed\", \"account\": ...}` lists an account's penalties in tasks, and "
         "`{\"event\": \"validator_penalized\"}` what validators were punished for, which no other request lists."},
    };
}

std::vector<Method> dispute_methods() {
    return {
        {"dispute_get", "A dispute with its moves.", {{"dispute", hash(), "", true}}, ref("Dispute"), {kNotFound}, ""},
        {"dispute_list",
         "Disputes.",
         {{"task", hash(), "only those about it", false},
          {"state", dispute_state(), "only those in it", false},
          {"order", one_of({"oldest", "newest"}), "which comes first; the oldest if it is not given", false},
          {"limit", page_limit(), "", false},
          {"cursor", ref("Cursor"), "", false}},
         object(
             {{"disputes", array(ref("DisputeSummary"))},
              {"next_cursor", ref("Cursor")},
              {"first_height", height(), "from where on they are listed; 1: all of them"}}
         ),
         {},
         ""},
    };
}

std::vector<Method> own_methods() {
    return {
        {"rpc.discover", "This description.", {}, openrpc(), {}, ""},
    };
}

}  // namespace

const char* rate_class_name(RateClass rate_class) {
    switch (rate_class) {
        case RateClass::kRead:
            return "reads";
        case RateClass::kListing:
            return "listings";
        case RateClass::kSubmission:
            return "submissions";
        case RateClass::kWait:
            return "waits";
    }
    return "reads";
}

RateClass rate_class_of(const Method& method) {
    if (method.name == "tx_submit") {
        return RateClass::kSubmission;
    }
    if (method.name == "chain_wait") {
        return RateClass::kWait;
    }
    const bool has_limit = std::any_of(method.params.begin(), method.params.end(), [](const Parameter& each) {
        return each.name == "limit" || each.name == "count";
    });
    return has_limit ? RateClass::kListing : RateClass::kRead;
}

const std::vector<Method>& methods() {
    static const std::vector<Method> kAll = [] {
        std::vector<Method> out;
        for (auto part :
             {chain_methods(), money_and_search_methods(), transaction_methods(), account_methods(),
              validator_methods(), task_methods(), dispute_methods(), own_methods()}) {
            out.insert(out.end(), part.begin(), part.end());
        }
        return out;
    }();
    return kAll;
}

const Method& find_method(std::string_view name) {
    const auto found =
        std::find_if(methods().begin(), methods().end(), [name](const Method& each) { return each.name == name; });
    ASSERT(found != methods().end());
    return *found;
}

}  // namespace assay::rpc::describe
