// SPDX-License-Identifier: Apache-2.0
#include <verifier/ui/teller.hpp>

#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <client/rpc_codes.hpp>
#include <contracts/state/slots.hpp>
#include <core/codec/borsh.hpp>
#include <tests/unit/cli/forged_node.hpp>
#include <tests/unit/cli/temporary.hpp>
#include <verifier/ui/settings.hpp>

namespace assay::ui {
namespace {

using cli_test::ForgedNode;
using cli_test::make_key;
using cli_test::TemporaryDirectory;
using nlohmann::json;

json error_answer(int code, const std::string& name, const json& data = json::object()) {
    json with_name = data;
    with_name["name"] = name;
    return {{"error", {{"code", code}, {"message", name}, {"data", with_name}}}};
}

/// A chain with an account of five ASY whose next nonce is 2, and a node that keeps what is submitted.
struct Bank {
    ForgedNode node;
    TemporaryDirectory home;
    crypto::SecretKey key = make_key(7);
    std::vector<std::string> submitted;
    std::optional<json> refusal{};
    std::uint64_t nonce = 2;  ///< as the node says

    Bank() {
        node.slots[contracts::keys::params()] = codec::encode(contracts::Params{});
        node.slots[contracts::keys::base_fee()] = codec::encode(Amount{50});
        node.slots[contracts::keys::account(key.account())] =
            codec::encode(contracts::Account{Amount{5'000'000'000}, 2});
        node.answer = [this](const std::string& method, const json& params) -> std::optional<json> {
            if (method == "account_get") {
                return json{{"nonce", nonce}, {"next_nonce", nonce}, {"balance", "5000000000"}};
            }
            if (method == "tx_submit") {
                submitted.push_back(params.at("tx").get<std::string>());
                return refusal ? *refusal : json{{"hash", std::string(64, '0')}};
            }
            return method == "tx_get" ? std::optional(error_answer(client::kNotFound, "not_found")) : std::nullopt;
        };
        node.serve();
    }
    Order order(const std::string& id, std::uint64_t grains = 1'000) const {
        return {
            .id = id,
            .what = {{"action", "bond"}},
            .action = contracts::Bond{.role = contracts::Role::kSolver, .amount = Amount{grains}}};
    }
    void send(Teller& teller, const std::string& id) {
        client::RpcClient rpc(node.url());
        client::ProvenChain chain(rpc, client::anchor_file(home.path()));
        teller.send(order(id), key, rpc, chain);
    }
    bool follow(Teller& teller) {
        client::RpcClient rpc(node.url());
        client::ProvenChain chain(rpc, client::anchor_file(home.path()));
        return teller.follow(rpc, chain);
    }
};

}  // namespace

TEST_CASE("ui: an order that was sent is not signed again, by a repetition or after a death") {
    Bank bank;
    {
        Teller teller(bank.home.path());
        bank.send(teller, "order-one");
        bank.send(teller, "order-one");
        CHECK(bank.submitted.size() == 1);
        CHECK_THROWS_AS(bank.send(teller, "order-two"), InputError);
    }
    Teller again(bank.home.path());  // the process was killed
    CHECK(again.snapshot().at("pending").at("id") == "order-one");
    bank.send(again, "order-one");
    CHECK(bank.submitted.size() == 1);
    CHECK_FALSE(bank.follow(again));  // in no block yet, and unknown to the node: the same bytes go there again
    CHECK(bank.submitted.size() >= 2);
    for (const std::string& each : bank.submitted) {
        CHECK(each == bank.submitted.front());
    }
}

TEST_CASE("ui: an order that the chain refuses has ended, and another may follow") {
    Bank bank;
    Teller teller(bank.home.path());
    bank.refusal = error_answer(client::kTxRejected, "tx_rejected", {{"reason", "insufficient_balance"}});
    bank.send(teller, "order-one");
    CHECK(teller.snapshot().at("pending").is_null());
    CHECK(teller.snapshot().at("done").at(0).at("error") != "");
    bank.refusal.reset();
    bank.send(teller, "order-two");
    CHECK(teller.snapshot().at("pending").at("id") == "order-two");
}

TEST_CASE("ui: a node that loses an order cannot have it signed again: its end is unknown until the owner says so") {
    Bank bank;
    Teller teller(bank.home.path());
    bank.send(teller, "order-one");
    // The account's nonce is used, and no block that the node shows has the transaction.
    bank.node.slots[contracts::keys::account(bank.key.account())] =
        codec::encode(contracts::Account{Amount{5'000'000'000}, 3});
    bank.nonce = 3;
    ForgedNode other;
    other.slots = bank.node.slots;
    other.answer = bank.node.answer;
    other.serve();
    client::RpcClient rpc(other.url());
    TemporaryDirectory elsewhere;
    client::ProvenChain chain(rpc, client::anchor_file(elsewhere.path()));
    CHECK(teller.follow(rpc, chain));
    CHECK(teller.snapshot().at("pending").at("uncertain").is_string());
    CHECK_THROWS_AS(teller.forget("order-two"), InputError);
    teller.forget("order-one");
    CHECK(teller.snapshot().at("pending").is_null());
    CHECK(bank.submitted.size() == 1);
}

TEST_CASE("ui: a damaged file of orders stops the start, since an order may be under way") {
    const TemporaryDirectory home;
    cli_test::write_text(
        home.path() / "orders.json", R"({"pending": {"id": "a", "what": {}, "tx": "00"}, "done": []})"
    );
    CHECK_THROWS_AS(Teller(home.path()), InputError);
    cli_test::write_text(home.path() / "orders.json", "");
    CHECK_THROWS_AS(Teller(home.path()), InputError);
}

}  // namespace assay::ui
