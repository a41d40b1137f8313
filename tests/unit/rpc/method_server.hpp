// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <doctest/doctest.h>

#include <core/codec/borsh.hpp>
#include <contracts/state/slots.hpp>
#include <node/rpc/methods.hpp>
#include <tests/unit/rpc/fake_node.hpp>
#include <tests/unit/rpc/schema_check.hpp>

/// All methods over a node whose answers the test decides. Each result is held against its description.
namespace assay::rpc::test {

struct Server {
    FakeNode node;
    Dispatcher dispatcher = make_dispatcher(node);

    Json call(const std::string& method, const Json& params = Json::object()) const {
        const Json request{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
        Work work;
        const Json answer = Json::parse(dispatcher.handle(request.dump(), work));
        if (answer.contains("result")) {
            INFO(method);
            CHECK(find_mismatch(method, answer.at("result")) == "");
        }
        return answer;
    }
    Json result(const std::string& method, const Json& params = Json::object()) const {
        const Json answer = call(method, params);
        INFO(answer.dump());
        REQUIRE(answer.contains("result"));
        return answer.at("result");
    }
    int code(const std::string& method, const Json& params = Json::object()) const {
        const Json answer = call(method, params);
        return answer.contains("error") ? answer.at("error").at("code").get<int>() : 0;
    }
    contracts::Task put_task(std::uint8_t seed, contracts::TaskState state) {
        contracts::Task task;
        task.id = id<contracts::TaskId>(seed);
        task.state = state;
        task.spec.steps = 1;
        task.spec.checkpoint_interval = 1;
        node.put(contracts::keys::task(task.id), codec::encode(task));
        node.task_ids.push_back(task.id);
        return task;
    }
};

}  // namespace assay::rpc::test
