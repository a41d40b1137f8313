// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/methods.hpp>

#include <algorithm>
#include <limits>
#include <memory>

#include <core/codec/borsh.hpp>
#include <contracts/beacon/contributing.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/state/state.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/params/work.hpp>
#include <node/rpc/arguments.hpp>
#include <node/rpc/cursor.hpp>
#include <node/rpc/metered_api.hpp>
#include <node/rpc/render.hpp>

namespace assay::rpc {

namespace {

using node::NodeApi;
namespace keys = contracts::keys;

constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kScanMax = 1'000;  // records that one call of a filtered listing looks at
constexpr std::size_t kTxBytesMax = 1U << 20U;

/// A slot decoded; nullopt when it is empty. What the node stored itself decodes.
template <class T>
std::optional<T> find(const NodeApi& api, const Bytes& key) {
    const auto bytes = api.state(key);
    if (!bytes) {
        return std::nullopt;
    }
    auto value = codec::decode<T>(*bytes);
    if (!value) {
        throw std::runtime_error("a slot of the state does not decode");
    }
    return *std::move(value);
}

template <class T>
T require(const NodeApi& api, const Bytes& key, const char* what) {
    auto value = find<T>(api, key);
    if (!value) {
        throw Fault(kNotFound, std::string("no such ") + what);
    }
    return *std::move(value);
}

Json next_cursor(std::string_view scope, const std::optional<std::uint64_t>& next) {
    return next ? Json(encode_cursor(scope, *next)) : Json();
}

/// From where on listings of tasks and disputes, and what happened in them, begin: a node that began with a snapshot
/// has not seen what was before it.
std::uint64_t first_history(const NodeApi& api) { return api.status().first_history.value; }

Json node_status(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {});
    Json out = render_status(api.status(), ASSAY_VERSION);
    out["base_fee"] = render(find<Amount>(api, keys::base_fee()).value_or(api.params().gas_price_min));
    return out;
}

Json chain_params(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {});
    const contracts::Params values = api.params();
    Json out = render(values);
    out["raw"] = to_hex(codec::encode(values));
    return out;
}

Json chain_wait(const Json& params, Work& work) {
    const Arguments arguments(params, {"after", "timeout_ms"});
    const Height after{arguments.number("after", kAny)};
    const std::chrono::milliseconds timeout(arguments.number_or("timeout_ms", 10'000, 30'000));
    work.wait({.after = after, .until = std::chrono::steady_clock::now() + timeout});
    return Json();
}

Json chain_light_block(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {"height"});
    const Height height{arguments.number_or("height", api.status().height.value, kAny)};
    const auto block = api.light_block(height);
    if (!block) {
        throw Fault(kNotFound, "no light block of height " + std::to_string(height.value));
    }
    return {{"height", height.value}, {"raw", to_hex(*block)}};
}

Json chain_block(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {"height"});
    const Height height{arguments.number_or("height", api.status().height.value, kAny)};
    const auto block = api.block(height);
    if (!block) {
        throw Fault(kNotFound, "no block of height " + std::to_string(height.value));
    }
    return render_block(*block, api.params());
}

