// SPDX-License-Identifier: Apache-2.0
#include <client/rpc_client.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <mutex>

#include <client/rpc_codes.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/random.hpp>
#include <contracts/params/gas.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/chain/duty.hpp>
#include <contracts/duties/lane.hpp>

namespace assay::client {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kPollMax{5'000};  // stays below the timeout of a call
constexpr milliseconds kMissingPoll{500};

/// What a node said that no node of ours would say.
RpcError bad_answer(const std::string& method, const std::string& what) {
    return RpcError(kInternalError, "bad_answer", "the node's answer to " + method + " " + what, json::object());
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
    for (Listing listing(method);;) {
        const json page = client.call(method, params);
        listing.count(array_member(method, page, name).size());
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

/// FEE-1, and a half more, so that it is still enough after three full blocks. The fee does not change the size:
/// amounts are eight bytes.
Amount choose_fee(contracts::TxBody body, const SigningBase& base) {
    const contracts::Tx tx{std::move(body), Signature{}};
    const std::uint64_t gas = contracts::gas_of(tx, codec::encode(tx).size(), base.params);
    const Amount base_fee = std::min(base.base_fee, contracts::kGasPriceMax);
    const Amount least = contracts::least_fee(tx.body.action, gas, base_fee, base.params);
    return Amount{least.grains + contracts::fee_of(gas, base_fee).grains / 2};
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

RpcClient::RpcClient(std::string url, milliseconds timeout) : url_(std::move(url)), timeout_(timeout) {}

json RpcClient::call(const std::string& method, const json& params) {
    const json request{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    milliseconds timeout = timeout_;
    if (params.is_object() && params.contains("timeout_ms")) {
        timeout += milliseconds(params.at("timeout_ms").get<std::uint32_t>());
    }
    const http::HttpResponse response = http::http_post(url_, request.dump(), http::HttpLimits{.timeout = timeout});
    json answer = json::parse(response.body, nullptr, false);
    if (!answer.is_object()) {
        throw http::NetError(url_ + ": no JSON-RPC there (HTTP status " + std::to_string(response.status) + ")");
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

Height RpcClient::height() { return Height{number_member("node_status", call("node_status"), "height")}; }

Height RpcClient::wait_for_block(Height after, milliseconds timeout) {
    const auto span = std::clamp(timeout, milliseconds(0), milliseconds(30'000));
    const json answer = call("chain_wait", {{"after", after.value}, {"timeout_ms", span.count()}});
    return Height{number_member("chain_wait", answer, "height")};
}

Amount RpcClient::base_fee() {
    const std::string text = text_member("node_status", call("node_status"), "base_fee");
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
        const json answer = call("profile_get", {{"task", to_hex(task.view())}, {"profiler", to_hex(profiler.view())}});
        return raw_member<contracts::ProfileReport>("profile_get", answer);
    });
}

std::optional<Bytes> RpcClient::slot(const Bytes& key) {
    const json answer = call("chain_proof", {{"key", to_hex(key)}});
    const json& value = member("chain_proof", answer, "value");
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
    for (const json& move : array_member("dispute_get", answer, "moves")) {
        const json tx = call("tx_get", {{"hash", text_member("dispute_get", move, "tx")}});
        out.push_back(raw_member<contracts::Tx>("tx_get", tx));
    }
    return out;
}

namespace {

/// Other threads of this process may send with the same key: one reads the account's next nonce and submits before
/// another does.
std::mutex& nonce_mutex() {
    static std::mutex mutex;
    return mutex;
}

[[noreturn]] void fail_uncertain(const SignedTx& tx, const std::string& why) {
    throw TxUncertain(
        "transaction " + to_hex(tx.hash.view()) + " with nonce " + std::to_string(tx.nonce) + ": " + why +
        "; look at the account's history before you send it again"
    );
}

bool is_nonce_code(std::uint8_t code) {
    return code == static_cast<std::uint8_t>(contracts::TxError::kNonceTooLow) ||
           code == static_cast<std::uint8_t>(contracts::TxError::kNonceTooHigh);
}

/// What the node says about the transaction's end; nullopt while it has none.
std::optional<TxResult> result_of(const SignedTx& tx, const json& said) {
    if (text_member("tx_get", said, "status") == "pending") {
        return std::nullopt;
    }
    TxResult result;
    result.hash = tx.hash;
    result.height = Height{number_member("tx_get", said, "height")};
    result.code = static_cast<std::uint8_t>(number_member("tx_get", said, "code"));
    if (is_nonce_code(result.code)) {
        // A block may hold a transaction twice: the second time it has this error, and the first time it was executed.
        fail_uncertain(
            tx, "it had no effect in block " + std::to_string(result.height.value) + ", and may have had one in another"
        );
    }
    if (result.code != 0) {
        result.error = text_member("tx_get", said, "error");
    }
    return result;
}

}  // namespace

namespace {

SignedTx sign_with(const crypto::SecretKey& key, contracts::TxBody body) {
    SignedTx out{.sender = body.sender, .nonce = body.nonce, .fee = body.fee, .bytes = {}, .hash = {}};
    std::array<std::uint8_t, 32> aux{};  // BIP-340: against faults and side channels
    crypto::fill_random(aux);
    const Signature signature = key.sign(contracts::signing_hash(body).view(), aux);
    out.bytes = codec::encode(contracts::Tx{std::move(body), signature});
    out.hash = contracts::tx_hash(out.bytes);
    return out;
}

}  // namespace

contracts::TxBody RpcClient::make_body(
    const AccountId& sender, const contracts::Action& action, const SigningBase& base, Amount fee_max
) {
    const json account = call("account_get", {{"account", to_hex(sender.view())}});
    const std::uint64_t nonce = std::max(base.nonce, number_member("account_get", account, "next_nonce"));
    contracts::TxBody body{base.chain_id, sender, nonce, Amount{}, action};
    body.fee = choose_fee(body, base);
    if (body.fee > fee_max) {
        throw FeeTooHigh(
            "the fee is " + std::to_string(body.fee.grains) + " grains, and at most " + std::to_string(fee_max.grains) +
            " are allowed"
        );
    }
    return body;
}

SignedTx RpcClient::sign(
    const crypto::SecretKey& key, const contracts::Action& action, const SigningBase& base, Amount fee_max
) {
    return sign_with(key, make_body(key.account(), action, base, fee_max));
}

void RpcClient::submit(const SignedTx& tx) {
    try {
        call("tx_submit", {{"tx", to_hex(tx.bytes)}});
    } catch (const RpcError& error) {
        // The node has seen the signature: that it refuses it now does not say that it is executed nowhere.
        if (is_nonce_error(error)) {
            fail_uncertain(tx, "the node refused it, since another transaction of the account has its nonce");
        }
        if (!is_already_known(error)) {
            throw;
        }
    }
}

TxResult RpcClient::await(const SignedTx& tx, milliseconds timeout) {
    return follow({tx}, timeout, [] { return std::optional<SignedTx>(); });
}

TxResult RpcClient::follow(std::vector<SignedTx> bids, milliseconds timeout, const Raise& raise) {
    const Clock::time_point deadline = Clock::now() + timeout;
    Height at = height();
    Height bid_at = at;
    int missing = 0;
    bool is_nonce_used = false;
    for (;;) {
        bool is_known = false;
        for (const SignedTx& tx : bids) {
            const auto said = unless_missing([&] { return call("tx_get", {{"hash", to_hex(tx.hash.view())}}); });
            is_known = is_known || said.has_value();
            if (auto result = said ? result_of(tx, *said) : std::nullopt) {
                return *std::move(result);
            }
        }
        if (is_known && at > bid_at) {  // a block has left it out
            bid_at = at;
            if (auto higher = raise()) {
                bids.push_back(*std::move(higher));
                show(bids.back());
            }
        }
        const SignedTx& last = bids.back();
        // Between mempool and index there is a moment of nowhere; two blocks of it mean that it is gone.
        missing = is_known ? 0 : missing + 1;
        if (is_nonce_used && !is_known) {
            fail_uncertain(last, "the node has no record of it, and its nonce is used");
        }
        if (missing > 2) {
            const json account = call("account_get", {{"account", to_hex(last.sender.view())}});
            is_nonce_used = number_member("account_get", account, "nonce") > last.nonce;
            if (is_nonce_used) {
                continue;  // a block may have taken it since we asked: its record is there with the nonce
            }
            try {
                submit(last);
            } catch (const RpcError&) {  // what it says now changes nothing: the bytes may be with others
            }
        }
        const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
        if (left.count() <= 0) {
            fail_uncertain(last, "it was submitted and is not in a block yet");
        }
        at = wait_for_block(at, std::min(left, is_known ? kPollMax : kMissingPoll));
    }
}

void RpcClient::show(const SignedTx& tx) {
    try {
        submit(tx);
    } catch (const RpcError&) {
    } catch (const TxUncertain&) {
    }
}

TxResult RpcClient::send(
    const crypto::SecretKey& key, const contracts::Action& action, const SigningBase& base, Amount fee_max,
    milliseconds timeout
) {
    std::unique_lock lock(nonce_mutex());
    contracts::TxBody body = make_body(key.account(), action, base, fee_max);
    const SignedTx tx = sign_with(key, body);
    submit(tx);
    lock.unlock();
    return follow({tx}, timeout, [&]() -> std::optional<SignedTx> {
        if (body.fee.grains > fee_max.grains / 2) {
            return std::nullopt;
        }
        body.fee.grains *= 2;
        return sign_with(key, body);
    });
}

TxResult RpcClient::answer(
    const crypto::SecretKey& key, const contracts::Action& action, const std::string& chain_id, Height due,
    milliseconds timeout
) {
    const Clock::time_point deadline = Clock::now() + timeout;
    const contracts::TxBody body{chain_id, key.account(), due.value, Amount{}, action};
    std::vector<SignedTx> shown;  // whichever of them a block takes, the duty has its answer
    const auto show_again = [&] {
        const SignedTx tx = sign_with(key, body);
        submit(tx);
        shown.push_back(tx);
    };
    Height at = height();
    Height shown_at = at;
    show_again();
    std::optional<RpcError> refusal;
    for (int missing = 0;;) {
        bool is_known = false;
        for (const SignedTx& tx : shown) {
            const auto said = unless_missing([&] { return call("tx_get", {{"hash", to_hex(tx.hash.view())}}); });
            is_known = is_known || said.has_value();
            if (auto result = said ? result_of(tx, *said) : std::nullopt) {
                return *std::move(result);
            }
        }
        if (refusal && !is_known) {
            throw *refusal;  // nothing of it waits, nothing was executed, and nobody waits for it any more
        }
        const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
        if (left.count() <= 0) {
            fail_uncertain(shown.back(), "it was submitted and is not in a block yet");
        }
        missing = is_known ? 0 : missing + 1;
        if (missing > 2 || (is_known && at > shown_at)) {
            shown_at = at;
            missing = 0;
            try {
                refusal.reset();
                show_again();
            } catch (const RpcError& error) {
                refusal = error;  // perhaps a block has just taken it
                continue;
            }
        }
        at = wait_for_block(at, std::min(left, kMissingPoll));
    }
}

TxResult RpcClient::send(const crypto::SecretKey& key, const contracts::Action& action, milliseconds timeout) {
    return send(
        key, action, {.chain_id = chain_id(), .params = params(), .base_fee = base_fee(), .nonce = 0}, kFeeMax, timeout
    );
}

}  // namespace assay::client
