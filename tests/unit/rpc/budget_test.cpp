// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/state/tx_error.hpp>
#include <node/rpc/methods.hpp>
#include <tests/unit/rpc/method_server.hpp>

using namespace assay;
using namespace assay::contracts;
using assay::rpc::Json;
using assay::rpc::test::Server;

TEST_CASE("a call that waits says for what, and a batch may not wait") {
    const Server server;
    const auto ask = [&](const Json& request) {
        rpc::Work work;
        const std::string text = server.dispatcher.handle(request.dump(), work);
        return std::pair(text, work.waiting());
    };
    const Json wait{{"jsonrpc", "2.0"}, {"id", "w"}, {"method", "chain_wait"}, {"params", {{"after", 7}}}};
    const auto [text, waiting] = ask(wait);
    CHECK(text.empty());
    REQUIRE(waiting.has_value());
    CHECK(waiting->after == Height{7});
    CHECK(waiting->id == "w");
    const auto [answers, none] = ask(Json::array({wait, {{"jsonrpc", "2.0"}, {"id", 2}, {"method", "node_status"}}}));
    CHECK_FALSE(none.has_value());
    const Json batch = Json::parse(answers);
    CHECK(batch.at(0).at("error").at("code") == rpc::kInvalidRequest);
    CHECK(batch.at(0).at("error").at("data").at("hint").get<std::string>().find("of its own") != std::string::npos);
    CHECK(batch.at(1).contains("result"));
}

TEST_CASE("the calls of a batch share one budget of work") {
    Server server;
    const Task task = server.put_task(1, TaskState::kTraining);
    constexpr std::uint32_t kCount = 3'000;
    for (std::uint32_t i = 0; i < kCount; ++i) {
        server.node.task_ids.push_back(task.id);
    }
    // None is settled, so each call looks at a thousand records, two units each.
    const Json scan{
        {"jsonrpc", "2.0"}, {"id", 1}, {"method", "task_list"}, {"params", {{"state", "settled"}, {"limit", 100}}}};
    rpc::Work one;
    server.dispatcher.handle(scan.dump(), one);
    CHECK(one.used() >= 1'000);
    CHECK(one.used() < rpc::Work::kUnitsMax);
    rpc::Work spent;
    while (spent.used() < rpc::Work::kUnitsMax) {
        spent.charge(one.used());
    }
    const Json answer = Json::parse(server.dispatcher.handle(scan.dump(), spent));
    CHECK(answer.at("error").at("code") == rpc::kLimitExceeded);
    CHECK(answer.at("error").at("message").get<std::string>().find("units of work") != std::string::npos);
}

TEST_CASE("work stops when the client is gone") {
    const Server server;
    int asked = 0;
    rpc::Work work([&asked] { return ++asked > 1; });
    Json batch = Json::array();
    for (int i = 0; i < 3; ++i) {
        batch.push_back({{"jsonrpc", "2.0"}, {"id", i}, {"method", "beacon_get"}});
    }
    const Json answers = Json::parse(server.dispatcher.handle(batch.dump(), work));
    CHECK(answers.at(0).contains("result"));
    CHECK(answers.at(1).at("error").at("code") == rpc::kLimitExceeded);
    CHECK(answers.at(2).at("error").at("code") == rpc::kLimitExceeded);
    CHECK(work.used() == 1);
}