/// What else to say of a rejected transaction; nothing where its reason says enough.
std::string advice_on(contracts::TxError error, const contracts::Params& params) {
    switch (error) {
        case contracts::TxError::kValueTooHigh:
            return ": reward and verification fee come to more than this chain's task_value_max, " +
                   std::to_string(params.task_value_max.grains) +
                   " grains; split the training into tasks of which each has the one before as its parent, or submit "
                   "it "
                   "to a chain with a higher limit";
        case contracts::TxError::kSegmentTooLong:
            return ": a machine of the task's class may need more than replay_blocks_max, " +
                   std::to_string(params.replay_blocks_max) +
                   " blocks, for a segment; make checkpoint_interval smaller, or ask for a faster class";
        case contracts::TxError::kTimeTooShort:
            return ": training_blocks is too little for the work on a machine of the task's class; give it more, or "
                   "ask "
                   "for a faster class";
        case contracts::TxError::kFeeBelowWork:
            return ": the verification fee is less than work_price, " + std::to_string(params.work_price) +
                   " grains for 10^9 multiply-adds, asks for; assay task submit says how much it has to be";
        case contracts::TxError::kPriceTooHigh:
            return ": a verifier asks for at most " + std::to_string(contracts::kMostAsked * params.work_price) +
                   " grains for 10^9 multiply-adds, " + std::to_string(contracts::kMostAsked) + " times work_price";
        case contracts::TxError::kDutiesFull:
            return ": open disputes take all the room that the chain has for their moves; send it again in a few "
                   "blocks: windows "
                   "of challenges stand still meanwhile";
        case contracts::TxError::kNotOwed:
            return ": the sender owes no answer that is due at this height; with a fee and the account's nonce it is "
                   "an "
                   "ordinary transaction";
        case contracts::TxError::kInsufficientBalance:
            return ": the account's balance does not cover the amount and the fee";
        case contracts::TxError::kInsufficientStake:
            return ": the account has too little free stake in that role; bond more, or wait until what is locked is "
                   "free";
        case contracts::TxError::kNonceTooLow:
            return ": a transaction with this nonce was executed already; take the account's next nonce";
        case contracts::TxError::kNonceTooHigh:
            return ": the account's transactions with the nonces before it are missing; send them first";
        case contracts::TxError::kWrongChain:
            return ": it was signed for another chain; sign it again with this chain's id";
        case contracts::TxError::kTaskState:
            return ": the task's present state does not allow this action";
        case contracts::TxError::kScoreTooLow:
            return ": it is below the least score of that class; ask for a slower one, or for none";
        default:
            return "";
    }
}

Json tx_submit(NodeApi& api, const Json& params) {
    const Arguments arguments(params, {"tx"});
    const auto hash = api.submit(arguments.bytes("tx", kTxBytesMax));
    if (hash) {
        return {{"hash", render(*hash)}};
    }
    const node::SubmitError& error = hash.error();
    if (error.code != 0) {
        const auto tx_error = static_cast<contracts::TxError>(error.code);
        const char* reason = contracts::to_string(tx_error);
        throw Fault(
            kTxRejected, std::string("transaction rejected: ") + reason + advice_on(tx_error, api.params()),
            {{"tx_error", error.code}, {"reason", reason}}
        );
    }
    if (error.stopping) {
        throw Fault(kUnavailable, "the node is stopping");
    }
    if (error.engine_away) {
        throw Fault(kUnavailable, "the consensus engine cannot be reached; try again");
    }
    if (error.already_known) {
        throw Fault(kTxRejected, "the transaction is known already", {{"tx_error", 0}, {"reason", "already_known"}});
    }
    throw Fault(kLimitExceeded, "the mempool is full");
}

Json tx_get(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {"hash"});
    const auto hash = arguments.id<Hash256>("hash");
    // A block may take it between two questions: ask for the final answer last.
    const bool is_pending = api.in_mempool(hash);
    if (const auto tx = api.tx(hash)) {
        return render_tx(*tx, true);
    }
    if (!is_pending) {
        const Height first = api.status().first_block;
        throw Fault(
            kNotFound, "no such transaction" +
                           (first.value > 1 ? " in the blocks from " + std::to_string(first.value) + " on" : "")
        );
    }
    Json out{{"hash", render(hash)}, {"status", "pending"}};
    for (const char* name :
         {"height", "index", "action", "sender", "nonce", "fee", "code", "error", "size_bytes", "gas", "body", "raw"}) {
        out[name] = nullptr;
    }
    return out;
}

Json account_get(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {"account"});
    const AccountId id = arguments.account("account");
    const auto account = find<contracts::Account>(api, keys::account(id)).value_or(contracts::Account{});
    return {
        {"account", render(id)},
        {"balance", render(account.balance)},
        {"nonce", account.nonce},
        {"next_nonce", api.next_nonce(id)}};
}

