// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/method_parts.hpp>

#include <optional>
#include <string>

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

using node::NodeApi;
namespace keys = contracts::keys;

namespace {

/// OPR-1: the account's operator; null if it has none.
Json operator_of(const NodeApi& api, const AccountId& owner) {
    const auto account = find<AccountId>(api, keys::operator_of(owner));
    return account ? render(*account) : Json();
}

/// Which of an account's transactions are asked for: who signed them, and for whom they act.
struct SentBy {
    std::optional<AccountId> sender;
    std::optional<AccountId> owner;

    /// OPR-6: a receipt without an owner is of a transaction that acts for its sender.
    bool fits(const contracts::Receipt& receipt) const {
        return (!sender || *sender == receipt.sender) && (!owner || *owner == receipt.owner.value_or(receipt.sender));
    }
    /// What is added to the name of the listing in its cursors.
    std::string scope() const {
        const auto part = [](const std::optional<AccountId>& account) {
            return "/" + (account ? to_hex(account->view()) : std::string());
        };
        return sender || owner ? part(sender) + part(owner) : std::string();
    }
};

/// Bytes of transactions that one call of account_history reads, but for the last one.
constexpr std::size_t kHistoryBytesMax = std::size_t{1} << 20U;

}  // namespace

Json account_get(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const AccountId id = arguments.account("account");
    const auto account = find<contracts::Account>(api, keys::account(id)).value_or(contracts::Account{});
    return {
        {"account", render(id)},
        {"balance", render(account.balance)},
        {"nonce", account.nonce},
        {"next_nonce", api.next_nonce(id)},
        {"operator", operator_of(api, id)}};
}

Json account_history(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const AccountId id = arguments.account("account");
    const SentBy wanted{.sender = arguments.optional_account("sender"), .owner = arguments.optional_account("owner")};
    const std::string scope = "account_history/" + to_hex(id.view()) + wanted.scope();
    const std::uint32_t limit = arguments.limit();
    Json txs = Json::array();
    std::optional<std::uint64_t> next = arguments.from(scope);
    std::size_t looked_at = 0;
    std::size_t bytes = 0;
    do {
        const auto page = api.account_history(id, *next, limit - static_cast<std::uint32_t>(txs.size()));
        for (const node::StoredTx& tx : page.items) {
            bytes += tx.bytes.size();
            if (wanted.fits(tx.receipt)) {
                txs.push_back(render_tx(tx, false));
            }
        }
        looked_at += page.items.size();
        next = page.next;
    } while (next && txs.size() < limit && looked_at < kScanMax && bytes < kHistoryBytesMax);
    return {
        {"txs", std::move(txs)},
        {"next_cursor", next_cursor(scope, next)},
        {"first_height", api.status().first_block.value}};
}

Json validator_list(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
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
    const Arguments arguments(params);
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
    const Arguments arguments(params);
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
    return {{"account", render(id)}, {"operator", operator_of(api, id)}, {"roles", std::move(roles)}};
}

}  // namespace assay::rpc
