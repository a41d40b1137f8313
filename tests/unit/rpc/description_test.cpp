// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include <contracts/state/slots.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <node/rpc/describe/methods.hpp>
#include <node/rpc/describe/types.hpp>
#include <node/rpc/render.hpp>
#include <tests/unit/rpc/method_server.hpp>

using namespace assay;
using assay::rpc::Json;
using assay::rpc::test::find_mismatch;
using assay::rpc::test::id;
using assay::rpc::test::key;
using assay::rpc::test::Server;
namespace describe = assay::rpc::describe;

namespace {

const Json& document() {
    static const Json kDocument = describe::openrpc_document("test");
    return kDocument;
}

const Json& component(const std::string& name) { return document().at("components").at("schemas").at(name); }

template <std::size_t... kIndices>
void check_events(std::index_sequence<kIndices...> /*indices*/) {
    const auto check = [](contracts::HistoryEvent event) {
        const std::string name = contracts::event_name(event);
        CAPTURE(name);
        contracts::HistoryRecord record;
        record.event = std::move(event);
        if (auto* paid = std::get_if<contracts::history::Paid>(&record.event)) {
            paid->reason = contracts::Reason::kReward;
        }
        CHECK(find_mismatch(document(), component("Event_" + name), rpc::render(record)) == "");
        // What is of another shape is noticed.
        Json more = rpc::render(record);
        more["more"] = 1;
        CHECK(find_mismatch(document(), component("Event_" + name), more) != "");
    };
    (check(contracts::HistoryEvent(std::in_place_index<kIndices>)), ...);
}

template <std::size_t... kIndices>
void check_actions(std::index_sequence<kIndices...> /*indices*/) {
    const auto check = [](const contracts::Action& action) {
        const std::string name = contracts::action_name(action);
        CAPTURE(name);
        CHECK(find_mismatch(document(), component("Body_" + name), rpc::render(action)) == "");
    };
    (check(contracts::Action(std::in_place_index<kIndices>)), ...);
}

}  // namespace

TEST_CASE("each event and each action is of the shape that its description has") {
    check_events(std::make_index_sequence<std::variant_size_v<contracts::HistoryEvent>>());
    check_actions(std::make_index_sequence<std::variant_size_v<contracts::Action>>());
    CHECK(describe::event_names().size() == std::variant_size_v<contracts::HistoryEvent>);
}

TEST_CASE("references of the description lead to its components") {
    std::set<std::string> names;
    const auto collect = [&names](const Json& value, const auto& self) -> void {
        if (value.is_object() && value.contains("$ref")) {
            names.insert(value.at("$ref").get<std::string>());
        }
        if (value.is_structured()) {
            for (const Json& each : value) {
                self(each, self);
            }
        }
    };
    collect(document(), collect);
    CHECK(names.size() > 40);
    for (const std::string& name : names) {
        CAPTURE(name);
        CHECK(document().contains(Json::json_pointer(name.substr(1))));
    }
}

TEST_CASE("rpc.discover serves the whole description, and every method of it is there") {
    Server server;
    const Json found = server.result("rpc.discover");
    CHECK(found.at("openrpc") == "1.2.6");
    CHECK(found.at("methods") == document().at("methods"));
    std::set<std::string> described;
    for (const Json& method : found.at("methods")) {
        described.insert(method.at("name").get<std::string>());
    }
    const auto names = server.dispatcher.names();
    CHECK(described == std::set<std::string>(names.begin(), names.end()));
}

TEST_CASE("payments, changes of validators and fees are listed") {
    Server server;
    const std::string account = crypto::to_address(key(1).account());
    server.node.paid = {
        {.height = Height{3},
         .tx = {},
         .task = id<contracts::TaskId>(4),
         .reason = contracts::Reason::kReward,
         .from = {},
         .amount = Amount{7}},
        {.height = Height{4},
         .tx = id<Hash256>(5),
         .task = std::nullopt,
         .reason = std::nullopt,
         .from = key(2).account(),
         .amount = Amount{8}}};
    const Json first = server.result("account_payments", {{"account", account}, {"limit", 1}});
    CHECK(first.at("payments").size() == 1);
    CHECK(first.at("payments")[0].at("reason") == "reward");
    CHECK(first.at("payments")[0].at("tx").is_null());
    const Json rest = server.result("account_payments", {{"account", account}, {"cursor", first.at("next_cursor")}});
    CHECK(rest.at("payments").size() == 1);
    CHECK(rest.at("payments")[0].at("from") == crypto::to_address(key(2).account()));
    CHECK(rest.at("payments")[0].at("task").is_null());
    CHECK(rest.at("next_cursor").is_null());

    server.node.changes = {
        {.height = Height{2},
         .account = key(3).account(),
         .power = 9,
         .jailed_until = {},
         .is_banned = false,
         .slashed = Amount{1}}};
    const Json changes = server.result("validator_history");
    CHECK(changes.at("changes")[0].at("power") == 9);
    CHECK(changes.at("changes")[0].at("jailed_until").is_null());

    const Json fees = server.result("fee_history", {{"height", 3}, {"count", 2}});
    CHECK(fees.at("blocks").size() == 2);
    CHECK(fees.at("blocks")[0] == Json{{"height", 3}, {"base_fee", "50"}, {"gas", 30}});
    server.node.put(
        contracts::keys::supply(),
        codec::encode(contracts::Supply{.genesis = Amount{100}, .burned = Amount{30}, .treasury = Amount{5}})
    );
    CHECK(server.result("supply_get").at("supply") == "70");
}

