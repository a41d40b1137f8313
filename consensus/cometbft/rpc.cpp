// SPDX-License-Identifier: Apache-2.0
#include <consensus/cometbft/rpc.hpp>

#include <stdexcept>

#include <net/http.hpp>

namespace assay::cometbft {
namespace {

using nlohmann::json;

constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::chrono::milliseconds kTimeout{10'000};

/// The engine's answer, an error included.
json post(const std::string& url, const std::string& method, const json& params) {
    const json request{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    const net::HttpResponse response = net::http_post(url, request.dump(), {.timeout = kTimeout, .body_max = 64U << 20U});
    json answer = json::parse(response.body, nullptr, false);
    if (!answer.is_object() || (!answer.contains("result") && !answer.contains("error"))) {
        throw std::runtime_error("CometBFT at " + url + " answered " + method + " with something else than JSON-RPC");
    }
    return answer;
}

std::string error_text(const json& error) {
    return error.value("message", "error") + ": " + error.value("data", "");
}

}  // namespace

std::string to_base64(ByteView bytes) {
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            group = (group << 8U) | (k < count ? bytes[i + k] : 0U);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            out.push_back(k <= count ? kDigits[(group >> (18U - 6U * k)) & 63U] : '=');
        }
    }
    return out;
}

std::optional<Bytes> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) {
        return std::nullopt;
    }
    const std::string_view digits(kDigits);
    Bytes out;
    for (std::size_t i = 0; i < text.size(); i += 4) {
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            const bool padding = text[i + k] == '=' && i + 4 == text.size() && k >= 2;
            const std::size_t digit = padding ? 0 : digits.find(text[i + k]);
            if (digit == std::string_view::npos) {
                return std::nullopt;
            }
            group = (group << 6U) | static_cast<std::uint32_t>(digit);
        }
        for (std::size_t k = 0; k < 3; ++k) {
            if (text[i + k + 1] != '=') {
                out.push_back(static_cast<std::uint8_t>(group >> (16U - 8U * k)));
            }
        }
    }
    return to_base64(out) == text ? std::optional(std::move(out)) : std::nullopt;
}

json EngineRpc::call(const std::string& method, const json& params) const {
    json answer = post(url_, method, params);
    if (answer.contains("error")) {
        throw std::runtime_error("CometBFT's " + method + " failed: " + error_text(answer.at("error")));
    }
    return std::move(answer.at("result"));
}

Broadcast EngineRpc::broadcast(ByteView tx) const {
    const json answer = post(url_, "broadcast_tx_sync", {{"tx", to_base64(tx)}});
    if (answer.contains("error")) {
        const std::string text = error_text(answer.at("error"));
        if (text.find("already exists in cache") != std::string::npos) {
            return {.outcome = Broadcast::Outcome::kKnown, .code = 0};
        }
        if (text.find("mempool is full") != std::string::npos) {
            return {.outcome = Broadcast::Outcome::kFull, .code = 0};
        }
        throw std::runtime_error("CometBFT did not take the transaction: " + text);
    }
    const std::uint32_t code = answer.at("result").value("code", 0U);
    return {.outcome = code == 0 ? Broadcast::Outcome::kTaken : Broadcast::Outcome::kRefused, .code = code};
}

}  // namespace assay::cometbft
