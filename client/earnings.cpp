// SPDX-License-Identifier: Apache-2.0
#include <client/earnings.hpp>

#include <charconv>
#include <utility>

#include <client/rpc_codes.hpp>
#include <core/crypto/address.hpp>

namespace assay::client {
namespace {

using nlohmann::json;

constexpr std::uint64_t kPageItems = 100;

RpcError bad_answer(const std::string& method) {
    return RpcError(kInternalError, "bad_answer", "the node's answer to " + method + " cannot be understood", {});
}

Amount amount_of(const json& value, const std::string& method) {
    const auto& text = value.get_ref<const std::string&>();
    std::uint64_t grains = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), grains);
    if (error != std::errc{} || end != text.data() + text.size()) {
        throw bad_answer(method);
    }
    return Amount{grains};
}

void add(Amount& sum, Amount amount, const std::string& method) {
    const auto out = checked_add(sum.grains, amount.grains);
    if (!out) {
        throw bad_answer(method);  // more than there is
    }
    sum = Amount{*out};
}

Amount total_of(const std::map<std::string, Amount>& by_reason) {
    Amount out;
    for (const auto& [reason, amount] : by_reason) {
        out.grains += amount.grains;
    }
    return out;
}

}  // namespace

Amount Earnings::total_paid() const { return total_of(paid); }
Amount Earnings::total_slashed() const { return total_of(slashed); }

EarningsReader::EarningsReader(const AccountId& account, Height since)
    : account_(crypto::to_address(account)), since_(since) {}

std::vector<TaskPayment> EarningsReader::take_payments() { return std::exchange(payments_, {}); }

bool EarningsReader::read_listing(
    const Call& call, const std::string& method, const char* items, Place& place, std::size_t pages_max,
    const std::function<void(const json&)>& count
) {
    for (std::size_t page = 0; page < pages_max; ++page) {
        json params = {{"account", account_}, {"limit", kPageItems}};
        if (method == "event_list") {
            params["event"] = "slashed";
        }
        if (!place.cursor.is_null()) {
            params["cursor"] = place.cursor;
        }
        const json answer = call(method, params);
        try {
            const json& listed = answer.at(items);
            for (; place.seen < listed.size(); ++place.seen) {
                const json& item = listed[place.seen];
                if (!item.at("height").is_null() && item.at("height").get<std::uint64_t>() > since_.value) {
                    count(item);
                }
            }
            if (answer.at("next_cursor").is_null()) {
                return true;
            }
            place = {.cursor = answer.at("next_cursor"), .seen = 0};
        } catch (const json::exception&) {
            throw bad_answer(method);
        }
    }
    return false;
}

bool EarningsReader::read(const Call& call, std::size_t pages_max) {
    const std::string payments = "account_payments";
    bool is_all = read_listing(call, payments, "payments", paid_, pages_max, [&](const json& item) {
        if (item.at("task").is_null()) {
            return;  // a transfer
        }
        const Amount amount = amount_of(item.at("amount"), payments);
        const auto reason = item.at("reason").get<std::string>();
        add(earnings_.paid[reason], amount, payments);
        payments_.push_back(
            {.task = item.at("task").get<std::string>(),
             .reason = reason,
             .amount = amount,
             .height = item.at("height").get<std::uint64_t>()}
        );
    });
    const std::string events = "event_list";
    is_all = read_listing(
                 call, events, "events", slashed_, pages_max,
                 [&](const json& item) {
                     if (item.at("from") == account_) {
                         add(earnings_.slashed[item.at("reason").get<std::string>()],
                             amount_of(item.at("amount"), events), events);
                     }
                 }
             ) &&
             is_all;
    const std::string sent = "account_history";
    return read_listing(
               call, sent, "txs", sent_, pages_max,
               [&](const json& item) {
                   // OPR-2: the fees of transactions that act for the account are their sender's.
                   if (item.at("sender") == account_ && item.at("fee") != "0") {
                       add(earnings_.fees, amount_of(item.at("fee"), sent), sent);
                       ++earnings_.transactions;
                   }
               }
           ) &&
           is_all;
}

}  // namespace assay::client
