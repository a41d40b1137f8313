// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/method_parts.hpp>

#include <algorithm>
#include <string>
#include <string_view>

#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/state/state.hpp>
#include <node/rpc/arguments.hpp>
#include <node/rpc/cursor.hpp>
#include <node/rpc/describe/types.hpp>
#include <node/rpc/metered_api.hpp>
#include <node/rpc/render.hpp>

namespace assay::rpc {

using node::NodeApi;
namespace keys = contracts::keys;

namespace {

constexpr std::size_t kDigitsMin = 4;
constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kSearchedMax = 64;  ///< characters: of an id or an address, and of a title (TASK-2)

bool is_number(std::string_view text) {
    return !text.empty() && text.size() < 19 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_event(const std::string& word) {
    static const std::vector<std::string> kNames = describe::event_names();
    return std::find(kNames.begin(), kNames.end(), word) != kNames.end();
}

Json render_named(const node::Named& named) {
    static constexpr std::array<const char*, 6> kKinds{"account", "block", "tx", "task", "dispute", "validator"};
    Json id = to_hex(named.id);
    if (named.kind == node::NameKind::kAccount) {
        AccountId account;
        std::copy(named.id.begin(), named.id.end(), account.data.begin());
        id = render(account);
    }
    return {
        {"kind", kKinds.at(static_cast<std::size_t>(named.kind) - 1)},
        {"id", std::move(id)},
        {"height", named.height.value == 0 ? Json() : Json(named.height.value)},
        {"account", named.owner.is_zero() ? Json() : render(named.owner)},
        {"title", named.title.empty() ? Json() : Json(named.title)}};
}

/// Whether it may be the beginning of an id, an address or a title.
bool is_searchable(std::string_view text) {
    return !text.empty() && text.size() <= kSearchedMax &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

/// What an id that is given as a whole names in the state, which may be older than the node's listings.
std::vector<node::Named> find_in_state(const NodeApi& api, const node::IdPrefix& whole) {
    Hash256 id;
    std::copy(whole.bytes.begin(), whole.bytes.end(), id.data.begin());
    const auto named = [&](node::NameKind kind) {
        return node::Named{.kind = kind, .id = whole.bytes, .height = {}, .owner = {}};
    };
    std::vector<node::Named> out;
    if (api.state(keys::account(AccountId{id.data}))) {
        out.push_back(named(node::NameKind::kAccount));
    }
    if (api.state(keys::task(contracts::TaskId{id.data}))) {
        out.push_back(named(node::NameKind::kTask));
    }
    if (api.state(keys::dispute(contracts::DisputeId{id.data}))) {
        out.push_back(named(node::NameKind::kDispute));
    }
    return out;
}

/// The bits that the beginning of an id in hex, or of an address, stands for; nullopt for any other text.
std::optional<node::IdPrefix> prefix_of(const std::string& text) {
    node::IdPrefix out;
    const auto add = [&out](std::uint32_t value, std::uint32_t bits) {
        for (std::uint32_t bit = bits; bit-- > 0 && out.bits < 4 * kHashDigits; ++out.bits) {
            if (out.bits % 8 == 0) {
                out.bytes.push_back(0);
            }
            out.bytes.back() |= static_cast<std::uint8_t>(((value >> bit) & 1U) << (7 - out.bits % 8));
        }
    };
    if (const auto groups = crypto::decode_address_prefix(text)) {
        for (const std::uint8_t group : *groups) {
            add(group, 5);
        }
        return groups->size() >= kDigitsMin ? std::optional(out) : std::nullopt;
    }
    if (text.size() < kDigitsMin || text.size() > kHashDigits) {
        return std::nullopt;
    }
    for (const char c : text) {
        const bool is_digit = c >= '0' && c <= '9';
        if (!is_digit && (c < 'a' || c > 'f')) {
            return std::nullopt;
        }
        add(static_cast<std::uint32_t>(is_digit ? c - '0' : c - 'a' + 10), 4);
    }
    return out;
}

}  // namespace

Json search(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const std::string text = arguments.text("prefix");
    if (!is_searchable(text)) {
        throw Fault(
            kInvalidParams,
            "parameter \"prefix\" must have 1 to 64 printable characters of ASCII: the beginning of an id, of an "
            "address "
            "or of a task's title, or the number of a block",
            {{"parameter", "prefix"}}
        );
    }
    const auto limit = static_cast<std::uint32_t>(std::max<std::uint64_t>(arguments.number_or("limit", 20, 100), 1));
    std::vector<node::Named> found;
    if (is_number(text)) {
        const Height height{std::stoull(text)};
        const auto status = api.status();
        const auto block = height <= status.height && height >= status.first_block ? api.block(height) : std::nullopt;
        if (block) {
            found.push_back(
                {.kind = node::NameKind::kBlock,
                 .id = Bytes(block->hash.data.begin(), block->hash.data.end()),
                 .height = height,
                 .owner = {}}
            );
        }
    }
    bool is_whole = true;
    if (const auto prefix = prefix_of(text)) {
        auto names = api.search(*prefix, limit + 1);
        if (names.empty() && prefix->bits >= 4 * kHashDigits) {
            names = find_in_state(api, *prefix);
        }
        found.insert(found.end(), names.begin(), names.end());
    }
    if (found.size() <= limit) {
        const auto titled = api.tasks_titled(text, static_cast<std::uint32_t>(limit + 1 - found.size()));
        found.insert(found.end(), titled.begin(), titled.end());
    }
    if (found.size() > limit) {
        is_whole = false;
        found.resize(limit);
    }
    Json results = Json::array();
    for (const node::Named& each : found) {
        results.push_back(render_named(each));
    }
    return {{"results", std::move(results)}, {"is_whole", is_whole}};
}

namespace {

Json list_penalties(
    const NodeApi& api, const Arguments& arguments, const std::optional<AccountId>& account, const std::string& scope,
    node::Order order
) {
    const auto page = api.validator_penalties(account, arguments.from(scope), arguments.limit(), order);
    Json events = Json::array();
    for (const node::ValidatorPenalty& penalty : page.items) {
        events.push_back(render(penalty));
    }
    return {
        {"events", std::move(events)},
        {"next_cursor", next_cursor(scope, page.next)},
        {"first_height", first_history(api)}};
}

}  // namespace

Json event_list(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const std::string event = arguments.has("event") ? arguments.text("event") : std::string();
    if (!event.empty() && event != describe::kPenaltyEvent && !is_event(event)) {
        throw Fault(kInvalidParams, "parameter \"event\" names no event", {{"parameter", "event"}});
    }
    const auto account = arguments.optional_account("account");
    const node::Order order = arguments.order();
    const std::string scope =
        in_order("event_list/" + event + "/" + (account ? to_hex(account->view()) : std::string()), order);
    if (event == describe::kPenaltyEvent) {
        return list_penalties(api, arguments, account, scope, order);
    }
    Json events = Json::array();
    const auto next = scan(
        arguments.from(scope), arguments.limit(),
        [&](std::uint64_t from, std::uint32_t count) { return api.events(account, from, count, order); },
        [&](const contracts::HistoryRecord& record) {
            if (!event.empty() && event != contracts::event_name(record.event)) {
                return false;
            }
            events.push_back(render(record));
            return true;
        }
    );
    return {
        {"events", std::move(events)}, {"next_cursor", next_cursor(scope, next)}, {"first_height", first_history(api)}};
}

Json account_payments(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const AccountId account = arguments.account("account");
    const node::Order order = arguments.order();
    const std::string scope = in_order("account_payments/" + to_hex(account.view()), order);
    const auto page = api.payments(account, arguments.from(scope), arguments.limit(), order);
    Json payments = Json::array();
    for (const node::Payment& payment : page.items) {
        payments.push_back(
            {{"height", payment.height.value},
             {"tx", payment.tx.is_zero() ? Json() : render(payment.tx)},
             {"task", payment.task ? render(*payment.task) : Json()},
             {"reason", payment.reason ? Json(contracts::to_string(*payment.reason)) : Json()},
             {"from", payment.from.is_zero() ? Json() : render(payment.from)},
             {"amount", render(payment.amount)}}
        );
    }
    return {
        {"payments", std::move(payments)},
        {"next_cursor", next_cursor(scope, page.next)},
        {"first_height", first_history(api)}};
}

Json validator_history(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const auto account = arguments.optional_account("account");
    const std::string scope = "validator_history/" + (account ? to_hex(account->view()) : std::string());
    const auto page = api.validator_changes(account, arguments.from(scope), arguments.limit());
    Json changes = Json::array();
    for (const node::ValidatorChange& change : page.items) {
        changes.push_back(
            {{"height", change.height.value},
             {"account", render(change.account)},
             {"power", change.power},
             {"jailed_until", change.jailed_until.value == 0 ? Json() : Json(change.jailed_until.value)},
             {"is_banned", change.is_banned},
             {"slashed", render(change.slashed)}}
        );
    }
    return {
        {"changes", std::move(changes)},
        {"next_cursor", next_cursor(scope, page.next)},
        {"first_height", first_history(api)}};
}

Json fee_history(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const Height last{arguments.number_or("height", api.status().height.value, kAny)};
    const auto count = static_cast<std::uint32_t>(std::max<std::uint64_t>(arguments.number_or("count", 50, 100), 1));
    const contracts::Params values = api.params();
    Json blocks = Json::array();
    for (const node::BlockFees& fees : api.fees(last, count)) {
        blocks.push_back(
            {{"height", fees.height.value},
             {"base_fee", render(fees.base_fee.value_or(values.gas_price_min))},
             {"gas", fees.gas}}
        );
    }
    return {
        {"blocks", std::move(blocks)},
        {"next_base_fee", render(contracts::get_base_fee(CommittedView(api), values))},
        {"gas_price_min", render(values.gas_price_min)},
        {"gas_max", values.block_gas_max}};
}

Json supply_get(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const auto supply = require<contracts::Supply>(api, keys::supply(), "supply");
    return {
        {"genesis", render(supply.genesis)},
        {"burned", render(supply.burned)},
        {"supply", render(Amount{supply.genesis.grains - supply.burned.grains})},
        {"treasury", render(supply.treasury)},
        {"raw", to_hex(codec::encode(supply))}};
}

}  // namespace assay::rpc