Json account_history(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {"account", "limit", "cursor"});
    const AccountId id = arguments.account("account");
    const std::string scope = "account_history/" + to_hex(id.view());
    const auto page = api.account_history(id, arguments.from(scope), arguments.limit());
    Json txs = Json::array();
    for (const auto& tx : page.items) {
        txs.push_back(render_tx(tx, false));
    }
    return {
        {"txs", std::move(txs)},
        {"next_cursor", next_cursor(scope, page.next)},
        {"first_height", api.status().first_block.value}};
}

Json validator_list(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {});
    Json validators = Json::array();
    auto accounts = find<std::vector<AccountId>>(api, keys::validators()).value_or(std::vector<AccountId>{});
    const auto banned = find<std::vector<AccountId>>(api, keys::banned()).value_or(std::vector<AccountId>{});
    accounts.insert(accounts.end(), banned.begin(), banned.end());
    for (const AccountId& account : accounts) {
        const auto record = require<contracts::Validator>(api, keys::validator(account), "validator");
        const auto stake = find<contracts::Stake>(api, keys::stake(contracts::Role::kValidator, account));
        validators.push_back(
            {{"account", render(account)},
             {"consensus_key", to_hex(record.key.view())},
             {"address", to_hex(contracts::address_of(record.key).view())},
             {"power", record.power},
             {"stake", render(stake.value_or(contracts::Stake{}))},
             {"missed", record.missed},
             {"jailed_until", record.jailed_until.value == 0 ? Json() : Json(record.jailed_until.value)},
             {"is_banned", record.is_banned},
             {"slashed", render(record.slashed)}}
        );
    }
    return {{"validators", std::move(validators)}};
}

Json beacon_get(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {});
    const auto beacon = find<contracts::Beacon>(api, keys::beacon()).value_or(contracts::Beacon{});
    Json seats = Json::array();
    for (const contracts::Seat& seat : beacon.seats) {
        seats.push_back(
            {{"account", render(seat.account)},
             {"commitment", render(seat.commitment)},
             {"committed_at", seat.committed_at.value},
             {"bond", render(seat.bond)},
             {"due", contracts::is_due(beacon, seat)}}
        );
    }
    Json round;
    if (beacon.round) {
        round = {
            {"opened_at", beacon.round->opened_at.value},
            {"block_hash", render(beacon.round->block_hash)},
            {"contributions", Json::array()}};
        for (const contracts::Contribution& contribution : beacon.round->contributions) {
            round["contributions"].push_back(
                {{"account", render(contribution.account)}, {"secret", render(contribution.secret)}}
            );
        }
    }
    Json withheld = Json::array();
    for (const AccountId& account : beacon.withheld) {
        withheld.push_back(render(account));
    }
    return {{"rounds", beacon.rounds},         {"seed", beacon.seed.is_zero() ? Json() : render(beacon.seed)},
            {"withheld", std::move(withheld)}, {"seats", std::move(seats)},
            {"round", std::move(round)},       {"raw", to_hex(codec::encode(beacon))}};
}

Json stake_get(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {"account"});
    const AccountId id = arguments.account("account");
    Json roles = Json::object();
    for (const auto role :
         {contracts::Role::kSolver, contracts::Role::kVerifier, contracts::Role::kWhistleblower,
          contracts::Role::kValidator}) {
        const auto stake = find<contracts::Stake>(api, keys::stake(role, id)).value_or(contracts::Stake{});
        const auto registered = find<contracts::RegisteredTerms>(api, keys::terms(role, id));
        Json& out = roles[contracts::to_string(role)] = render(stake);
        out["terms"] = render(registered ? registered->terms : contracts::Terms{});
        out["score"] = registered ? registered->score : 0;
    }
    return {{"account", render(id)}, {"roles", std::move(roles)}};
}

