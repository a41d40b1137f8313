// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <core/base/bytes.hpp>

/// CometBFT's own JSON-RPC, as far as a node and a light client need it.
namespace assay::client {

/// What became of a transaction that was offered to the engine's mempool.
struct Broadcast {
    enum class Outcome : std::uint8_t {
        kTaken = 1,
        kRefused = 2,  ///< by CheckTx; `code` says why
        kKnown = 3,    ///< seen before
        kFull = 4,
    };
    Outcome outcome = Outcome::kTaken;
    std::uint32_t code = 0;  ///< of CheckTx
};

class EngineRpc {
  public:
    /// "http://127.0.0.1:26657"
    explicit EngineRpc(std::string url) : url_(std::move(url)) {}

    /// Offers a transaction and waits for CheckTx. Throws http::NetError, and std::runtime_error for any other error of
    /// the engine's.
    Broadcast broadcast(ByteView tx) const;
    /// A method's result. Throws http::NetError, and std::runtime_error with the engine's error.
    nlohmann::json call(const std::string& method, const nlohmann::json& params = nlohmann::json::object()) const;

  private:
    std::string url_;
};

}  // namespace assay::client
