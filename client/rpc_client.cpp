// SPDX-License-Identifier: Apache-2.0
#include <client/rpc_client.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <thread>

#include <client/rpc_answers.hpp>
#include <client/rpc_codes.hpp>
#include <core/codec/borsh.hpp>

namespace assay::client {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

template <class Id>
std::vector<Id> list_all(RpcClient& client, const std::string& method, json params, const char* name) {
    std::vector<Id> out;
    params["limit"] = 100;
    for (Listing listing(method);;) {
        const json page = client.call(method, params);
        listing.count(answer_list(method, page, name).size());
        for (const json& item : answer_list(method, page, name)) {
            out.push_back(answer_id<Id>(method, answer_member(method, item, "id")));
        }
        const json& next = answer_member(method, page, "next_cursor");
        if (next.is_null()) {
            return out;
        }
        params["cursor"] = next;
    }
}

/// How long the node asks its caller to wait; nullopt if the answer is another one.
std::optional<milliseconds> rate_wait(const json& answer) {
    const json error = answer.value("error", json());
    if (!error.is_object() || error.value("code", json()) != kRateLimited) {
        return std::nullopt;
    }
    const json data = error.value("data", json());
    const json wait = data.is_object() ? data.value("retry_after_ms", json()) : json();
    return milliseconds(
        wait.is_number_unsigned() ? std::clamp<std::uint64_t>(wait.get<std::uint64_t>(), 1, 60'000) : 1'000
    );
}

}  // namespace

void Listing::count(std::size_t items) {
    constexpr std::size_t kItemsMax = 1'000'000;
    constexpr std::size_t kEmptyPagesMax = 1'000;  // of a thousand records each
    constexpr std::chrono::minutes kTimeMax{5};
    items_ += items;
    empty_pages_ = items == 0 ? empty_pages_ + 1 : 0;
    if (items_ > kItemsMax || empty_pages_ > kEmptyPagesMax || Clock::now() - began_ > kTimeMax) {
        throw bad_answer(method_, "does not end");
    }
}

RpcClient::RpcClient(std::string url, milliseconds timeout) : RpcClient(NodeAddress{.url = std::move(url)}, timeout) {}

RpcClient::RpcClient(const NodeAddress& node, milliseconds timeout)
    : url_(node.url), place_(node.url), access_{.authorities = node.authorities.string()}, timeout_(timeout) {
    constexpr std::string_view kSocket = "unix://";
    if (url_.starts_with(kSocket)) {
        access_.socket = url_.substr(kSocket.size());
        place_ = "http://localhost/";
    } else if (!node.token_file.empty()) {
        access_.bearer = read_token(node.token_file);
    }
}

json RpcClient::post(const std::string& request, milliseconds timeout) const {
    const http::HttpResponse response = http::http_post(place_, request, {.timeout = timeout}, access_);
    json answer = json::parse(response.body, nullptr, false);
    if (!answer.is_object()) {
        throw http::NetError(url_ + ": no JSON-RPC there (HTTP status " + std::to_string(response.status) + ")");
    }
    return answer;
}

json RpcClient::call(const std::string& method, const json& params) {
    const json request{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    milliseconds timeout = timeout_;
    if (params.is_object() && params.contains("timeout_ms")) {
        timeout += milliseconds(params.at("timeout_ms").get<std::uint32_t>());
    }
    const Clock::time_point deadline = Clock::now() + timeout;
    const std::string text = request.dump();
    json answer = post(text, timeout);
    while (const auto wait = rate_wait(answer)) {
        // What was refused so has not been executed, a submission neither.
        const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
        if (*wait >= left) {
            break;
        }
        std::this_thread::sleep_for(*wait);
        answer = post(text, left - *wait);
    }
    if (answer.contains("error")) {
        const json& error = answer.at("error");
        const json data = error.is_object() ? error.value("data", json::object()) : json::object();
        if (!error.is_object() || !error.value("code", json()).is_number_integer() ||
            !error.value("message", json()).is_string()) {
            throw bad_answer(method, "is not a JSON-RPC error");
        }
        const json name = data.is_object() ? data.value("name", json()) : json();
        throw RpcError(
            error.at("code").get<int>(), name.is_string() ? name.get<std::string>() : "error",
            error.at("message").get<std::string>(), data
        );
    }
    if (!answer.contains("result")) {
        throw bad_answer(method, "has no result");
    }
    return std::move(answer.at("result"));
}

Height RpcClient::height() { return Height{answer_number("node_status", call("node_status"), "height")}; }

Height RpcClient::wait_for_block(Height after, milliseconds timeout) {
    const auto span = std::clamp(timeout, milliseconds(0), milliseconds(30'000));
    const json answer = call("chain_wait", {{"after", after.value}, {"timeout_ms", span.count()}});
    return Height{answer_number("chain_wait", answer, "height")};
}

Amount RpcClient::base_fee() {
    const std::string text = answer_text("node_status", call("node_status"), "base_fee");
    Amount out;
    const auto end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, out.grains);
    if (read.ec != std::errc{} || read.ptr != end) {
        throw bad_answer("node_status", "has no amount in \"base_fee\"");
    }
    return out;
}

contracts::Params RpcClient::params() {
    if (!params_) {
        params_ = answer_raw<contracts::Params>("chain_params", call("chain_params"));
    }
    return *params_;
}

contracts::Beacon RpcClient::beacon() { return answer_raw<contracts::Beacon>("beacon_get", call("beacon_get")); }

std::string RpcClient::chain_id() {
    if (chain_id_.empty()) {
        chain_id_ = answer_text("node_status", call("node_status"), "chain_id");
    }
    return chain_id_;
}

std::optional<contracts::Task> RpcClient::task(const contracts::TaskId& id) {
    return unless_missing([&] {
        return answer_raw<contracts::Task>("task_get", call("task_get", {{"task", to_hex(id.view())}}));
    });
}

std::vector<contracts::TaskId> RpcClient::tasks() {
    return list_all<contracts::TaskId>(*this, "task_list", json::object(), "tasks");
}

std::optional<contracts::Checkpoint> RpcClient::checkpoint(const contracts::TaskId& task, std::uint32_t index) {
    return unless_missing([&] {
        const json answer = call("checkpoint_get", {{"task", to_hex(task.view())}, {"index", index}});
        return answer_raw<contracts::Checkpoint>("checkpoint_get", answer);
    });
}

std::optional<contracts::Dispute> RpcClient::dispute(const contracts::DisputeId& id) {
    return unless_missing([&] {
        const json answer = call("dispute_get", {{"dispute", to_hex(id.view())}});
        return answer_raw<contracts::Dispute>("dispute_get", answer);
    });
}

std::optional<contracts::ProfileReport> RpcClient::profile(const contracts::TaskId& task, const AccountId& profiler) {
    return unless_missing([&] {
        const json answer = call("profile_get", {{"task", to_hex(task.view())}, {"profiler", to_hex(profiler.view())}});
        return answer_raw<contracts::ProfileReport>("profile_get", answer);
    });
}

std::optional<Bytes> RpcClient::slot(const Bytes& key) {
    const json answer = call("chain_proof", {{"key", to_hex(key)}});
    const json& value = answer_member("chain_proof", answer, "value");
    if (value.is_null()) {
        return std::nullopt;
    }
    auto bytes = value.is_string() ? from_hex(value.get<std::string>()) : std::nullopt;
    if (!bytes) {
        throw bad_answer("chain_proof", "has a value that is not hexadecimal");
    }
    return *std::move(bytes);
}

std::vector<contracts::DisputeId> RpcClient::disputes(const contracts::TaskId& task) {
    return list_all<contracts::DisputeId>(*this, "dispute_list", {{"task", to_hex(task.view())}}, "disputes");
}

std::vector<contracts::Tx> RpcClient::dispute_moves(const contracts::DisputeId& id) {
    const json answer = call("dispute_get", {{"dispute", to_hex(id.view())}});
    std::vector<contracts::Tx> out;
    for (const json& move : answer_list("dispute_get", answer, "moves")) {
        const json tx = call("tx_get", {{"hash", answer_text("dispute_get", move, "tx")}});
        out.push_back(answer_raw<contracts::Tx>("tx_get", tx));
    }
    return out;
}

}  // namespace assay::client