TaskDetails details_of(const NodeApi& api, const contracts::Task& task) {
    TaskDetails details;
    for (std::uint32_t i = 0; i < task.checkpoints; ++i) {
        // The record may be of a later height than the task's: never the other way round.
        if (auto checkpoint = find<contracts::Checkpoint>(api, keys::checkpoint(task.id, i))) {
            details.checkpoints.push_back(*std::move(checkpoint));
        }
    }
    std::optional<std::uint64_t> from = 0;
    while (from) {
        const auto page = api.disputes(task.id, *from, kPageMax);
        details.disputes.insert(details.disputes.end(), page.items.begin(), page.items.end());
        from = page.next;
    }
    return details;
}

Json task_get(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {"task"});
    const auto task = require<contracts::Task>(api, keys::task(arguments.id<contracts::TaskId>("task")), "task");
    Json out = render_task(task, details_of(api, task));
    out["first_height"] = first_history(api);
    return out;
}

template <class State>
std::optional<State> state_argument(const Arguments& arguments, State last) {
    if (!arguments.has("state")) {
        return std::nullopt;
    }
    const std::string name = arguments.text("state");
    for (std::uint8_t i = 1; i <= static_cast<std::uint8_t>(last); ++i) {
        if (name == contracts::to_string(static_cast<State>(i))) {
            return static_cast<State>(i);
        }
    }
    throw Fault(kInvalidParams, "parameter \"state\" names no state", {{"parameter", "state"}});
}

/// Pages of ids, looked up and filtered, until the limit or kScanMax records: `list(from, count)` gives a page,
/// `visit(id)` whether it was taken. Returns where to go on.
template <class List, class Visit>
std::optional<std::uint64_t> scan(std::uint64_t from, std::uint32_t limit, List list, Visit visit) {
    std::uint32_t taken = 0;
    std::uint32_t looked_at = 0;
    std::optional<std::uint64_t> next = from;
    while (next && taken < limit && looked_at < kScanMax) {
        // Never more than are wanted: a page's end is the only place to go on from.
        const auto page = list(*next, limit - taken);
        for (const auto& id : page.items) {
            taken += visit(id) ? 1U : 0U;
            ++looked_at;
        }
        next = page.next;
    }
    return next;
}

Json task_list(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {"state", "limit", "cursor"});
    const auto state = state_argument(arguments, contracts::TaskState::kRefused);
    const std::string scope = "task_list/" + std::string(state ? contracts::to_string(*state) : "");
    Json tasks = Json::array();
    const auto next = scan(
        arguments.from(scope), arguments.limit(),
        [&](std::uint64_t from, std::uint32_t count) { return api.tasks(from, count); },
        [&](const contracts::TaskId& id) {
            const auto task = find<contracts::Task>(api, keys::task(id));
            if (!task || (state && task->state != *state)) {
                return false;
            }
            tasks.push_back(render_task_summary(*task));
            return true;
        }
    );
    return {
        {"tasks", std::move(tasks)}, {"next_cursor", next_cursor(scope, next)}, {"first_height", first_history(api)}};
}

Json task_history(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {"task", "limit", "cursor"});
    const auto id = arguments.id<contracts::TaskId>("task");
    const auto task = require<contracts::Task>(api, keys::task(id), "task");
    const std::string scope = "task_history/" + to_hex(id.view());
    const std::uint64_t from = arguments.from(scope);
    const auto page = api.task_history(id, from, arguments.limit());
    if (page.items.empty() ? from < task.history_count : page.items.front().index != from) {
        const std::uint64_t first = first_history(api);
        throw Fault(
            kUnavailable,
            "the beginning of this task's history is not here: what happened is, from block " + std::to_string(first) +
                " on",
            {{"first_height", first}}
        );
    }
    Json records = Json::array();
    for (const auto& record : page.items) {
        records.push_back(render(record));
    }
    return {
        {"task", render(id)},
        {"records", std::move(records)},
        {"next_cursor", next_cursor(scope, page.next)},
        {"first_height", first_history(api)}};
}

