// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/worker/chain_node.hpp>

#include <client/rpc_codes.hpp>
#include <consensus/solo/block.hpp>
#include <contracts/state/protocol.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/state/tx_error.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <core/merkle/jmt.hpp>

namespace assay::worker_test {
namespace {

using contracts::test::kChainId;
using nlohmann::json;

constexpr std::uint64_t kTimeMs = 1'700'000'000'000;

class MapNodes final : public merkle::NodeReader {
  public:
    explicit MapNodes(const std::map<Bytes, Bytes>& nodes) : nodes_(nodes) {}
    std::optional<Bytes> read_node(const merkle::NodeKey& key) const override {
        const auto found = nodes_.find(merkle::to_key(key));
        return found == nodes_.end() ? std::nullopt : std::optional(found->second);
    }

  private:
    const std::map<Bytes, Bytes>& nodes_;
};

contracts::test::Actor proposer() { return contracts::test::make_actor(200); }

json error_of(int code, const char* name, json data = json::object()) {
    data["name"] = name;
    return {{"error", {{"code", code}, {"message", name}, {"data", std::move(data)}}}};
}
json not_found() { return error_of(client::kNotFound, "not_found"); }

template <class Id>
Id id_of(const json& params, const char* name) {
    return fixed_from_hex<Id>(params.at(name).get<std::string>()).value();
}

template <class T>
json raw_of(const T& value) {
    return {{"raw", to_hex(codec::encode(value))}};
}

}  // namespace

ChainNode::ChainNode(contracts::test::Chain& chain) : chain_(chain) {
    publish();
    publish();
    server_ = std::make_unique<http::HttpServer>(http::HttpServerOptions{}, [this](const http::HttpRequest& request) {
        const json asked = json::parse(request.body);
        json answer{{"jsonrpc", "2.0"}, {"id", asked.at("id")}};
        json result = call(asked.at("method"), asked.at("params"));
        if (result.is_object() && result.contains("error") && result.at("error").is_object()) {
            answer["error"] = result.at("error");
        } else {
            answer["result"] = std::move(result);
        }
        return http::HttpResponse{.body = answer.dump()};
    });
}

void ChainNode::publish() {
    State state{.slots = chain_.view.slots(), .nodes = {}, .root = {}};
    std::map<Bytes, std::optional<Bytes>> all(state.slots.begin(), state.slots.end());
    const auto update = merkle::update_tree(MapNodes(state.nodes), std::nullopt, states_.size(), all);
    for (const auto& [key, bytes] : update.nodes) {
        state.nodes[merkle::to_key(key)] = bytes;
    }
    state.root = update.root;
    states_.push_back(std::move(state));
}

void ChainNode::next() {
    chain_.skip(1);
    publish();
}

json ChainNode::call(const std::string& method, const json& params) {
    if (method == fails_at) {
        return error_of(client::kInternalError, "internal");
    }
    if (method == "node_status") {
        return status();
    }
    if (method == "chain_wait") {
        return {{"height", tip()}};
    }
    if (method == "chain_block") {
        return block(params.at("height").get<std::uint64_t>());
    }
    if (method == "chain_proof") {
        return prove(params);
    }
    if (method == "task_list") {
        json ids = json::array();
        for (const contracts::HistoryRecord& record : chain_.history) {
            if (std::holds_alternative<contracts::history::Submitted>(record.event)) {
                ids.push_back({{"id", to_hex(record.task.view())}});
            }
        }
        return {{"tasks", ids}, {"next_cursor", json()}};
    }
    if (method == "task_get") {
        return tell_task(params);
    }
    if (method == "checkpoint_get") {
        return tell_checkpoint(params);
    }
    if (method == "task_history") {
        return history(params);
    }
    if (method == "account_get") {
        return account(params);
    }
    if (method == "stake_get") {
        return stakes(params);
    }
    if (method == "tx_submit") {
        return submit(params);
    }
    if (method == "tx_get") {
        const auto found = executed_.find(id_of<Hash256>(params, "hash"));
        return found == executed_.end() ? not_found()
                                        : json{
                                              {"status", "executed"},
                                              {"height", found->second.height},
                                              {"code", found->second.code},
                                              {"error", found->second.code == 0 ? json() : json("refused")}};
    }
    return error_of(client::kMethodNotFound, "method_not_found");
}

json ChainNode::status() const {
    return {
        {"chain_id", kChainId},
        {"genesis_hash", to_hex(states_.front().root.view())},
        {"engine", "solo"},
        {"protocol_version", contracts::kProtocolVersion},
        {"height", tip()},
        {"base_fee", std::to_string(chain_.params.gas_price_min.grains)},
        {"proposer", crypto::to_address(proposer().id)}};
}

/// Block `height` signs the state before it.
json ChainNode::block(std::uint64_t height) const {
    solo::BlockHeader header;
    header.chain_id = kChainId;
    header.height = Height{height};
    header.time_ms = kTimeMs + height;
    header.app_hash = states_.at(height - 1).root;
    json out = raw_of(solo::sign_block(header, {}, proposer().key));
    out["time_ms"] = header.time_ms;
    return out;
}

json ChainNode::prove(const json& params) const {
    const std::uint64_t height = params.value("height", tip());
    const State& state = states_.at(height);
    const Bytes key = from_hex(params.at("key").get<std::string>()).value();
    const auto found = state.slots.find(key);
    const auto proof = merkle::prove(MapNodes(state.nodes), height, key);
    return {
        {"key", to_hex(key)},
        {"value", found == state.slots.end() ? json() : json(to_hex(found->second))},
        {"height", height},
        {"app_hash", to_hex(state.root.view())},
        {"proof", to_hex(codec::encode(proof))}};
}

json ChainNode::tell_task(const json& params) const {
    auto task = contracts::find_task(chain_.view, id_of<contracts::TaskId>(params, "task"));
    if (!task) {
        return not_found();
    }
    if (lie) {
        lie(*task);
    }
    return raw_of(*task);
}

json ChainNode::tell_checkpoint(const json& params) const {
    auto found = contracts::find_checkpoint(
        chain_.view, id_of<contracts::TaskId>(params, "task"), params.at("index").get<std::uint32_t>()
    );
    if (!found) {
        return not_found();
    }
    if (lie_of_checkpoint) {
        lie_of_checkpoint(*found);
    }
    return raw_of(*found);
}

json ChainNode::history(const json& params) {
    ++histories;
    const auto task = id_of<contracts::TaskId>(params, "task");
    json records = json::array();
    for (const contracts::HistoryRecord& record : chain_.history) {
        if (record.task == task) {
            records.push_back({{"index", record.index}, {"raw", to_hex(codec::encode(record))}});
        }
    }
    return {{"records", records}, {"next_cursor", json()}};
}

json ChainNode::account(const json& params) const {
    const auto nonce = contracts::get_account(chain_.view, id_of<AccountId>(params, "account")).nonce;
    return {{"nonce", nonce}, {"next_nonce", nonce}};
}

json ChainNode::stakes(const json& params) const {
    using contracts::Role;
    const auto account = id_of<AccountId>(params, "account");
    json roles = json::object();
    for (const Role role : {Role::kSolver, Role::kVerifier, Role::kWhistleblower}) {
        const contracts::Stake stake = contracts::get_stake(chain_.view, role, account);
        const auto [terms, score, at] = contracts::get_terms(chain_.view, role, account);
        roles[contracts::to_string(role)] = {
            {"free", std::to_string(stake.free.grains)},
            {"locked", std::to_string(stake.locked.grains)},
            {"unbonding", json::array()},
            {"is_unlisted", stake.is_unlisted},
            {"declined_until", json()},
            {"score", score},
            {"terms",
             {{"hardware_class", terms.hardware_class},
              {"price", terms.price},
              {"memory", terms.memory},
              {"replay_blocks", terms.replay_blocks},
              {"offers", json::array()}}}};
    }
    return {{"roles", roles}};
}

json ChainNode::submit(const json& params) {
    const Bytes bytes = from_hex(params.at("tx").get<std::string>()).value();
    const auto tx = codec::decode<contracts::Tx>(bytes).value();
    submitted.push_back(tx.body.action);
    if (refuses) {
        return error_of(client::kTxRejected, "tx_rejected", {{"reason", "mempool_full"}});
    }
    const Hash256 hash = contracts::tx_hash(bytes);
    const std::uint8_t code = chain_.run_block({bytes}).receipts.at(0).code;
    publish();
    executed_[hash] = {.height = tip(), .code = code};
    return {{"hash", to_hex(hash.view())}};
}

}  // namespace assay::worker_test
