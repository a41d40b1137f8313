// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <consensus/solo/block.hpp>
#include <contracts/state/history.hpp>
#include <contracts/state/task.hpp>
#include <core/crypto/keys.hpp>
#include <client/http/http.hpp>

namespace assay::cli_test {

crypto::SecretKey make_key(std::uint8_t number);

/// A node that says what a test wants: states with real proofs, blocks that sign them, a task's history. Tests alter
/// its parts before they ask.
class ForgedNode {
  public:
    static constexpr std::uint64_t kHeight = 7;

    /// A task with `records` history records, spread over the heights, the proposer's key, an honest block. `task` may
    /// be changed: its slot in the last state is made when serve() is called.
    explicit ForgedNode(std::size_t records = 5);

    /// Fills in the states, the task's slot in the last one, its app hash and its block, unless the test has made a
    /// block itself.
    void serve();
    std::string url() const;

    contracts::Task task;
    std::vector<contracts::HistoryRecord> records;
    std::map<Bytes, std::optional<Bytes>> slots;
    crypto::SecretKey proposer = make_key(1);
    Hash256 app_hash;
    solo::Block block;                ///< signs the last state
    std::uint64_t time_ms;            ///< of every block; now, at first
    std::uint64_t oldest_height = 0;  ///< older states are not kept
    std::size_t page_records = 100;
    /// Changes the result of a method before it is sent.
    std::function<void(const std::string& method, nlohmann::json& result)> tamper;
    /// Answers instead of the node, when it returns something: a whole result or {"error": ...}.
    std::function<std::optional<nlohmann::json>(const std::string& method, const nlohmann::json& params)> answer;

  private:
    nlohmann::json respond(const nlohmann::json& request);
    nlohmann::json call(const std::string& method, const nlohmann::json& params);
    nlohmann::json prove(const nlohmann::json& params) const;
    void write_state(std::uint64_t height, const std::map<Bytes, std::optional<Bytes>>& changes);
    std::optional<Bytes> task_at(std::uint64_t height) const;
    solo::Block sign_state(std::uint64_t height) const;
    nlohmann::json history(const nlohmann::json& params) const;

    const std::vector<contracts::HistoryRecord> truth_;  ///< what happened, whatever tests make of `records`
    std::vector<Hash256> truth_roots_;                   ///< after so many records
    std::map<Bytes, Bytes> nodes_;                       ///< of the trees, by to_key
    std::vector<Hash256> app_hashes_;                    ///< by height
    std::unique_ptr<http::HttpServer> server_;
};

}  // namespace assay::cli_test
