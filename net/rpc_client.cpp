// SPDX-License-Identifier: Apache-2.0
#include <net/rpc_client.hpp>

#include <algorithm>
#include <thread>

#include <core/codec/borsh.hpp>
#include <contracts/chain/tx_error.hpp>

namespace assay::net {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int kNotFound = -32001;
constexpr int kTxRejected = -32003;
constexpr int kNonceAttempts = 8;
constexpr milliseconds kPollMax{5'000};  // stays below the timeout of a call
constexpr milliseconds kMissingPoll{500};

/// What a node said that no node of ours would say.
RpcError bad_answer(const std::string& method, const std::string& what) {
    return RpcError(-32603, "bad_answer", "the node's answer to " + method + " " + what, json::object());
}

const json& member(const std::string& method, const json& object, const char* name) {
    if (!object.is_object() || !object.contains(name)) {
        throw bad_answer(method, std::string("lacks \"") + name + "\"");
    }
    return object.at(name);
}

std::string text_member(const std::string& method, const json& object, const char* name) {
    const json& value = member(method, object, name);
    if (!value.is_string()) {
        throw bad_answer(method, std::string("has no text in \"") + name + "\"");
    }
    return value.get<std::string>();
}

std::uint64_t number_member(const std::string& method, const json& object, const char* name) {
    const json& value = member(method, object, name);
    if (!value.is_number_unsigned()) {
        throw bad_answer(method, std::string("has no number in \"") + name + "\"");
    }
    return value.get<std::uint64_t>();
}

const json& array_member(const std::string& method, const json& object, const char* name) {
    const json& value = member(method, object, name);
    if (!value.is_array()) {
        throw bad_answer(method, std::string("has no list in \"") + name + "\"");
    }
    return value;
}

template <class T>
T raw_member(const std::string& method, const json& object) {
    const auto bytes = from_hex(text_member(method, object, "raw"));
    if (bytes) {
        if (auto value = codec::decode<T>(*bytes)) {
            return *std::move(value);
        }
    }
    throw bad_answer(method, "has a \"raw\" that does not decode");
}

template <class Id>
Id id_of(const std::string& method, const json& value) {
    if (value.is_string()) {
        if (const auto id = fixed_from_hex<Id>(value.get_ref<const std::string&>())) {
            return *id;
        }
    }
    throw bad_answer(method, "has something else where an id belongs");
}

/// `read()`, or nullopt when the node says that there is no such thing.
template <class Read>
auto unless_missing(Read read) -> std::optional<decltype(read())> {
    try {
        return read();
    } catch (const RpcError& error) {
        if (error.code == kNotFound) {
            return std::nullopt;
        }
        throw;
    }
}

template <class Id>
std::vector<Id> list_all(RpcClient& client, const std::string& method, json params, const char* name) {
    std::vector<Id> out;
    params["limit"] = 100;
    for (;;) {
        const json page = client.call(method, params);
        for (const json& item : array_member(method, page, name)) {
            out.push_back(id_of<Id>(method, member(method, item, "id")));
        }
        const json& next = member(method, page, "next_cursor");
        if (next.is_null()) {
            return out;
        }
        params["cursor"] = next;
    }
}

bool is_nonce_error(const RpcError& error) {
    if (error.code != kTxRejected || !error.data.is_object()) {
        return false;
    }
    const auto reason = error.data.value("tx_error", json());
    return reason == static_cast<std::uint8_t>(contracts::TxError::kNonceTooLow) ||
           reason == static_cast<std::uint8_t>(contracts::TxError::kNonceTooHigh);
}

bool is_already_known(const RpcError& error) {
    return error.code == kTxRejected && error.data.is_object() && error.data.value("reason", json()) == "already_known";
}

/// TX-7. The fee does not change the size: amounts are eight bytes.
Amount least_fee(const contracts::Params& params, contracts::TxBody body) {
    const Bytes bytes = codec::encode(contracts::Tx{std::move(body), Signature{}});
    const auto for_size = checked_mul<std::uint64_t>(params.fee_per_byte.grains, bytes.size());
    if (for_size) {
        if (const auto fee = checked_add(*for_size, params.fee_base.grains)) {
            return Amount{*fee};
        }
    }
    throw bad_answer("chain_params", "has fees that nobody could pay");
}

}  // namespace

RpcClient::RpcClient(std::string url, milliseconds timeout) : url_(std::move(url)), timeout_(timeout) {}

json RpcClient::call(const std::string& method, const json& params) {
    const json request{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    milliseconds timeout = timeout_;
    if (params.is_object() && params.contains("timeout_ms")) {
        timeout += milliseconds(params.at("timeout_ms").get<std::uint32_t>());
    }
    const HttpResponse response = http_post(url_, request.dump(), HttpLimits{.timeout = timeout});
    json answer = json::parse(response.body, nullptr, false);
    if (!answer.is_object()) {
        throw NetError(url_ + ": no JSON-RPC there (HTTP status " + std::to_string(response.status) + ")");
    }
    if (answer.contains("error")) {
        const json& error = answer.at("error");
        const json data = error.is_object() ? error.value("data", json::object()) : json::object();
        if (!error.is_object() || !error.value("code", json()).is_number_integer() ||
            !error.value("message", json()).is_string()) {
            throw bad_answer(method, "is not a JSON-RPC error");
        }
        const json name = data.is_object() ? data.value("name", json()) : json();
        throw RpcError(error.at("code").get<int>(), name.is_string() ? name.get<std::string>() : "error",
                       error.at("message").get<std::string>(), data);
    }
    if (!answer.contains("result")) {
        throw bad_answer(method, "has no result");
    }
    return std::move(answer.at("result"));
}

Height RpcClient::height() { return Height{number_member("node_status", call("node_status"), "height")}; }

Height RpcClient::wait_for_block(Height after, milliseconds timeout) {
    const auto span = std::clamp(timeout, milliseconds(0), milliseconds(30'000));
    const json answer = call("chain_wait", {{"after", after.value}, {"timeout_ms", span.count()}});
    return Height{number_member("chain_wait", answer, "height")};
}

contracts::Params RpcClient::params() {
    if (!params_) {
        params_ = raw_member<contracts::Params>("chain_params", call("chain_params"));
    }
    return *params_;
}

contracts::Beacon RpcClient::beacon() { return raw_member<contracts::Beacon>("beacon_get", call("beacon_get")); }

std::string RpcClient::chain_id() {
    if (chain_id_.empty()) {
        chain_id_ = text_member("node_status", call("node_status"), "chain_id");
    }
    return chain_id_;
}

std::optional<contracts::Task> RpcClient::task(const contracts::TaskId& id) {
    return unless_missing([&] {
        return raw_member<contracts::Task>("task_get", call("task_get", {{"task", to_hex(id.view())}}));
    });
}

std::vector<contracts::TaskId> RpcClient::tasks() {
    return list_all<contracts::TaskId>(*this, "task_list", json::object(), "tasks");
}

std::optional<contracts::Checkpoint> RpcClient::checkpoint(const contracts::TaskId& task, std::uint32_t index) {
    return unless_missing([&] {
        const json answer = call("checkpoint_get", {{"task", to_hex(task.view())}, {"index", index}});
        return raw_member<contracts::Checkpoint>("checkpoint_get", answer);
    });
}

std::optional<contracts::Dispute> RpcClient::dispute(const contracts::DisputeId& id) {
    return unless_missing([&] {
        const json answer = call("dispute_get", {{"dispute", to_hex(id.view())}});
        return raw_member<contracts::Dispute>("dispute_get", answer);
    });
}

std::optional<contracts::ProfileReport> RpcClient::profile(const contracts::TaskId& task, const AccountId& profiler) {
    return unless_missing([&] {
        const json answer =
            call("profile_get", {{"task", to_hex(task.view())}, {"profiler", to_hex(profiler.view())}});
        return raw_member<contracts::ProfileReport>("profile_get", answer);
    });
}

std::vector<contracts::DisputeId> RpcClient::disputes(const contracts::TaskId& task) {
    return list_all<contracts::DisputeId>(*this, "dispute_list", {{"task", to_hex(task.view())}}, "disputes");
}

std::optional<contracts::Challenge> RpcClient::challenge(const contracts::ChallengeId& id) {
    return unless_missing([&] {
        const json answer = call("challenge_get", {{"challenge", to_hex(id.view())}});
        return raw_member<contracts::Challenge>("challenge_get", answer);
    });
}

std::vector<contracts::ChallengeId> RpcClient::challenges(const contracts::TaskId& task) {
    const json answer = call("task_get", {{"task", to_hex(task.view())}});
    std::vector<contracts::ChallengeId> out;
    for (const json& item : array_member("task_get", answer, "challenges")) {
        out.push_back(id_of<contracts::ChallengeId>("task_get", member("task_get", item, "id")));
    }
    return out;
}

std::vector<contracts::Tx> RpcClient::dispute_moves(const contracts::DisputeId& id) {
    const json answer = call("dispute_get", {{"dispute", to_hex(id.view())}});
    std::vector<contracts::Tx> out;
    for (const json& move : array_member("dispute_get", answer, "moves")) {
        const json tx = call("tx_get", {{"hash", text_member("dispute_get", move, "tx")}});
        out.push_back(raw_member<contracts::Tx>("tx_get", tx));
    }
    return out;
}

namespace {

struct Sending {
    Hash256 hash;
    std::uint64_t nonce = 0;
};

/// nullopt when somebody else used the nonce meanwhile.
std::optional<Sending> submit(RpcClient& client, const crypto::SecretKey& key, const contracts::Action& action) {
    const AccountId sender = key.account();
    const json account = client.call("account_get", {{"account", to_hex(sender.view())}});
    const std::uint64_t nonce = number_member("account_get", account, "next_nonce");
    contracts::TxBody body{client.chain_id(), sender, nonce, Amount{}, action};
    body.fee = least_fee(client.params(), body);
    const Bytes bytes = codec::encode(contracts::sign_tx(std::move(body), key));
    try {
        client.call("tx_submit", {{"tx", to_hex(bytes)}});
    } catch (const RpcError& error) {
        if (is_nonce_error(error)) {
            return std::nullopt;
        }
        if (!is_already_known(error)) {
            throw;
        }
    }
    return Sending{contracts::tx_hash(bytes), nonce};
}

/// The transaction's end; nullopt when it was pushed out by another one with the same nonce.
std::optional<TxResult> await(
    RpcClient& client, const crypto::SecretKey& key, const Sending& sending, Clock::time_point deadline
) {
    Height height = client.height();
    int missing = 0;
    for (;;) {
        const auto tx = unless_missing([&] { return client.call("tx_get", {{"hash", to_hex(sending.hash.view())}}); });
        if (tx && text_member("tx_get", *tx, "status") != "pending") {
            TxResult result;
            result.hash = sending.hash;
            result.height = Height{number_member("tx_get", *tx, "height")};
            result.code = static_cast<std::uint8_t>(number_member("tx_get", *tx, "code"));
            if (result.code != 0) {
                result.error = text_member("tx_get", *tx, "error");
            }
            return result;
        }
        // Between mempool and index there is a moment of nowhere; two blocks of it mean that it is gone.
        missing = tx ? 0 : missing + 1;
        if (missing > 2) {
            const json account = client.call("account_get", {{"account", to_hex(key.account().view())}});
            if (number_member("account_get", account, "nonce") > sending.nonce) {
                return std::nullopt;
            }
        }
        const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
        if (left.count() <= 0) {
            throw NetTimeout("transaction " + to_hex(sending.hash.view()) + " was submitted and is not in a block yet");
        }
        height = client.wait_for_block(height, std::min(left, tx ? kPollMax : kMissingPoll));
    }
}

}  // namespace

TxResult RpcClient::send(const crypto::SecretKey& key, const contracts::Action& action, milliseconds timeout) {
    const Clock::time_point deadline = Clock::now() + timeout;
    for (int attempt = 0; attempt < kNonceAttempts; ++attempt) {
        if (const auto sending = submit(*this, key, action)) {
            const auto result = await(*this, key, *sending, deadline);
            const bool lost_race =
                !result || result->code == static_cast<std::uint8_t>(contracts::TxError::kNonceTooLow);
            if (!lost_race) {
                return *result;
            }
        }
        if (Clock::now() >= deadline) {
            break;
        }
        std::this_thread::sleep_for(milliseconds(20) * (attempt + 1));
    }
    throw NetTimeout("the account's nonce was taken by others each time the transaction was submitted");
}

}  // namespace assay::net
