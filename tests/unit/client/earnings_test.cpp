// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include <client/earnings.hpp>
#include <core/crypto/address.hpp>

namespace assay::client {
namespace {

using nlohmann::json;

const AccountId kEarner{{1}};

/// A node whose listings have pages of two items and a cursor that counts items.
struct ListingNode {
    std::map<std::string, json> items{
        {"account_payments", json::array()}, {"event_list", json::array()}, {"account_history", json::array()}};
    std::size_t calls = 0;

    json call(const std::string& method, const json& params) {
        ++calls;
        CHECK(params.at("account") == crypto::to_address(kEarner));
        if (method == "event_list") {
            CHECK(params.at("event") == "slashed");
        }
        const std::size_t from = params.contains("cursor") ? params.at("cursor").get<std::size_t>() : 0;
        const json& all = items.at(method);
        json page = json::array();
        for (std::size_t i = from; i < std::min(from + 2, all.size()); ++i) {
            page.push_back(all[i]);
        }
        const char* const name = method == "account_payments" ? "payments" : method == "event_list" ? "events" : "txs";
        return {{name, page}, {"next_cursor", from + 2 < all.size() ? json(from + 2) : json()}};
    }
    bool read(EarningsReader& reader, std::size_t pages_max) {
        return reader.read(
            [this](const std::string& method, const json& params) { return call(method, params); }, pages_max
        );
    }
    void pay(std::uint64_t height, const std::string& amount, const json& task, const json& reason) {
        items["account_payments"].push_back({{"height", height}, {"amount", amount}, {"task", task}, {"reason", reason}}
        );
    }
    void slash(std::uint64_t height, const std::string& amount, const AccountId& from) {
        items["event_list"].push_back(
            {{"height", height}, {"amount", amount}, {"from", crypto::to_address(from)}, {"reason", "lost_dispute"}}
        );
    }
    void charge(const json& height, const json& fee, const AccountId& sender = kEarner) {
        items["account_history"].push_back({{"height", height}, {"fee", fee}, {"sender", crypto::to_address(sender)}});
    }
};

TEST_CASE("what tasks paid, slashes took and fees cost is added up by reason, from a height on") {
    ListingNode node;
    node.pay(5, "7", "aa", "reward");
    node.pay(6, "10", "aa", "reward");
    node.pay(7, "1", "bb", "verification_fee");
    node.pay(8, "100", nullptr, nullptr);  // a transfer
    node.pay(9, "20", "bb", "reward");
    node.slash(5, "3", kEarner);
    node.slash(6, "4", kEarner);
    node.slash(6, "5", AccountId{{2}});
    node.charge(6, "0");
    node.charge(7, "9");
    node.charge(7, "5", AccountId{{3}});  // OPR-2: for this account, by its operator, which paid
    node.charge(nullptr, "9");            // waits for a block
    EarningsReader reader(kEarner, Height{5});
    CHECK(node.read(reader, 10));
    CHECK(
        reader.earnings().paid == std::map<std::string, Amount>{{"reward", Amount{30}}, {"verification_fee", Amount{1}}}
    );
    CHECK(reader.earnings().total_paid() == Amount{31});
    CHECK(reader.earnings().total_slashed() == Amount{4});
    CHECK(reader.earnings().fees == Amount{9});
    CHECK(reader.earnings().transactions == 1);
    const auto payments = reader.take_payments();
    REQUIRE(payments.size() == 3);
    CHECK(payments[1].task == "bb");
    CHECK(payments[1].reason == "verification_fee");
    CHECK(reader.take_payments().empty());
}

TEST_CASE("a reader goes on where it stopped, counts nothing twice, and reads a limited number of pages") {
    ListingNode node;
    for (int i = 0; i < 5; ++i) {
        node.pay(10, "1", "aa", "reward");
    }
    EarningsReader reader(kEarner, Height{0});
    CHECK(!node.read(reader, 1));
    CHECK(reader.earnings().total_paid() == Amount{2});
    CHECK(!node.read(reader, 1));
    CHECK(node.read(reader, 1));
    CHECK(reader.earnings().total_paid() == Amount{5});
    const std::size_t calls = node.calls;
    CHECK(node.read(reader, 10));
    CHECK(node.calls == calls + 3);  // the last page of each listing
    CHECK(reader.earnings().total_paid() == Amount{5});
    node.pay(11, "1", "aa", "reward");  // fills the page that was read last
    node.pay(11, "1", "aa", "reward");
    CHECK(node.read(reader, 10));
    CHECK(reader.earnings().total_paid() == Amount{7});
}

TEST_CASE("an answer that is no listing is refused") {
    EarningsReader reader(kEarner, Height{0});
    const auto read = [&](const json& answer) {
        reader.read([&](const std::string&, const json&) { return answer; }, 1);
    };
    const json item = {{"height", 1}, {"amount", "1x"}, {"task", "aa"}, {"reason", "reward"}};
    CHECK_THROWS_AS(read(json::object()), RpcError);
    CHECK_THROWS_AS(read({{"payments", json::array({item})}, {"next_cursor", nullptr}}), RpcError);
    CHECK(reader.earnings() == Earnings{});
}

}  // namespace
}  // namespace assay::client
