// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/cli/forged_node.hpp>

#include <algorithm>

#include <contracts/chain/state.hpp>
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

contracts::HistoryRecord make_record(const contracts::TaskId& task, std::uint32_t index) {
    contracts::HistoryRecord record;
    record.task = task;
    record.index = index;
    record.height = Height{index / 2 + 1};
    record.event = contracts::history::CheckpointPosted{.index = index, .state_root = {}, .artifact = {}};
    return record;
}

}  // namespace

crypto::SecretKey make_key(std::uint8_t number) {
    Bytes bytes(32, 0);
    bytes.back() = number;
    return *crypto::SecretKey::from_bytes(bytes);
}

ForgedNode::ForgedNode(std::size_t count) {
    task.id.data.fill(0xab);
    task.spec.title = "forged";
    for (std::uint32_t i = 0; i < count; ++i) {
        records.push_back(make_record(task.id, i));
        task.history_root = contracts::extend_history(task.history_root, records.back());
    }
    task.history_count = static_cast<std::uint32_t>(count);
    slots[contracts::keys::account(proposer.account())] = Bytes{1, 2, 3};
}

void ForgedNode::serve() {
    slots.try_emplace(contracts::keys::task(task.id), codec::encode(task));
    const auto update = merkle::update_tree(MemoryNodes(nodes_), std::nullopt, kHeight, slots);
    for (const auto& [key, bytes] : update.nodes) {
        nodes_[merkle::to_key(key)] = bytes;
    }
    app_hash = update.root;
    if (block.header.height == Height{}) {
        solo::BlockHeader header;
        header.chain_id = "forged";
        header.height = Height{kHeight + 1};
        header.time_ms = 1;
        header.app_hash = app_hash;
        block = solo::sign_block(header, {}, proposer);
    }
    server_ = std::make_unique<net::HttpServer>(net::HttpServerOptions{}, [this](const net::HttpRequest& request) {
        return net::HttpResponse{.body = respond(json::parse(request.body)).dump()};
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
        return prove(*from_hex(params.at("key").get<std::string>()));
    }
    if (method == "task_history") {
        return history(params);
    }
    if (method == "chain_wait") {
        return {{"height", kHeight + 1}};
    }
    if (method == "chain_block") {
        return {{"raw", to_hex(codec::encode(block))}};
    }
    if (method == "node_status") {
        return {{"chain_id", "forged"}, {"height", kHeight + 1}, {"proposer", crypto::to_address(proposer.account())}};
    }
    return {{"error", {{"code", -32601}, {"message", "no such method"}, {"data", {{"name", "method_not_found"}}}}}};
}

json ForgedNode::prove(const Bytes& key) const {
    const auto proof = merkle::prove(MemoryNodes(nodes_), kHeight, key);
    const auto slot = slots.find(key);
    return {{"key", to_hex(key)},
            {"value", slot == slots.end() ? json() : json(to_hex(*slot->second))},
            {"height", kHeight},
            {"app_hash", to_hex(app_hash.view())},
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
