// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/cli/forged_node.hpp>

#include <algorithm>
#include <chrono>

#include <contracts/state/state.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <core/merkle/jmt.hpp>

namespace assay::cli_test {
namespace {

using nlohmann::json;

class MemoryNodes final : public merkle::NodeReader {
  public:
    explicit MemoryNodes(const std::map<Bytes, Bytes>& nodes) : nodes_(nodes) {}
    std::optional<Bytes> read_node(const merkle::NodeKey& key) const override {
        const auto found = nodes_.find(merkle::to_key(key));
        return found == nodes_.end() ? std::nullopt : std::optional(found->second);
    }

  private:
    const std::map<Bytes, Bytes>& nodes_;
};

std::uint64_t now_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

std::vector<contracts::HistoryRecord> make_records(std::size_t count) {
    std::vector<contracts::HistoryRecord> out;
    for (std::uint32_t i = 0; i < count; ++i) {
        contracts::HistoryRecord record;
        record.task.data.fill(0xab);
        record.index = i;
        record.height = Height{i * ForgedNode::kHeight / count + 1};
        record.event = contracts::history::CheckpointPosted{.index = i, .state_root = {}};
        out.push_back(record);
    }
    return out;
}

}  // namespace

crypto::SecretKey make_key(std::uint8_t number) {
    Bytes bytes(32, 0);
    bytes.back() = number;
    return *crypto::SecretKey::from_bytes(bytes);
}

ForgedNode::ForgedNode(std::size_t count) : time_ms(now_ms()), truth_(make_records(count)), truth_roots_{Hash256{}} {
    task.id.data.fill(0xab);
    task.spec.title = "forged";
    records = truth_;
    for (const contracts::HistoryRecord& record : truth_) {
        truth_roots_.push_back(contracts::extend_history(truth_roots_.back(), record));
    }
    task.history_root = truth_roots_.back();
    task.history_count = static_cast<std::uint32_t>(count);
    slots[contracts::keys::account(proposer.account())] = Bytes{1, 2, 3};
}

std::optional<Bytes> ForgedNode::task_at(std::uint64_t height) const {
    const auto end = std::find_if(truth_.begin(), truth_.end(), [&](const auto& r) { return r.height.value > height; });
    if (end == truth_.begin()) {
        return std::nullopt;
    }
    contracts::Task then = task;
    then.history_count = static_cast<std::uint32_t>(end - truth_.begin());
    then.history_root = truth_roots_[then.history_count];
    return codec::encode(then);
}

void ForgedNode::write_state(std::uint64_t height, const std::map<Bytes, std::optional<Bytes>>& changes) {
    const auto base = height == 0 ? std::nullopt : std::optional(height - 1);
    const auto update = merkle::update_tree(MemoryNodes(nodes_), base, height, changes);
    for (const auto& [key, bytes] : update.nodes) {
        nodes_[merkle::to_key(key)] = bytes;
    }
    app_hashes_.push_back(update.root);
}

solo::Block ForgedNode::sign_state(std::uint64_t height) const {
    solo::BlockHeader header;
    header.chain_id = "forged";
    header.height = Height{height + 1};
    header.time_ms = time_ms;
    header.app_hash = app_hashes_.at(height);
    return solo::sign_block(header, {}, proposer);
}

void ForgedNode::serve() {
    slots.try_emplace(contracts::keys::task(task.id), codec::encode(task));
    for (std::uint64_t height = 0; height < kHeight; ++height) {
        write_state(height, {{contracts::keys::task(task.id), task_at(height)}});
    }
    write_state(kHeight, slots);
    app_hash = app_hashes_.back();
    if (block.header.height == Height{}) {
        block = sign_state(kHeight);
    }
    server_ = std::make_unique<http::HttpServer>(http::HttpServerOptions{}, [this](const http::HttpRequest& request) {
        return http::HttpResponse{.body = respond(json::parse(request.body)).dump()};
    });
}

std::string ForgedNode::url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }

json ForgedNode::respond(const json& request) {
    const std::string method = request.at("method");
    json response{{"jsonrpc", "2.0"}, {"id", request.at("id")}};
    json result = call(method, request.at("params"));
    if (result.is_object() && result.contains("error") && result.at("error").is_object()) {
        response["error"] = result.at("error");
        return response;
    }
    if (tamper) {
        tamper(method, result);
    }
    response["result"] = std::move(result);
    return response;
}

json ForgedNode::call(const std::string& method, const json& params) {
    if (answer) {
        if (auto given = answer(method, params)) {
            return *std::move(given);
        }
    }
    if (method == "chain_proof") {
        return prove(params);
    }
    if (method == "task_history") {
        return history(params);
    }
    if (method == "chain_wait") {
        return {{"height", kHeight + 1}};
    }
    if (method == "chain_block") {
        const std::uint64_t height = params.at("height").get<std::uint64_t>();
        return {{"raw", to_hex(codec::encode(height == kHeight + 1 ? block : sign_state(height - 1)))}};
    }
    if (method == "node_status") {
        return {{"chain_id", "forged"},  {"genesis_hash", to_hex(app_hashes_.front().view())},
                {"engine", "solo"},      {"protocol_version", contracts::kProtocolVersion},
                {"height", kHeight + 1}, {"proposer", crypto::to_address(proposer.account())}};
    }
    return {{"error", {{"code", -32601}, {"message", "no such method"}, {"data", {{"name", "method_not_found"}}}}}};
}

json ForgedNode::prove(const json& params) const {
    const std::uint64_t height = params.value("height", kHeight);
    if (height < oldest_height) {
        return {
            {"error",
             {{"code", -32002},
              {"message", "the state of that height is not kept"},
              {"data", {{"name", "unavailable"}}}}}};
    }
    const Bytes key = *from_hex(params.at("key").get<std::string>());
    const auto proof = merkle::prove(MemoryNodes(nodes_), height, key);
    std::optional<Bytes> value;
    if (height < kHeight) {
        value = task_at(height);
    } else if (const auto slot = slots.find(key); slot != slots.end()) {
        value = slot->second;
    }
    return {
        {"key", to_hex(key)},
        {"value", value ? json(to_hex(*value)) : json()},
        {"height", height},
        {"app_hash", to_hex(app_hashes_.at(height).view())},
        {"proof", to_hex(codec::encode(proof))}};
}

json ForgedNode::history(const json& params) const {
    const json cursor = params.value("cursor", json());
    const std::size_t from = cursor.is_null() ? 0 : std::stoul(cursor.get<std::string>());
    const std::size_t to = std::min(records.size(), from + page_records);
    json items = json::array();
    for (std::size_t i = from; i < to; ++i) {
        items.push_back({{"index", records[i].index}, {"raw", to_hex(codec::encode(records[i]))}});
    }
    return {{"records", items}, {"next_cursor", to < records.size() ? json(std::to_string(to)) : json()}};
}

}  // namespace assay::cli_test