/// Nearest first. The list ends by itself: LIN-1 bounds the depth.
Json ancestors_of(const NodeApi& api, const contracts::Task& task) {
    Json out = Json::array();
    for (auto id = task.spec.parent; id;) {
        const auto ancestor = require<contracts::Task>(api, keys::task(*id), "task");
        out.push_back(render_relative(ancestor));
        id = ancestor.spec.parent;
    }
    return out;
}

Json task_lineage(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {"task"});
    const auto task = require<contracts::Task>(api, keys::task(arguments.id<contracts::TaskId>("task")), "task");
    Json descendants = Json::array();
    const auto lineage_of = [&](const contracts::TaskId& id) {
        return find<contracts::Lineage>(api, keys::lineage(id)).value_or(contracts::Lineage{});
    };
    std::vector<contracts::TaskId> ahead;
    if (const auto child = lineage_of(task.id).first_child) {
        ahead.push_back(*child);
    }
    // A child before its later siblings, so that each follows its parent.
    while (!ahead.empty() && descendants.size() < kScanMax) {
        const contracts::TaskId id = ahead.back();
        ahead.pop_back();
        descendants.push_back(render_relative(require<contracts::Task>(api, keys::task(id), "task")));
        const contracts::Lineage family = lineage_of(id);
        if (family.next_sibling) {
            ahead.push_back(*family.next_sibling);
        }
        if (family.first_child) {
            ahead.push_back(*family.first_child);
        }
    }
    return {
        {"task", render_relative(task)},
        {"ancestors", ancestors_of(api, task)},
        {"descendants", std::move(descendants)},
        {"complete", ahead.empty()}};
}

Json checkpoint_get(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {"task", "index"});
    const auto task = arguments.id<contracts::TaskId>("task");
    const auto index = static_cast<std::uint32_t>(arguments.number("index", contracts::kMaxSegments));
    return render_checkpoint(
        task, index, require<contracts::Checkpoint>(api, keys::checkpoint(task, index), "checkpoint")
    );
}

Json dispute_get(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {"dispute"});
    const auto id = arguments.id<contracts::DisputeId>("dispute");
    const auto dispute = require<contracts::Dispute>(api, keys::dispute(id), "dispute");
    Json out = render_dispute(dispute, api.referee_us(id), api.dispute_moves(id));
    out["first_height"] = first_history(api);
    return out;
}

Json dispute_list(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {"task", "state", "limit", "cursor"});
    const auto state = state_argument(arguments, contracts::DisputeState::kForced);
    const auto task = arguments.has("task") ? std::optional(arguments.id<contracts::TaskId>("task")) : std::nullopt;
    const std::string scope = "dispute_list/" + (task ? to_hex(task->view()) : std::string()) + "/" +
                              std::string(state ? contracts::to_string(*state) : "");
    Json disputes = Json::array();
    const auto next = scan(
        arguments.from(scope), arguments.limit(),
        [&](std::uint64_t from, std::uint32_t count) { return api.disputes(task, from, count); },
        [&](const contracts::DisputeId& id) {
            const auto dispute = find<contracts::Dispute>(api, keys::dispute(id));
            if (!dispute || (state && dispute->state != *state)) {
                return false;
            }
            disputes.push_back(render_dispute_summary(*dispute, api.referee_us(id)));
            return true;
        }
    );
    return {
        {"disputes", std::move(disputes)},
        {"next_cursor", next_cursor(scope, next)},
        {"first_height", first_history(api)}};
}

Json profile_get(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {"task", "profiler"});
    const auto id = arguments.id<contracts::TaskId>("task");
    const AccountId profiler = arguments.account("profiler");
    const auto task = require<contracts::Task>(api, keys::task(id), "task");
    const auto profiles = task.tolerance ? task.tolerance->profiles : std::vector<contracts::Profile>{};
    const auto found = std::find_if(profiles.begin(), profiles.end(), [&](const contracts::Profile& profile) {
        return profile.profiler == profiler;
    });
    if (found == profiles.end()) {
        throw Fault(kNotFound, "no such profiler of the task");
    }
    const auto place = static_cast<std::uint32_t>(found - profiles.begin());
    const auto report = require<contracts::ProfileReport>(api, keys::profile(id, place), "profile");
    Json out = render(report);
    out["raw"] = to_hex(codec::encode(report));
    return out;
}

