// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <client/http/http.hpp>
#include <contracts/transaction/transaction.hpp>
#include <core/base/bytes.hpp>
#include <tests/unit/contracts/fixture.hpp>

namespace assay::worker_test {

/// A node of a test's chain, by JSON-RPC. It proves the state before the chain's last block, which it signs, and tells
/// the newest one, about which it may lie. Each transaction that a worker submits gets a block of its own, unless the
/// test says otherwise. The test may run blocks too, and calls publish() after them. Only the worker's calls run on
/// another thread, while the test waits for the worker.
class ChainNode {
  public:
    explicit ChainNode(contracts::test::Chain& chain);

    std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }
    /// Makes what the chain is now the state after another block. Earlier ones can be asked for as well.
    void publish();
    /// An empty block more, after which what was told before is proven.
    void next();

    /// Changes what the node tells of a task that it does not prove.
    std::function<void(contracts::Task&)> lie;
    /// The same of a checkpoint.
    std::function<void(contracts::Checkpoint&)> lie_of_checkpoint;
    /// Whether the mempool refuses everything.
    bool refuses = false;
    /// A method that the node answers with an error; empty: none.
    std::string fails_at;
    std::uint32_t histories = 0;               ///< how often a task's history was asked for
    std::vector<contracts::Action> submitted;  ///< also what was refused

  private:
    nlohmann::json call(const std::string& method, const nlohmann::json& params);
    nlohmann::json status() const;
    nlohmann::json block(std::uint64_t height) const;
    nlohmann::json prove(const nlohmann::json& params) const;
    nlohmann::json tell_task(const nlohmann::json& params) const;
    nlohmann::json tell_checkpoint(const nlohmann::json& params) const;
    nlohmann::json history(const nlohmann::json& params);
    nlohmann::json submit(const nlohmann::json& params);
    nlohmann::json account(const nlohmann::json& params) const;
    nlohmann::json stakes(const nlohmann::json& params) const;
    std::uint64_t tip() const { return states_.size() - 1; }

    struct State {
        std::map<Bytes, Bytes> slots;
        std::map<Bytes, Bytes> nodes;  ///< of its tree
        Hash256 root;
    };
    struct Executed {
        std::uint64_t height = 0;
        std::uint8_t code = 0;
    };

    contracts::test::Chain& chain_;
    std::vector<State> states_;  ///< by the node's heights, which are not the chain's
    std::map<Hash256, Executed> executed_;
    std::unique_ptr<http::HttpServer> server_;
};

}  // namespace assay::worker_test
