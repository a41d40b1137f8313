// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <core/crypto/keys.hpp>
#include <contracts/chain/transaction.hpp>
#include <contracts/arbitration/dispute.hpp>
#include <contracts/availability/challenge.hpp>
#include <contracts/beacon/beacon.hpp>
#include <contracts/params/params.hpp>
#include <contracts/tasks/task.hpp>
#include <net/http.hpp>

/// The JSON-RPC client of CLI and workers. Typed reads decode the Borsh bytes that answers carry beside the JSON.
namespace assay::net {

/// The node answered with an error object. `name` is its stable slug ("tx_rejected"), `data` whatever it carries.
class RpcError : public std::runtime_error {
  public:
    RpcError(int error_code, std::string error_name, const std::string& message, nlohmann::json error_data)
        : std::runtime_error(message), code(error_code), name(std::move(error_name)), data(std::move(error_data)) {}
    int code;
    std::string name;
    nlohmann::json data;
};

struct TxResult {
    Hash256 hash;
    Height height;
    std::uint8_t code = 0;   ///< contracts::TxError, 0 when executed
    std::string error;       ///< to_string of it
};

class RpcClient {
  public:
    explicit RpcClient(std::string url, std::chrono::milliseconds timeout = std::chrono::seconds(10));

    /// Throws RpcError or NetError.
    nlohmann::json call(const std::string& method, const nlohmann::json& params = nlohmann::json::object());

    // Typed reads.
    Height height();
    Height wait_for_block(Height after, std::chrono::milliseconds timeout);  ///< long poll
    contracts::Params params();
    std::string chain_id();
    std::optional<contracts::Task> task(const contracts::TaskId& id);
    std::vector<contracts::TaskId> tasks();  ///< all, following cursors
    std::optional<contracts::Checkpoint> checkpoint(const contracts::TaskId& task, std::uint32_t index);
    /// What `profiler` published of a task.
    std::optional<contracts::ProfileReport> profile(const contracts::TaskId& task, const AccountId& profiler);
    std::optional<contracts::Dispute> dispute(const contracts::DisputeId& id);
    std::vector<contracts::DisputeId> disputes(const contracts::TaskId& task);
    /// Seed, contributors and open round.
    contracts::Beacon beacon();
    std::optional<contracts::Challenge> challenge(const contracts::ChallengeId& id);
    std::vector<contracts::ChallengeId> challenges(const contracts::TaskId& task);
    /// The transactions that moved a dispute, decoded, in order.
    std::vector<contracts::Tx> dispute_moves(const contracts::DisputeId& id);

    /// Signs `action` with the account's next nonce and the least fee, submits it and waits until it is in a block.
    /// A nonce taken by somebody else with the same key is retried. A rejected transaction is a TxResult with a code
    /// when it failed in a block, an RpcError "tx_rejected" when the mempool refused it.
    TxResult send(const crypto::SecretKey& key, const contracts::Action& action,
                  std::chrono::milliseconds timeout = std::chrono::seconds(60));

  private:
    std::string url_;
    std::chrono::milliseconds timeout_;
    std::string chain_id_;
    std::optional<contracts::Params> params_;
};

}  // namespace assay::net
