// SPDX-License-Identifier: Apache-2.0
#include <client/engine_rpc.hpp>

#include <stdexcept>
#include <utility>

#include <core/base/base64.hpp>

namespace assay::client {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kTimeout{10'000};
constexpr std::uint64_t kAnswerMax = 64U << 20U;

std::string error_text(const json& error) { return error.value("message", "error") + ": " + error.value("data", ""); }

}  // namespace

EngineRpc::EngineRpc(std::string url)
    : url_(std::move(url)), connections_(std::make_shared<http::KeptConnections>(url_, kTimeout, kAnswerMax)) {}

/// Returns the engine's answer, an error included.
json EngineRpc::post(const std::string& method, const json& params) const {
    const json request{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    json answer = json::parse(connections_->post(request.dump()), nullptr, false);
    if (!answer.is_object() || (!answer.contains("result") && !answer.contains("error"))) {
        throw std::runtime_error("CometBFT at " + url_ + " answered " + method + " with something else than JSON-RPC");
    }
    return answer;
}

json EngineRpc::call(const std::string& method, const json& params) const {
    json answer = post(method, params);
    if (answer.contains("error")) {
        throw std::runtime_error("CometBFT's " + method + " failed: " + error_text(answer.at("error")));
    }
    return std::move(answer.at("result"));
}

Broadcast EngineRpc::broadcast(ByteView tx) const {
    const json answer = post("broadcast_tx_sync", {{"tx", to_base64(tx)}});
    if (answer.contains("error")) {
        const std::string text = error_text(answer.at("error"));
        if (text.find("already exists in cache") != std::string::npos) {
            return {.outcome = Broadcast::Outcome::kKnown, .code = 0};
        }
        // It says that it is rechecking when a block comes before it has asked again about all that it holds.
        if (text.find("mempool is full") != std::string::npos || text.find("rechecking") != std::string::npos) {
            return {.outcome = Broadcast::Outcome::kFull, .code = 0};
        }
        throw std::runtime_error("CometBFT did not take the transaction: " + text);
    }
    const std::uint32_t code = answer.at("result").value("code", 0U);
    return {.outcome = code == 0 ? Broadcast::Outcome::kTaken : Broadcast::Outcome::kRefused, .code = code};
}

}  // namespace assay::client
