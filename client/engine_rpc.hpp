// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <client/http/kept_connections.hpp>
#include <core/base/bytes.hpp>

/// CometBFT's own JSON-RPC: the part that a node and a light client need.
namespace assay::client {

/// The result of offering a transaction to the engine's mempool.
struct Broadcast {
    enum class Outcome : std::uint8_t {
        kTaken = 1,
        kRefused = 2,  ///< by CheckTx; `code` has the reason
        kKnown = 3,    ///< the engine has seen it before
        kFull = 4,
    };
    Outcome outcome = Outcome::kTaken;
    std::uint32_t code = 0;  ///< the code from CheckTx
};

class EngineRpc {
  public:
    /// `url` is like "http://127.0.0.1:26657".
    explicit EngineRpc(std::string url);

    /// Offers a transaction and waits for CheckTx. Throws http::NetError, and std::runtime_error for any other error of
    /// the engine.
    Broadcast broadcast(ByteView tx) const;
    /// Calls a method and returns its result. Throws http::NetError, and std::runtime_error with the engine's error.
    nlohmann::json call(const std::string& method, const nlohmann::json& params = nlohmann::json::object()) const;

  private:
    nlohmann::json post(const std::string& method, const nlohmann::json& params) const;

    std::string url_;
    std::shared_ptr<http::KeptConnections> connections_;
};

}  // namespace assay::client
