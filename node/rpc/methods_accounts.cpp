// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/method_parts.hpp>

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
