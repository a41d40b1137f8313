// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/lying_node.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <core/codec/borsh.hpp>

namespace assay::demo {
namespace {

using nlohmann::json;

// Workers ask for the next block and wait for it, each on a connection of its own.
constexpr std::uint32_t kThreads = 16;
constexpr std::chrono::seconds kLyingNodePatience{60};

}  // namespace

LyingNode::LyingNode(Truth truth)
    : truth_(std::move(truth)),
      server_(std::make_unique<http::HttpServer>(
          http::HttpServerOptions{.threads = kThreads},
          [this](const http::HttpRequest& request) { return answer(request); }
      )) {
    url_ = "http://127.0.0.1:" + std::to_string(server_->port());
}

void LyingNode::tell(Lie lie) {
    const std::lock_guard lock(mutex_);
    lie_ = std::move(lie);
}

std::uint64_t LyingNode::altered() const {
    const std::lock_guard lock(mutex_);
    return altered_;
}

std::vector<contracts::Tx> LyingNode::take_signed() {
    const std::lock_guard lock(mutex_);
    std::vector<contracts::Tx> out;
    for (const std::string& hex : std::exchange(submitted_, {})) {
        if (auto tx = codec::decode<contracts::Tx>(from_hex(hex).value_or(Bytes{}))) {
            out.push_back(*std::move(tx));
        }
    }
    return out;
}

http::HttpResponse LyingNode::answer(const http::HttpRequest& request) {
    const json asked = json::parse(request.body, nullptr, false);
    const bool is_call = asked.is_object() && asked.contains("method") && asked.at("method").is_string();
    const std::string method = is_call ? asked.at("method").get<std::string>() : "";
    const json params = is_call ? asked.value("params", json::object()) : json::object();
    Lie lie;
    std::string truth_url;
    {
        const std::lock_guard lock(mutex_);
        truth_url_ = truth_url_.empty() ? truth_() : truth_url_;
        truth_url = truth_url_;
        lie = lie_;
        const bool is_submission = method == "tx_submit" && params.is_object() && params.contains("tx");
        const std::string tx = is_submission ? params.value("tx", "") : "";
        if (is_submission && std::find(submitted_.begin(), submitted_.end(), tx) == submitted_.end()) {
            submitted_.push_back(tx);
        }
    }
    http::HttpResponse response = http::http_post(truth_url, request.body, {.timeout = kLyingNodePatience});
    if (!lie || !is_call) {
        return response;
    }
    const json truth = json::parse(response.body, nullptr, false);
    if (!truth.is_object()) {
        return response;
    }
    json told = truth;
    lie(method, params, told);
    if (told != truth) {
        const std::lock_guard lock(mutex_);
        ++altered_;
        response.body = told.dump();
    }
    return response;
}

}  // namespace assay::demo