TEST_CASE("OPR-6: what an operator sent is listed with its account, with its owner's, and by both") {
    Server server;
    const AccountId owner = key(2).account();
    const AccountId operating = key(1).account();
    const auto send = [&](std::uint8_t signer, std::optional<AccountId> acts_for, std::uint64_t nonce) {
        const contracts::Tx tx{
            {"fake-1", key(signer).account(), nonce, Amount{5}, contracts::LeaveBeacon{}, acts_for}, {}};
        server.result("tx_submit", {{"tx", to_hex(codec::encode(tx))}});
    };
    send(1, owner, 0);
    send(1, key(3).account(), 1);
    send(1, std::nullopt, 2);
    send(2, std::nullopt, 0);
    server.node.wait_for_block(Height{7}, std::chrono::milliseconds(0));
    const auto listed = [&](const AccountId& account, Json filters) {
        filters["account"] = crypto::to_address(account);
        return server.result("account_history", filters).at("txs").size();
    };
    CHECK(listed(operating, Json::object()) == 3);
    CHECK(listed(operating, {{"owner", crypto::to_address(owner)}}) == 1);
    CHECK(listed(operating, {{"owner", crypto::to_address(operating)}}) == 1);
    CHECK(listed(owner, Json::object()) == 2);
    CHECK(listed(owner, {{"sender", to_hex(operating.view())}}) == 1);
    CHECK(listed(owner, {{"sender", to_hex(operating.view())}, {"owner", to_hex(operating.view())}}) == 0);
    CHECK(server.code("account_history", {{"account", to_hex(owner.view())}, {"sender", "me"}}) == rpc::kInvalidParams);
    // What does not fit fills no page, and a cursor belongs to the accounts that were asked for.
    const Json filters{{"account", to_hex(operating.view())}, {"owner", to_hex(operating.view())}, {"limit", 1}};
    const Json page = server.result("account_history", filters);
    CHECK(page.at("txs").at(0).at("nonce") == 2);
    const Json all{{"account", to_hex(operating.view())}, {"limit", 1}};
    const Json cursor = server.result("account_history", all).at("next_cursor");
    CHECK(server.code("account_history", {{"account", to_hex(operating.view())}, {"cursor", cursor}}) == 0);
    CHECK(
        server.code(
            "account_history",
            {{"account", to_hex(operating.view())}, {"owner", to_hex(owner.view())}, {"cursor", cursor}}
        ) == rpc::kInvalidParams
    );
}

TEST_CASE("events are listed by kind, and an unknown kind is refused") {
    Server server;
    contracts::HistoryRecord paid;
    paid.event = contracts::history::Paid{.to = {}, .amount = Amount{2}, .reason = contracts::Reason::kTax};
    contracts::HistoryRecord completed;
    completed.event = contracts::history::Completed{};
    server.node.history = {completed, paid, completed};
    CHECK(server.result("event_list").at("events").size() == 3);
    const Json found = server.result("event_list", {{"event", "paid"}});
    CHECK(found.at("events").size() == 1);
    CHECK(found.at("events")[0].at("reason") == "tax");
    CHECK(server.code("event_list", {{"event", "payed"}}) == rpc::kInvalidParams);
    server.node.history[2].index = 9;
    const Json newest = server.result("event_list", {{"order", "newest"}, {"limit", 1}});
    CHECK(newest.at("events")[0].at("index") == 9);
    // A cursor belongs to the order that gave it.
    const Json cursor = newest.at("next_cursor");
    CHECK(server.result("event_list", {{"order", "newest"}, {"cursor", cursor}}).at("events").size() == 2);
    CHECK(server.code("event_list", {{"cursor", cursor}}) == rpc::kInvalidParams);
    CHECK(server.code("event_list", {{"order", "sideways"}}) == rpc::kInvalidParams);
}

