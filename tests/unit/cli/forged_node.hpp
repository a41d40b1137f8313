// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <consensus/solo/block.hpp>
#include <contracts/tasks/task.hpp>
#include <core/crypto/keys.hpp>
#include <net/http.hpp>

namespace assay::cli_test {

crypto::SecretKey make_key(std::uint8_t number);

/// A node that says what a test wants: a state of one height with real proofs, a block that signs it, a task's
/// history. Tests alter its parts before they ask.
class ForgedNode {
  public:
    static constexpr std::uint64_t kHeight = 7;

    /// A task with `records` history records, the proposer's key, an honest block. `task` may be changed: its slot is
    /// made when serve() is called.
    explicit ForgedNode(std::size_t records = 5);

    /// Fills in the task's slot, the app hash and the block, unless the test has made a block itself.
    void serve();
    std::string url() const;

    contracts::Task task;
    std::vector<contracts::HistoryRecord> records;
    std::map<Bytes, std::optional<Bytes>> slots;
    crypto::SecretKey proposer = make_key(1);
    Hash256 app_hash;
    solo::Block block;
    std::size_t page_records = 100;
    /// Changes the result of a method before it is sent.
    std::function<void(const std::string& method, nlohmann::json& result)> tamper;
    /// Answers instead of the node, when it returns something: a whole result or {"error": ...}.
    std::function<std::optional<nlohmann::json>(const std::string& method, const nlohmann::json& params)> answer;

  private:
    nlohmann::json respond(const nlohmann::json& request);
    nlohmann::json call(const std::string& method, const nlohmann::json& params);
    nlohmann::json prove(const Bytes& key) const;
    nlohmann::json history(const nlohmann::json& params) const;

    std::map<Bytes, Bytes> nodes_;  ///< of the tree, by to_key
    std::unique_ptr<net::HttpServer> server_;
};

}  // namespace assay::cli_test