/// The slot that exactly one of the parameters names.
Bytes key_argument(const Arguments& arguments) {
    constexpr std::array<const char*, 6> kNames{"key", "task", "account", "dispute", "stake", "checkpoint"};
    const auto given =
        std::count_if(kNames.begin(), kNames.end(), [&](const char* name) { return arguments.has(name); });
    if (given != 1) {
        throw invalid_params("exactly one of key, task, account, dispute, stake, checkpoint is needed");
    }
    if (arguments.has("task")) {
        return keys::task(arguments.id<contracts::TaskId>("task"));
    }
    if (arguments.has("account")) {
        return keys::account(arguments.account("account"));
    }
    if (arguments.has("dispute")) {
        return keys::dispute(arguments.id<contracts::DisputeId>("dispute"));
    }
    if (arguments.has("stake")) {
        const Json value = arguments.object("stake");
        const Arguments stake(value, {"account", "role"});
        return keys::stake(stake.role("role"), stake.account("account"));
    }
    if (arguments.has("checkpoint")) {
        const Json value = arguments.object("checkpoint");
        const Arguments checkpoint(value, {"task", "index"});
        return keys::checkpoint(
            checkpoint.id<contracts::TaskId>("task"),
            static_cast<std::uint32_t>(checkpoint.number("index", contracts::kMaxSegments))
        );
    }
    return arguments.bytes("key", 256);
}

Json chain_proof(const NodeApi& api, const Json& params) {
    const Arguments arguments(params, {"key", "task", "account", "dispute", "stake", "checkpoint", "height"});
    const Bytes key = key_argument(arguments);
    const auto height =
        arguments.has("height") ? std::optional(Height{arguments.number("height", kAny)}) : std::nullopt;
    const auto answer = api.prove(key, height);
    return {
        {"key", to_hex(key)},
        {"value", answer.value ? Json(to_hex(*answer.value)) : Json()},
        {"height", answer.height.value},
        {"app_hash", render(answer.app_hash)},
        {"proof", to_hex(codec::encode(answer.proof))}};
}

}  // namespace

Dispatcher make_dispatcher(NodeApi& api) {
    Dispatcher out;
    using Reader = Json (*)(const NodeApi&, const Json&);
    const auto add = [&out, &api](const char* name, Reader method) {
        out.add(name, [&api, method](const Json& params, Work& work) {
            try {
                return method(MeteredApi(api, work), params);
            } catch (const consensus::HeightNotKept& error) {
                throw Fault(
                    kUnavailable, error.what(),
                    {{"first_height", error.first().value}, {"last_height", error.last().value}}
                );
            }
        });
    };
    add("node_status", node_status);
    add("chain_params", chain_params);
    add("chain_block", chain_block);
    add("chain_light_block", chain_light_block);
    add("chain_proof", chain_proof);
    add("tx_get", tx_get);
    add("account_get", account_get);
    add("account_history", account_history);
    add("stake_get", stake_get);
    add("validator_list", validator_list);
    add("beacon_get", beacon_get);
    add("task_get", task_get);
    add("task_list", task_list);
    add("task_history", task_history);
    add("task_lineage", task_lineage);
    add("checkpoint_get", checkpoint_get);
    add("dispute_get", dispute_get);
    add("dispute_list", dispute_list);
    add("profile_get", profile_get);
    out.add("chain_wait", [](const Json& params, Work& work) { return chain_wait(params, work); });
    out.add("tx_submit", [&api](const Json& params, Work& work) {
        MeteredApi metered(api, work);
        return tx_submit(metered, params);
    });
    auto names = out.names();
    names.emplace_back("rpc.discover");
    out.add("rpc.discover", [names](const Json& params, Work&) {
        const Arguments arguments(params, {});
        return Json{{"methods", names}};
    });
    return out;
}

}  // namespace assay::rpc