TEST_CASE("a search takes the beginning of an id, of an address, or a block's number") {
    Server server;
    const AccountId account = key(1).account();
    const std::string address = crypto::to_address(account);
    const std::string hex = to_hex(account.view());
    server.node.names = {
        {.kind = node::NameKind::kAccount,
         .id = Bytes(account.data.begin(), account.data.end()),
         .height = {},
         .owner = {}}};
    const auto searched = [&](const std::string& prefix) {
        server.result("search", {{"prefix", prefix}});
        return server.node.searched;
    };
    CHECK(searched(hex.substr(0, 4)).bits == 16);
    CHECK(searched(hex.substr(0, 5)).bytes.size() == 3);
    CHECK(searched(hex).bits == 256);
    // The same bits, whether they come in hex or as an address.
    const auto by_address = searched(address.substr(0, 14));
    CHECK(by_address.bits == 40);
    CHECK(by_address.bytes == searched(hex.substr(0, 10)).bytes);
    CHECK(searched(address).bits == 256);
    CHECK(searched(address).bytes == Bytes(account.data.begin(), account.data.end()));
    CHECK(server.result("search", {{"prefix", address}}).at("results")[0].at("id") == address);

    const Json block = server.result("search", {{"prefix", "7"}});
    CHECK(block.at("results")[0].at("kind") == "block");
    CHECK(block.at("results")[0].at("height") == 7);
    CHECK(server.result("search", {{"prefix", "8"}}).at("results").empty());
    for (const std::string& bad : {std::string(), std::string("a\nb"), std::string("\xc3\xa4"), hex + "00"}) {
        CAPTURE(bad);
        CHECK(server.code("search", {{"prefix", bad}}) == rpc::kInvalidParams);
    }
}

TEST_CASE("a search finds titles by their beginning, after ids, and no more than its limit") {
    Server server;
    const std::string hostile = "<b onclick=\"x\">abcd";
    server.node.titled.assign(
        3, {.kind = node::NameKind::kTask, .id = Bytes(32, 7), .height = {}, .owner = {}, .title = hostile}
    );
    for (const char* title : {"ab", "assay1q", "assay1qqqb", "xyzw", "ABCD", "<b", " "}) {
        CAPTURE(title);
        const Json found = server.result("search", {{"prefix", title}, {"limit", 2}});
        CHECK(server.node.searched_title == title);
        REQUIRE(found.at("results").size() == 2);
        CHECK(found.at("results")[0].at("title") == hostile);
        CHECK(found.at("is_whole") == false);
    }
    CHECK(server.node.searched.bytes.empty());  // none of these is the beginning of an id
    server.node.names = {
        {.kind = node::NameKind::kDispute, .id = Bytes(32, 8), .height = {}, .owner = {}},
        {.kind = node::NameKind::kDispute, .id = Bytes(32, 9), .height = {}, .owner = {}}};
    const Json both = server.result("search", {{"prefix", "abcd"}, {"limit", 3}});
    CHECK(both.at("results")[0].at("kind") == "dispute");
    CHECK(both.at("results")[0].at("title") == nullptr);
    CHECK(both.at("results")[2].at("kind") == "task");
    CHECK(find_mismatch(document(), component("SearchResult"), both.at("results")[2]) == "");
}

TEST_CASE("what validators were punished for is listed where it is asked for") {
    Server server;
    const AccountId account = key(1).account();
    server.node.penalties = {
        {.height = Height{3}, .account = account, .is_double_sign = false, .amount = {}, .jailed_until = Height{9}},
        {.height = Height{5}, .account = account, .is_double_sign = true, .amount = Amount{7}, .jailed_until = {}}};
    CHECK(server.result("event_list").at("events").empty());
    const Json listed = server.result("event_list", {{"event", "validator_penalized"}, {"limit", 1}});
    REQUIRE(listed.at("events").size() == 1);
    CHECK(listed.at("events")[0].at("reason") == "downtime");
    CHECK(listed.at("events")[0].at("jailed_until") == 9);
    const Json cursor = listed.at("next_cursor");
    const Json rest = server.result("event_list", {{"event", "validator_penalized"}, {"cursor", cursor}});
    REQUIRE(rest.at("events").size() == 1);
    CHECK(rest.at("events")[0].at("reason") == "double_sign");
    CHECK(rest.at("events")[0].at("amount") == "7");
    for (const Json& each : {listed.at("events")[0], rest.at("events")[0]}) {
        CHECK(find_mismatch(document(), component("ListedEvent"), each) == "");
    }
}

TEST_CASE("a whole id is found in the state where the listings do not have it") {
    Server server;
    const auto task = server.put_task(9, contracts::TaskState::kOpen);
    const Json found = server.result("search", {{"prefix", to_hex(task.id.view())}});
    REQUIRE(found.at("results").size() == 1);
    CHECK(found.at("results")[0].at("kind") == "task");
    CHECK(found.at("is_whole") == true);
}
